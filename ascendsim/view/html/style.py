"""The look that all HTML faces share: one block of CSS, scoped by the class `asim`.

Colours are variables, light first; dark holds where the reader's system asks for it, unless the
page itself says otherwise (JupyterLab, VS Code, Sphinx). Nothing here reaches outside `.asim`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

#: of buffers in the order of their addresses; white text is readable on each
HUES = (
    "#2f6fb5",
    "#23835d",
    "#a65f12",
    "#7557b5",
    "#177f8c",
    "#b8433f",
    "#6b7480",
    "#8a6d1d",
)
READ, WRITE = "#2f8fd8", "#d9622b"
LIGHT = {
    "ink": "#1c2128",
    "dim": "#59636e",
    "paper": "#ffffff",
    "panel": "#f4f6f8",
    "line": "#d5dbe1",
    "mark": "#fff3cd",
    "read": "#1769aa",
    "write": "#b3420f",
    "good": "#1a7f37",
    "bad": "#b42318",
}
DARK = {
    "ink": "#e6edf3",
    "dim": "#9aa5b1",
    "paper": "#0f141a",
    "panel": "#1b222b",
    "line": "#36404b",
    "mark": "#3d3311",
    "read": "#6cb6f5",
    "write": "#f0945c",
    "good": "#57c270",
    "bad": "#ff7b72",
}
#: pages that say themselves whether they are dark
DARK_PAGES = (
    "[data-jp-theme-light=false]",
    ".vscode-dark",
    "[data-theme=dark]",
)
LIGHT_PAGES = (
    "[data-jp-theme-light=true]",
    ".vscode-light",
    "[data-theme=light]",
)
_SCOPE = ".asim"
_RULES = """
{s}{font:13px/1.45 system-ui,sans-serif;color:var(--ink);background:var(--paper);
border:1px solid var(--line);border-radius:6px;padding:8px 12px;margin:2px 0;max-width:980px;
box-sizing:border-box;overflow-x:auto}
{s} .asim-h{font-weight:600;font-size:14px}
{s} .asim-d{color:var(--dim)}
{s} .asim-m{font-family:ui-monospace,Menlo,Consolas,monospace;font-size:12px}
{s} .asim-b{margin:8px 0 0}
{s} .asim-t{border-collapse:collapse;border:0;margin:6px 0 0;font-size:12px;color:inherit}
{s} table.asim-t tbody tr{background:none}
{s} table.asim-t tbody tr.asim-now{background:var(--mark)}
{s} .asim-t td,{s} .asim-t th{border:0;border-top:1px solid var(--line);padding:2px 12px 2px 2px;
text-align:left;vertical-align:top;white-space:nowrap;color:inherit;background:none}
{s} .asim-t th{color:var(--dim);font-weight:400;border:0}
{s} .asim-t td.asim-r,{s} .asim-t th.asim-r{text-align:right}
{s} .asim-t td.asim-w{white-space:normal}
{s} .asim-p{display:inline-block;border:1px solid var(--line);border-radius:9px;padding:0 7px;
margin-right:4px;font-size:11px;line-height:16px;background:var(--panel);color:var(--ink)}
{s} .asim-p.asim-on{background:#2f6fb5;border-color:#2f6fb5;color:#fff}
{s} .asim-p.asim-q{background:#a65f12;border-color:#a65f12;color:#fff}
{s} .asim-p.asim-o{background:#23835d;border-color:#23835d;color:#fff}
{s} .asim-rd{color:var(--read)}
{s} .asim-wr{color:var(--write)}
{s} .asim-bad{color:var(--bad)}
{s} .asim-good{color:var(--good)}
{s} .asim-c{white-space:pre;background:var(--panel);border-radius:4px;padding:4px 8px;
overflow-x:auto;margin:6px 0 0}
{s} .asim-c .asim-now{background:var(--mark);display:block;margin:0 -8px;padding:0 8px}
{s} svg{display:block;max-width:100%;height:auto;margin:6px 0 0}
{s} svg text{font:11px system-ui,sans-serif;fill:var(--ink)}
{s} svg text.asim-d{fill:var(--dim)}
{s} svg text.asim-l{fill:#fff}
{s} svg .asim-e{fill:var(--panel);stroke:var(--line)}
{s} svg .asim-f{fill:var(--line)}
{s} svg .asim-rd{fill:var(--read)}
{s} svg .asim-wr{fill:var(--write)}
{s} svg .asim-k{fill:none;stroke:var(--ink);stroke-width:2}
{s} svg .asim-g{fill:none;stroke:var(--paper)}
{s} summary{cursor:pointer;color:var(--dim)}
"""


def css() -> str:
    """Return the style sheet for everything inside a face."""
    return themes(_SCOPE) + _RULES.replace("{s}", _SCOPE).replace("\n", "")


def themes(scope: str) -> str:
    """Return the rules that set the colours of `scope` as variables, light and dark."""
    light, dark = (
        "{" + ";".join(f"--{k}:{v}" for k, v in theme.items()) + "}" for theme in (LIGHT, DARK)
    )
    return (
        f"{scope}{light}@media(prefers-color-scheme:dark){{{scope}{dark}}}"
        + ",".join(f"{page} {scope}" for page in DARK_PAGES)
        + dark
        + ",".join(f"{page} {scope}" for page in LIGHT_PAGES)
        + light
    )


def face(*parts: str) -> str:
    """Return a whole face: the parts in one box, with the style that they need."""
    return f'<div class="asim"><style>{css()}</style>{"".join(parts)}</div>'


def text(value: Any) -> str:
    """Return `value` as text that HTML shows as it is."""
    return escape(str(value))


def head(title: Any, *rest: Any) -> str:
    """Return the first line of a face: what it is, then the facts about it."""
    more = "".join(f' <span class="asim-d">· {text(each)}</span>' for each in rest if each != "")
    return f'<div><span class="asim-h">{text(title)}</span>{more}</div>'


def pill(word: Any, kind: str = "") -> str:
    """Return a word in a rounded frame; `kind`: on, q or o for a filled one."""
    return f'<span class="asim-p{f" asim-{kind}" if kind else ""}">{text(word)}</span>'


def table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], now: int = -1, right: Sequence[int] = ()
) -> str:
    """Return a table. Cells are HTML, columns text; row `now` is marked, `right` are numbers."""
    kinds = [' class="asim-r"' if index in right else "" for index in range(len(columns))]
    heads = "".join(f"<th{k}>{text(c)}</th>" for k, c in zip(kinds, columns, strict=True))
    marked = ' class="asim-now"'
    body = "".join(
        f"<tr{marked if number == now else ''}>"
        + "".join(f"<td{kind}>{cell}</td>" for kind, cell in zip(kinds, row, strict=True))
        + "</tr>"
        for number, row in enumerate(rows)
    )
    return (
        f'<table class="asim-t"><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>'
        if body
        else ""
    )


def facts(values: Mapping[str, str]) -> str:
    """Return names and values (HTML) below each other."""
    rows = "".join(
        f'<tr><td class="asim-d">{text(name)}</td><td class="asim-w">{value}</td></tr>'
        for name, value in values.items()
        if value
    )
    return f'<table class="asim-t"><tbody>{rows}</tbody></table>' if rows else ""


def mono(value: Any) -> str:
    """Return text in letters of one width."""
    return f'<span class="asim-m">{text(value)}</span>'
