"""A picture of a sweep: time over the first swept field, with bounds, as SVG.

matplotlib draws it when it is installed (extra `plot`), else the SVG is written here. Series are
the values of the other swept fields; rejected points are crosses on the axis.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from io import BytesIO
from typing import Any

Row = Mapping[str, Any]  # as `ascendsim tile --json` prints it

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
SHIPPED, REJECTED = "#c00000", "#888888"
MAX_SERIES = len(COLOURS)  # more are drawn as one
WIDTH, HEIGHT = 900, 520
LEFT, RIGHT, TOP, BOTTOM = 80, 190, 50, 70
TICKS = 6


@dataclass(frozen=True, slots=True)
class Picture:
    """What is drawn. series : label to points (x, time, low, high), in the order of x."""

    title: str
    x_label: str
    series: dict[str, list[tuple[float, float, float, float]]] = field(default_factory=dict)
    shipped: tuple[float, float] | None = None
    rejected: list[float] = field(default_factory=list)
    y_label: str = "time of the slowest core (us)"


def sweep_svg(title: str, names: Sequence[str], rows: Sequence[Row], shipped: Row) -> bytes:
    """Return the picture of a sweep over the fields `names` as an SVG file."""
    picture = picture_of(title, names, rows, shipped)
    if importlib.util.find_spec("matplotlib") is not None:
        return drawn_by_matplotlib(picture)
    return drawn_plainly(picture)


def picture_of(title: str, names: Sequence[str], rows: Sequence[Row], shipped: Row) -> Picture:
    """Return what to draw of the rows."""
    first, *others = names
    picture = Picture(title, first)
    labels = dict.fromkeys(_label(row, others) for row in rows if row["valid"])
    for row in sorted(rows, key=lambda row: row[first]):
        if not row["valid"]:
            picture.rejected.append(row[first])
            continue
        label = _label(row, others) if len(labels) <= MAX_SERIES else "valid"
        point = (row[first], row["aiv_us"], row["low"], row["high"])
        picture.series.setdefault(label, []).append(point)
    if shipped["valid"] and shipped.get(first) is not None:
        place = (shipped[first], shipped["aiv_us"])
        return Picture(title, first, picture.series, place, picture.rejected)
    return picture


def _label(row: Row, names: Sequence[str]) -> str:
    return ", ".join(f"{name} {row[name]}" for name in names) or "valid"


def drawn_by_matplotlib(picture: Picture) -> bytes:
    """Return the picture as matplotlib draws it."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    figure = Figure((WIDTH / 100, HEIGHT / 100), layout="constrained")
    axes = figure.add_subplot(title=picture.title, xlabel=picture.x_label, ylabel=picture.y_label)
    for (label, points), colour in zip(picture.series.items(), COLOURS, strict=False):
        xs, times, lows, highs = zip(*points, strict=True)
        axes.fill_between(xs, lows, highs, color=colour, alpha=0.15, linewidth=0)
        axes.plot(xs, times, "o-", color=colour, markersize=4, label=label)
    if picture.shipped is not None:
        axes.plot(*picture.shipped, "*", color=SHIPPED, markersize=15, label="shipped")
    axes.set_ylim(bottom=0)
    if picture.rejected:
        floor = [0] * len(picture.rejected)
        axes.plot(picture.rejected, floor, "x", color=REJECTED, clip_on=False, label="rejected")
    axes.grid(alpha=0.3)
    if picture.series or picture.rejected or picture.shipped:
        axes.legend()
    written = BytesIO()
    with mpl.rc_context({"svg.hashsalt": "sweep"}):  # equal sweeps give equal files
        figure.savefig(written, format="svg", metadata={"Date": None})
    return written.getvalue()


