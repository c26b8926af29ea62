"""The rows of a bench as SVG: a bar per ratio on a logarithmic scale, and a mark at its target."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from math import ceil, floor, log10
from typing import Any

LINE, LEFT, RIGHT, TOP, WIDTH = 22, 400, 70, 66, 1000
MET, MISSED, PLAIN, TARGET = "#0072b2", "#d55e00", "#8a8f98", "#1c2024"


def bench_svg(document: Mapping[str, Any]) -> str:
    """Return the picture of what `ascendsim bench --json` prints."""
    rows = [row for row in document["rows"] if row["ratio"]]
    values = [v for row in rows for v in (row["ratio"], row["target"]) if v] or [1.0]
    low, high = floor(log10(min(*values, 0.5))), ceil(log10(max(*values, 2.0)))
    height = TOP + LINE * len(rows) + 50

    def at(value: float) -> float:
        return LEFT + (log10(value) - low) / (high - low) * (WIDTH - LEFT - RIGHT)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
        _text(16, 24, "How many times faster, in one run", "start", 'font-size="16"'),
        _text(16, 44, f"{document['machine']['cpu']}; the mark is the target", "start"),
    ]
    for power in range(low, high + 1):
        x = at(10.0**power)
        ink = TARGET if power == 0 else "#ddd"
        parts.append(f'<path d="M{x:.1f} {TOP - 8}V{height - 40}" stroke="{ink}"/>')
        parts.append(_text(x, height - 22, f"{10.0**power:g}x", "middle"))
    for number, row in enumerate(rows):
        parts += _bar(TOP + number * LINE, row, at)
    return "\n".join([*parts, "</svg>", ""])


def _bar(y: float, row: Mapping[str, Any], at: Any) -> list[str]:
    start, end = sorted((at(1.0), at(row["ratio"])))
    colour = {True: MET, False: MISSED, None: PLAIN}[row["ok"]]
    parts = [
        _text(LEFT - 10, y + 12, row["name"], "end"),
        f'<rect x="{start:.1f}" y="{y}" width="{max(end - start, 1):.1f}" height="15" '
        f'fill="{colour}"><title>{escape(row["name"])}: {row["ratio"]:.3g}</title></rect>',
    ]
    beside = max(end, at(1.0))
    if row["target"]:
        x = at(row["target"])
        parts.append(f'<path d="M{x:.1f} {y - 2}V{y + 17}" stroke="{TARGET}" stroke-width="2"/>')
        beside = max(beside, x)
    return [*parts, _text(beside + 6, y + 12, f"{row['ratio']:.2f}", "start")]


def _text(x: float, y: float, text: str, anchor: str, more: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {more}>{escape(text)}</text>'
