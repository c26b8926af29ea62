"""The report of an atlas: one HTML file that needs nothing else, light and dark."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from ascendsim.view.atlas_svg import Row, over_patterns, to_scale, value_text, zoom

SHOWN_RUNS = 50  # of each class
_ORDER = ("boundary", "overflow", "nan", "flush", "rounding")
_MEANING = {
    "boundary": "further apart than 1/16 of the largest result nearby, as when the other branch "
    "is taken",
    "overflow": "one is infinite",
    "nan": "one is NaN",
    "flush": "one is zero, the other subnormal",
    "rounding": "any other difference between numbers",
}
_STYLE = """
:root { color-scheme: light dark; --ink: #1c2024; --soft: #60646c; --page: #fcfcfd; --card: #fff;
  --line: #e0e1e6; --one: #0072b2; --two: #d55e00; --warn: #b42318; }
@media (prefers-color-scheme: dark) { :root { --ink: #edeef0; --soft: #b0b4ba; --page: #111113;
  --card: #18191b; --line: #363a3f; --one: #56b4e9; --two: #f0a05a; --warn: #ff8a7a; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1020px; padding: 28px 20px 60px; background: var(--page);
  color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 24px; margin: 0 0 2px; } h2 { font-size: 18px; margin: 34px 0 6px; }
h3 { font-size: 14px; margin: 0 0 4px; } p { margin: 4px 0 10px; } .soft { color: var(--soft); }
code, td.n { font-family: ui-monospace, monospace; font-size: 13px; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(170px, 1fr)); gap: 10px;
  margin: 18px 0; }
.tile, .card { background: var(--card); border: 1px solid var(--line); border-radius: 8px;
  padding: 10px 14px; }
.tile b { display: block; font-size: 22px; font-variant-numeric: tabular-nums; }
.tile.some b { color: var(--warn); }
.zooms { display: grid; grid-template-columns: repeat(auto-fill, minmax(420px, 1fr)); gap: 12px; }
svg { display: block; width: 100%; height: auto; } svg text { fill: var(--soft); font-size: 11px; }
rect.one, circle.one { fill: var(--one); } circle.two { fill: none; stroke: var(--two);
  stroke-width: 2; } path.grid { stroke: var(--line); fill: none; }
path.axis { stroke: var(--soft); fill: none; } path.gap { stroke: var(--warn); fill: none;
  stroke-dasharray: 3 3; }
table { border-collapse: collapse; width: 100%; } .scroll { overflow-x: auto; }
th, td { text-align: left; padding: 4px 10px 4px 0; border-bottom: 1px solid var(--line);
  vertical-align: top; } th { color: var(--soft); font-weight: 500; white-space: nowrap; }
td.n { white-space: nowrap; } .key i { display: inline-block; width: 11px; height: 11px;
  border-radius: 50%; margin: 0 5px 0 14px; } .key i.one { background: var(--one); }
.key i.two { border: 2px solid var(--two); }
"""


def atlas_html(
    document: Mapping[str, Any], rows: Sequence[Row], zooms: Sequence[Mapping[str, Any]]
) -> str:
    """Return the page of an atlas.

    document : as `ascendsim atlas --json` prints it; rows : its profile over x; zooms : both
    results around some inputs
    """
    title = f"Atlas of {document['op']}, {document['dtype']}"
    body = [
        f"<h1>{escape(title)}</h1>",
        f'<p class="soft">{_sides(document)}</p>',
        _tiles(document),
        "<h2>ULP distance over x</h2>",
        '<p class="soft">The worst of each stretch of x; the scale is logarithmic. Hover for '
        "numbers.</p>",
        f'<div class="card">{over_patterns(rows, document["dtype"])}</div>',
        f'<h3 style="margin-top:14px">x to scale</h3><div class="card">{to_scale(rows)}</div>',
        *_zooms(document, zooms),
        "<h2>Where they part</h2>",
        _parting(document),
        *(_runs(document, name) for name in _ORDER),
    ]
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head>"
        f"<body>{''.join(body)}</body></html>\n"
    )


def _sides(document: Mapping[str, Any]) -> str:
    attrs = ", ".join(f"{name} = {value}" for name, value in document["attrs"].items())
    fixed = ", ".join(
        f"{name.removesuffix('_bits')} = {bits:#x}" for name, bits in document["fixed"].items()
    )
    other = document["against"]
    theirs = ", ".join(f"{name} = {value}" for name, value in other["attrs"].items())
    one = f"{document['op']}{f' ({attrs})' if attrs else ''}"
    two = f"{other['name']}{f' ({theirs})' if theirs else ''}"
    rest = f"; every x with {fixed}" if fixed else "; every pair"
    return escape(f"{one} against {two}{rest}")


def _tiles(document: Mapping[str, Any]) -> str:
    tiles = [_tile(document["inputs"], "inputs"), _tile(document["mismatches"], "differ", True)]
    for name in _ORDER:
        tiles.append(_tile(document["classes"][name], name, True, _MEANING[name]))
    tiles.append(_tile(document["exact"], "decided in exact arithmetic"))
    text = f"checksum <code>{document['checksum']}</code>, {document['seconds']:.1f} s"
    return f'<div class="tiles">{"".join(tiles)}</div><p class="soft">{text}</p>'


def _tile(number: int, label: str, counts: bool = False, hint: str = "") -> str:
    some = " some" if counts and number else ""
    text = f"{number:,}".replace(",", "\u2009")
    return f'<div class="tile{some}" title="{escape(hint)}"><b>{text}</b>{escape(label)}</div>'


def _zooms(document: Mapping[str, Any], zooms: Sequence[Mapping[str, Any]]) -> Iterable[str]:
    if not zooms:
        return
    out_type = document["out_dtype"]
    yield "<h2>Closer: every pattern around an input</h2>"
    yield (
        f'<p class="key soft"><i class="one"></i>{escape(document["op"])}<i class="two"></i>'
        f"{escape(document['against']['name'])}</p><div class='zooms'>"
    )
    for each in zooms:
        picture = zoom(each["points"], document["dtype"], out_type, each["x_bits"])
        named = value_text(each["x_bits"], document["dtype"])
        pair = [f", {k.removesuffix('_bits')} {v:#x}" for k, v in each.items() if _second(k)]
        head = f"{each['class']}: x = {named}{''.join(pair)}"
        yield f'<div class="card"><h3>{head}</h3>{picture}</div>'
    yield "</div>"


def _second(key: str) -> bool:
    return key.endswith("_bits") and key != "x_bits"


def _parting(document: Mapping[str, Any]) -> str:
    rows = []
    for name in _ORDER:
        if name in document["parting"]:
            found = document["parting"][name]
            place = f"{found['name']}, {Path(found['file']).name}:{found['line']}"
            text = escape(found["text"])
            rows.append((name, escape(place) if found["name"] else "", text))
    if not rows:
        return "<p>No input differs.</p>"
    return _table(("class", "first instruction", "for the first input of the class"), rows)


def _runs(document: Mapping[str, Any], name: str) -> str:
    examples = [each for each in document["examples"] if each["class"] == name]
    if not examples:
        return ""
    x_type, out_type = document["dtype"], document["out_dtype"]
    rows = []
    for each in examples[:SHOWN_RUNS]:
        numbers = [value_text(each["x_bits"], x_type), value_text(each["last_x_bits"], x_type)]
        both = [value_text(each[k], out_type) for k in ("out_bits", "other_bits")]
        beside = [_beside(each[k]) for k in ("before", "after")]
        ulp = "-" if each["ulp"] is None else f"{each['ulp']}"
        worst = "-" if each["worst_ulp"] is None else f"{each['worst_ulp']}"
        rows.append((*numbers, f"{each['count']}", *both, ulp, worst, *beside))
    columns = ("from x", "to x", "inputs", "result", "other", "ULP", "worst", "before", "after")
    total, shown = document["runs"][name], len(rows)
    more = f", the first {shown} of them here" if total > shown else ""
    head = (
        f"<h2>{name}</h2><p class='soft'>{_MEANING[name]}; {total} run{'s' * (total > 1)}{more}. "
        "Before and after: the results of the neighbouring patterns.</p>"
    )
    return head + _table(columns, rows, "n")


def _beside(pair: Mapping[str, int] | None) -> str:
    return "" if pair is None else f"{pair['out_bits']:#x} / {pair['other_bits']:#x}"


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]], kind: str = "") -> str:
    head = "".join(f"<th>{column}</th>" for column in columns)
    lines = [
        "<tr>" + "".join(f'<td class="{kind}">{cell}</td>' for cell in row) + "</tr>"
        for row in rows
    ]
    return f'<div class="scroll card"><table><tr>{head}</tr>{"".join(lines)}</table></div>'
