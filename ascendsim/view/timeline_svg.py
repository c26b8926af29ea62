"""A block's timeline as an SVG picture: S, MTE2, V and MTE3 one below the other.

Data falls from GM through MTE2, UB, V and UB to MTE3 and GM, so lanes stand in that order and
tokens of the data path point down, those that give buffers back up (dashed). A long stream is drawn
from its first tiles and its last, with a marked gap. Colours hold on light and dark pages.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import escape

from ascendsim.observe.timeline import Timeline
from ascendsim.view.html.style import themes
from ascendsim.view.lanes import LANES, Piece, links_of, moved, operands, pieces_of

MOST_PIECES = 120  # what is drawn of a stream; a third of it from the end
LEFT, RIGHT, WIDTH = 118, 16, 1120
TOP, LANE, PITCH, GAP = 52, 30, 56, 40
TICKS = 10
LETTER = 5.8  # width of a character of the labels, about
LABELS = {"S": "", "MTE2": "GM → UB", "V": "UB → UB", "MTE3": "UB → GM"}
COLOURS = {
    "copy in": "#2f6fb5",
    "copy out": "#23835d",
    "arithmetic": "#a65f12",
    "function": "#b8433f",
    "compare, select": "#7557b5",
    "convert": "#177f8c",
    "fill, copy": "#6b7480",
    "scalar": "#8a6d1d",
}
_MODULES = {
    "arith": "arithmetic",
    "unary": "function",
    "compare": "compare, select",
    "convert": "convert",
}
_RULES = """
text{font:11px system-ui,sans-serif;fill:var(--ink)}
.h{font-weight:600;font-size:13px}
.n{fill:#fff;font-size:10px;pointer-events:none}
.s{fill:var(--dim)}
.bg{fill:var(--paper)}
.lane{fill:var(--panel)}
.grid{stroke:var(--line);stroke-width:.6}
.tok{stroke:var(--dim);stroke-width:.7;fill:none;opacity:.75}
.back{stroke-dasharray:3 2;opacity:.5}
.head{fill:var(--dim)}
.gap{fill:var(--dim);opacity:.14}
.wait{opacity:.32}
"""
SCOPE = ".asim-time"  # rules of a picture inside a page hold for no other picture there
STYLE = themes(SCOPE) + "".join(f"{SCOPE} {rule}" for rule in _RULES.split("\n") if rule)


def timeline_svg(timeline: Timeline, title: str = "", block: int = 0) -> str:
    """Return the picture of a block, as one SVG document."""
    pieces = pieces_of(timeline, block)
    scale = _Scale.of(pieces, timeline.launch.soc.clock_mhz)
    head = f"{title} block {block}".strip()
    links = dict.fromkeys(links_of(timeline, block, pieces))
    height = TOP + PITCH * len(LANES) + 12
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="{SCOPE[1:]}" '
        f'viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img">',
        f"<title>{escape(head)}: timeline</title>",
        f"<style>{STYLE}</style>",
        f'<rect class="bg" width="{WIDTH}" height="{height}"/>',
        f'<text class="h" x="12" y="20">{escape(head)}</text>',
        f'<text class="s" x="{WIDTH - RIGHT}" y="20" text-anchor="end">'
        f"launch {timeline.aiv_us:.2f} us on the cores, bound by {timeline.bound}</text>",
        *_legend(pieces),
        *_lanes(),
        *_ticks(scale, height),
        *_issuing(pieces),
        *(mark for piece in pieces for mark in _piece(piece, scale)),
        *(mark for source, target in links for mark in _token(source, target, scale)),
        *_gap(scale),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


@dataclass(frozen=True, slots=True)
class _Scale:
    """From cycles to x: one or two windows of the block's time side by side."""

    windows: tuple[tuple[float, float], ...]
    mhz: float

    @classmethod
    def of(cls, pieces: list[Piece], mhz: float) -> _Scale:
        """Show everything, or leave out the middle of a stream of many pieces."""
        end = max((piece.until for piece in pieces), default=1.0)
        if len(pieces) <= MOST_PIECES:
            return cls(((0.0, end),), mhz)
        starts = sorted(piece.start for piece in pieces)
        written = sorted(piece.until for piece in pieces if piece.pipe == "MTE3")
        first = _tile_end(written, starts[MOST_PIECES * 2 // 3])
        last = _tile_end(written, starts[-MOST_PIECES // 3])
        return cls(((0.0, first), (last, end)) if first < last else ((0.0, end),), mhz)

    @property
    def pixels(self) -> float:
        """Pixels per cycle."""
        room = WIDTH - LEFT - RIGHT - GAP * (len(self.windows) - 1)
        return room / (sum(stop - start for start, stop in self.windows) or 1.0)

    def spans(self, start: float, stop: float) -> Iterator[tuple[float, float]]:
        """Give (x, width) of what is visible of a span."""
        x = float(LEFT)
        for first, last in self.windows:
            low, high = max(start, first), min(stop, last)
            if low < high:
                yield x + (low - first) * self.pixels, (high - low) * self.pixels
            x += (last - first) * self.pixels + GAP

    def place(self, cycles: float) -> float | None:
        """Return the x of a moment, None when it is left out."""
        x = float(LEFT)
        for first, last in self.windows:
            if first <= cycles <= last:
                return x + (cycles - first) * self.pixels
            x += (last - first) * self.pixels + GAP
        return None


def _tile_end(written: list[float], cycles: float) -> float:
    """Return when the last copy out before `cycles` was complete; `cycles` when there is none."""
    number = bisect_right(written, cycles)
    return written[number - 1] if number else cycles


def _kind(piece: Piece) -> str:
    from ascendsim.isa import REGISTRY

    if piece.pipe != "V":
        return {"MTE2": "copy in", "MTE3": "copy out"}.get(piece.pipe, "scalar")
    found = REGISTRY.get(piece.name)
    module = found.compute.__module__.rpartition(".")[2] if found else ""
    return _MODULES.get(module, "fill, copy")


def _y(pipe: str) -> int:
    return TOP + LANES.index(pipe) * PITCH


def _legend(pieces: Iterable[Piece]) -> Iterator[str]:
    used = {_kind(piece) for piece in pieces}
    x = float(LEFT)
    for kind in (kind for kind in COLOURS if kind in used):
        yield f'<rect x="{x:.0f}" y="30" width="10" height="10" rx="2" fill="{COLOURS[kind]}"/>'
        yield f'<text x="{x + 14:.0f}" y="39">{kind}</text>'
        x += 30 + LETTER * len(kind)
    yield f'<text class="s" x="{x:.0f}" y="39">pale: latency · arrows: tokens</text>'


def _lanes() -> Iterator[str]:
    width = WIDTH - LEFT - RIGHT
    for pipe in LANES:
        y = _y(pipe)
        yield f'<rect class="lane" x="{LEFT}" y="{y}" width="{width}" height="{LANE}"/>'
        yield f'<text class="h" x="12" y="{y + 20}">{pipe}</text>'
        yield f'<text class="s" x="56" y="{y + 20}">{LABELS[pipe]}</text>'


def _issuing(pieces: list[Piece]) -> Iterator[str]:
    """Say what S does where the timeline has no slices of it: it issues, ahead of the pipes."""
    if not any(piece.pipe == "S" for piece in pieces):
        yield f'<text class="s" x="{LEFT + 8}" y="{_y("S") + 19}">issues every call</text>'


def _ticks(scale: _Scale, height: int) -> Iterator[str]:
    shown = sum(stop - start for start, stop in scale.windows) / scale.mhz
    step = 10 ** math.floor(math.log10(shown / TICKS or 1.0))
    step *= next(factor for factor in (1, 2, 5, 10) if shown / (step * factor) <= TICKS)
    digits = max(0, -math.floor(math.log10(step)))
    bottom = height - 24
    for start, stop in scale.windows:
        number = math.ceil(start / scale.mhz / step)
        while number * step * scale.mhz <= stop:
            x = scale.place(number * step * scale.mhz)
            if x is not None:
                yield f'<line class="grid" x1="{x:.1f}" y1="{TOP - 4}" x2="{x:.1f}" y2="{bottom}"/>'
                yield (
                    f'<text class="s" x="{x:.1f}" y="{bottom + 14}" text-anchor="middle">'
                    f"{number * step:.{digits}f} us</text>"
                )
            number += 1


def _piece(piece: Piece, scale: _Scale) -> Iterator[str]:
    y, colour = _y(piece.pipe), COLOURS[_kind(piece)]
    for x, width in scale.spans(piece.start, piece.stop):
        yield (
            f'<rect x="{x:.1f}" y="{y}" width="{max(width - 0.4, 0.4):.1f}" height="{LANE}" rx="2" '
            f'fill="{colour}"><title>{escape(_hover(piece, scale))}</title></rect>'
        )
        letters = int((width - 4) / LETTER)
        if letters >= min(len(piece.name), 4):
            name = piece.name if letters >= len(piece.name) else piece.name[: letters - 1] + "…"
            yield (
                f'<text class="n" x="{x + width / 2:.1f}" y="{y + 19}" text-anchor="middle">'
                f"{escape(name)}</text>"
            )
    for x, width in scale.spans(piece.stop, piece.until):
        yield (
            f'<rect class="wait" x="{x:.1f}" y="{y + 7}" width="{width:.1f}" height="{LANE - 14}" '
            f'fill="{colour}"><title>latency of {escape(piece.name)}</title></rect>'
        )


def _hover(piece: Piece, scale: _Scale) -> str:
    start, stop = piece.start / scale.mhz, piece.stop / scale.mhz
    lines = [f"{piece.name}: {start:.3f} to {stop:.3f} us, {piece.stop - piece.start:.0f} cycles"]
    if piece.instr is not None:
        call, where = piece.instr.call, piece.instr.where
        name = where.file.rpartition("/")[2]
        lines += [f"{name}:{where.line}, {moved(call)} bytes", operands(call, piece.instr.scalar)]
    return "\n".join(lines)


def _token(source: Piece, target: Piece, scale: _Scale) -> Iterator[str]:
    # a token comes when its copy is complete, so its arrow may start behind the drawn part
    ends = scale.place(min(source.complete, target.start)), scale.place(target.start)
    if source.pipe == target.pipe or ends[0] is None or ends[1] is None:
        return
    down = LANES.index(source.pipe) < LANES.index(target.pipe)
    first = _y(source.pipe) + (LANE if down else 0)
    last = _y(target.pipe) + (0 if down else LANE)
    tip = last + (-4 if down else 4)
    style = "tok" if down else "tok back"
    x = ends[1]
    yield f'<path class="{style}" d="M{ends[0]:.1f} {first}L{x:.1f} {tip}"/>'
    yield f'<path class="head" d="M{x:.1f} {last}l-2.5 {tip - last}h5z"/>'


def _gap(scale: _Scale) -> Iterator[str]:
    if len(scale.windows) < 2:
        return
    (_, first), (last, _) = scale.windows
    edge = scale.place(first)
    assert edge is not None
    bottom = _y(LANES[-1]) + LANE
    high = bottom - TOP + 8
    yield f'<rect class="gap" x="{edge:.1f}" y="{TOP - 4}" width="{GAP}" height="{high}"/>'
    for line, word in enumerate(("…", f"{(last - first) / scale.mhz:.3g}", "us")):
        yield (
            f'<text class="s" x="{edge + GAP / 2:.1f}" y="{(TOP + bottom) // 2 + 14 * line}" '
            f'text-anchor="middle">{word}</text>'
        )
