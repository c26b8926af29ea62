"""The pictures of an atlas as SVG: ULP distance over x, and both results around one input.

Colours come from the page's style sheet (classes `one`, `two`, `axis`, `grid`), so that they follow
its light and dark themes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from math import copysign, isfinite, log2
from typing import Any

from ascendsim.dtypes import dtype as find_dtype

Row = tuple[float, float, int, int]  # lowest x, highest x, worst ULP, differing inputs
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 940, 230, 64, 14, 12, 34
ZOOM_WIDTH, ZOOM_HEIGHT = 460, 210
TICK_ROOM = 46  # between two numbers on the axis of x
SCALE_END = 8.0  # of the picture with x to scale
_DECADES = {"float16": (1e-6, 1e-4, 1e-2, 1.0, 100.0, 1e4)}
_WIDE_DECADES = (1e-30, 1e-20, 1e-10, 1.0, 1e10, 1e20, 1e30)


def over_patterns(rows: Sequence[Row], dtype: str) -> str:
    """Draw the worst ULP distance over all x, every binade equally wide."""
    width = (WIDTH - LEFT - RIGHT) / max(len(rows), 1)
    at = {number: LEFT + number * width for number in range(len(rows) + 1)}
    bars = [(at[k], at[k + 1], row[2], row) for k, row in enumerate(rows) if row[3]]
    decades = _DECADES.get(dtype, _WIDE_DECADES)
    ticks = []
    for value in (*(-d for d in reversed(decades)), 0.0, *decades):
        place = next((k for k, row in enumerate(rows) if row[1] >= value), None)
        if place is not None:
            ticks.append((at[place], f"{value:g}"))
    return _chart("Worst ULP distance over all x, binades equally wide", bars, ticks)


def to_scale(rows: Sequence[Row]) -> str:
    """Draw the worst ULP distance over x in [-8, 8], x to scale."""

    def at(x: float) -> float:
        inside = min(max(x, -SCALE_END), SCALE_END)
        return LEFT + (inside + SCALE_END) / (2 * SCALE_END) * (WIDTH - LEFT - RIGHT)

    bars = [
        (at(row[0]), at(row[1]), row[2], row)
        for row in rows
        if row[3] and row[0] <= SCALE_END and row[1] >= -SCALE_END
    ]
    ticks = [(at(float(x)), str(x)) for x in range(-int(SCALE_END), int(SCALE_END) + 1)]
    return _chart(f"Worst ULP distance for x in [-{SCALE_END:g}, {SCALE_END:g}]", bars, ticks)


def _chart(
    title: str, bars: Sequence[tuple[float, float, int, Row]], ticks: Iterable[tuple[float, str]]
) -> str:
    worst = max((height for _, _, height, _ in bars), default=1)
    top = max(log2(worst + 1), 1.0)
    floor = HEIGHT - BOTTOM

    def up(ulp: int) -> float:
        return floor - log2(max(ulp, 0) + 1) / top * (floor - TOP)

    parts = [_opened(WIDTH, HEIGHT, title)]
    for ulp in _levels(worst):
        parts.append(f'<path class="grid" d="M{LEFT} {up(ulp):.1f}H{WIDTH - RIGHT}"/>')
        parts.append(_text(LEFT - 8, up(ulp) + 4, _short(ulp), "end"))
    behind = 0.0
    for x, label in ticks:
        if x - behind < TICK_ROOM:
            continue
        behind = x
        parts.append(f'<path class="grid" d="M{x:.1f} {TOP}V{floor}"/>')
        parts.append(_text(x, floor + 18, label, "middle"))
    for left, right, ulp, row in bars:
        height = max(floor - up(ulp), 2.0)
        tip = f"x {row[0]:.6g} to {row[1]:.6g}: {row[3]} inputs differ, at most {ulp} ULP"
        parts.append(
            f'<rect class="one" x="{left:.2f}" y="{floor - height:.1f}" '
            f'width="{max(right - left, 1.4):.2f}" height="{height:.1f}">'
            f"<title>{escape(tip)}</title></rect>"
        )
    parts.append(f'<path class="axis" d="M{LEFT} {floor}H{WIDTH - RIGHT}"/>')
    return "".join([*parts, _text(14, TOP + 4, "ULP", "start"), "</svg>"])


def _levels(worst: int) -> list[int]:
    """Return the ULP distances that get a line: at most seven, powers of two less one apart."""
    steps = max(worst, 1).bit_length()
    every = max(1, -(-steps // 6))
    return [0, *((1 << k) for k in range(0, steps, every))]


def _short(ulp: int) -> str:
    return str(ulp) if ulp < 10000 else f"2^{ulp.bit_length() - 1}"


def zoom(points: Sequence[Mapping[str, int]], x_type: str, out_type: str, centre: int) -> str:
    """Draw both results around the input with the pattern `centre`."""
    read = find_dtype(out_type).from_bits
    pairs = [(float(read(p["out_bits"])), float(read(p["other_bits"]))) for p in points]
    known = [value for pair in pairs for value in pair if isfinite(value)]
    low, high = min(known, default=0.0), max(known, default=1.0)
    if low == high:
        low, high = low - max(abs(low), 1e-9) / 2, high + max(abs(high), 1e-9) / 2
    left, right, floor = 86, ZOOM_WIDTH - 20, ZOOM_HEIGHT - 30
    step = (right - left) / max(len(points) - 1, 1)

    def up(value: float) -> float:
        if not isfinite(value):
            return TOP if copysign(1, value) > 0 or value != value else floor
        return floor - 16 - (value - low) / (high - low) * (floor - TOP - 32)

    parts = [_opened(ZOOM_WIDTH, ZOOM_HEIGHT, "Both results around one input")]
    parts += [
        f'<path class="grid" d="M{left - 10} {up(value):.1f}H{right + 10}"/>'
        + _text(left - 16, up(value) + 4, f"{value:.6g}", "end")
        for value in (low, high)
    ]
    if any(value != value for pair in pairs for value in pair):
        parts.append(_text(left - 16, TOP + 4, "NaN", "end"))
    for k, (point, pair) in enumerate(zip(points, pairs, strict=True)):
        parts.append(_column(left + k * step, pair, point, up, (x_type, centre, floor)))
    return "".join([*parts, "</svg>"])


def _column(
    x: float,
    pair: tuple[float, float],
    point: Mapping[str, int],
    up: Callable[[float], float],
    place: tuple[str, int, float],
) -> str:
    x_type, centre, floor = place
    bits = point["x_bits"]
    value = float(find_dtype(x_type).from_bits(bits))
    tip = f"x {bits:#x} = {value:.9g}: {point['out_bits']:#x} against {point['other_bits']:#x}"
    marks = [
        f'<circle class="two" cx="{x:.1f}" cy="{up(pair[1]):.1f}" r="6.5"/>',
        f'<circle class="one" cx="{x:.1f}" cy="{up(pair[0]):.1f}" r="3.5"/>',
    ]
    if point["out_bits"] != point["other_bits"]:
        marks.insert(0, f'<path class="gap" d="M{x:.1f} {up(pair[0]):.1f}V{up(pair[1]):.1f}"/>')
    if bits == centre:
        marks.append(_text(x, floor + 18, f"{value:.9g}", "middle"))
        marks.insert(0, f'<path class="grid" d="M{x:.1f} {TOP}V{floor}"/>')
    return f"<g><title>{escape(tip)}</title>{''.join(marks)}</g>"


def _opened(width: int, height: int, title: str) -> str:
    return (
        f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{escape(title)}">'
        f"<title>{escape(title)}</title>"
    )


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def value_text(bits: int, name: str) -> str:
    """Return a pattern with its value, as the tables of the report show it."""
    number: Any = find_dtype(name).from_bits(bits)
    width = 2 * find_dtype(name).nbytes
    return f"{float(number):.9g} (0x{bits:0{width}x})"