def drawn_plainly(picture: Picture) -> bytes:
    """Return the picture as an SVG that needs nothing installed."""
    scale = _Scale(picture)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'font-family="sans-serif" font-size="13">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        _text(WIDTH / 2, TOP / 2, picture.title, "middle"),
        _text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 20, picture.x_label, "middle"),
        f'<g transform="translate(22 {HEIGHT / 2}) rotate(-90)">'
        f"{_text(0, 0, picture.y_label, 'middle')}</g>",
        *scale.grid(),
    ]
    keys = []
    for (label, points), colour in zip(picture.series.items(), COLOURS, strict=False):
        parts += _series(scale, points, colour)
        keys.append((label, colour, "circle"))
    if picture.shipped is not None:
        parts.append(_star(*scale.at(*picture.shipped)))
        keys.append(("shipped", SHIPPED, "star"))
    for x in dict.fromkeys(picture.rejected):
        parts.append(_cross(*scale.at(x, 0.0)))
    keys += [("rejected", REJECTED, "cross")] if picture.rejected else []
    parts += [*_legend(keys), "</svg>"]
    return "\n".join(parts).encode()


class _Scale:
    """Where values lie in the picture; time starts at 0."""

    def __init__(self, picture: Picture) -> None:
        points = [point for each in picture.series.values() for point in each]
        xs = [point[0] for point in points] + picture.rejected
        highs = [point[3] for point in points]
        if picture.shipped is not None:
            xs.append(picture.shipped[0])
            highs.append(picture.shipped[1])
        self.left, self.right = min(xs, default=0.0), max(xs, default=1.0)
        if self.left == self.right:
            self.left, self.right = self.left - 1, self.right + 1
        self.top = max(highs, default=1.0) * 1.05 or 1.0

    def at(self, x: float, time: float) -> tuple[float, float]:
        """Return the place of a value in the picture."""
        across = (x - self.left) / (self.right - self.left)
        place = LEFT + across * (WIDTH - LEFT - RIGHT)
        return round(place, 1), round(HEIGHT - BOTTOM - self._up(time), 1)

    def grid(self) -> list[str]:
        """Return the lines with their numbers."""
        parts = []
        for step in range(TICKS + 1):
            x = self.left + (self.right - self.left) * step / TICKS
            time = self.top * step / TICKS
            (across, floor), (_, up) = self.at(x, 0.0), self.at(x, time)
            parts += [
                _text(across, floor + 20, f"{x:.6g}", "middle"),
                _text(LEFT - 8, up + 4, f"{time:.4g}", "end"),
                f'<path d="M{LEFT} {up}H{WIDTH - RIGHT}M{across} {TOP}V{floor}" stroke="#ddd"/>',
            ]
        return parts

    def _up(self, time: float) -> float:
        return time / self.top * (HEIGHT - TOP - BOTTOM)


def _series(scale: _Scale, points: Sequence[tuple[float, ...]], colour: str) -> list[str]:
    upper = [scale.at(x, high) for x, _, _, high in points]
    lower = [scale.at(x, low) for x, _, low, _ in reversed(points)]
    middle = [scale.at(x, time) for x, time, _, _ in points]
    dots = [f'<circle cx="{x}" cy="{y}" r="3" fill="{colour}"/>' for x, y in middle]
    return [
        f'<polygon points="{_listed(upper + lower)}" fill="{colour}" fill-opacity="0.15"/>',
        f'<polyline points="{_listed(middle)}" fill="none" stroke="{colour}" stroke-width="1.5"/>',
        *dots,
    ]


def _listed(places: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x},{y}" for x, y in places)


def _legend(keys: Sequence[tuple[str, str, str]]) -> list[str]:
    parts = []
    for number, (label, colour, mark) in enumerate(keys):
        x, y = WIDTH - RIGHT + 20, TOP + 20 * number
        dot = f'<circle cx="{x}" cy="{y}" r="4" fill="{colour}"/>'
        parts.append({"star": _star(x, y), "cross": _cross(x, y)}.get(mark, dot))
        parts.append(_text(x + 14, y + 4, label, "start"))
    return parts


def _star(x: float, y: float) -> str:
    return (
        f'<path d="M{x} {y - 9}l2.6 5.6 6.2.7-4.6 4.2 1.3 6-5.5-3-5.5 3 1.3-6-4.6-4.2 6.2-.7z" '
        f'fill="{SHIPPED}"/>'
    )


def _cross(x: float, y: float) -> str:
    return f'<path d="M{x - 4} {y - 4}l8 8m0-8l-8 8" stroke="{REJECTED}" stroke-width="1.5"/>'


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}">{escape(text)}</text>'
