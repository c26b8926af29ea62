"""UB drawn as one bar: buffers at their addresses, free space, what the next call touches.

The bar shows all of UB, or the used part below a thin bar of the whole when less than a third is
used. Positions are to scale; only what would be too narrow to see is widened to two pixels. What
does not fit into the bar stands in the table, which names every buffer by the bar's number.
"""

from __future__ import annotations

from collections.abc import Iterator

from ascendsim.view.html.style import HUES, face, head, mono, pill, table, text
from ascendsim.view.ub_map import Place, Span, UbMap, joined

WIDTH, LEFT, BAR = 940, 52, 872  # pixels: of the picture, before the bar, of the bar
TOP, HEIGHT = 22, 40
OVERVIEW = 26  # height of the thin bar and the funnel under it
LETTER = 6.2  # width of a character of the labels, about
ZOOM_BELOW = 1 / 3  # of UB used: then the used part is drawn, under the whole
MOST_MARKS = 80  # of a row; with more, the narrowest gaps are closed and the row is marked ~
STATE_PILLS = {"OCCUPIED": "q", "ENQUE": "on", "DEQUE": "o"}


def ub_map_html(ub: UbMap) -> str:
    """Return the whole face of a map."""
    return face(*ub_map_parts(ub))


def ub_map_parts(ub: UbMap) -> Iterator[str]:
    """Yield the map's head, picture and table, to stand inside a face."""
    now = f"next call {ub.call}" if ub.call else "end of the block"
    free = f"{ub.nbytes - ub.used} of {ub.nbytes} bytes free"
    yield head("UB", free if ub.places else f"{ub.nbytes} bytes, no buffer yet", now)
    if ub.places:
        yield ub_map_svg(ub)
        yield _table(ub)


def extent_of(ub: UbMap) -> int:
    """Return how many bytes the bar shows, from byte 0."""
    return ub.used if 0 < ub.used < ub.nbytes * ZOOM_BELOW else max(ub.nbytes, 1)


def place_of(byte: int, extent: int) -> float:
    """Return the x of a byte."""
    return LEFT + BAR * byte / extent


def ub_map_svg(ub: UbMap) -> str:
    """Return the picture alone."""
    extent = extent_of(ub)
    top = TOP + (OVERVIEW if extent < ub.nbytes else 0)
    touched = bool(ub.reads or ub.writes)
    label = "UB" if extent == ub.nbytes else "used"
    height = top + HEIGHT + (22 if touched else 0) + 18
    parts = [
        *_overview(ub, extent),
        f'<rect class="asim-e" x="{LEFT}" y="{top}" width="{BAR}" height="{HEIGHT}"/>',
        f'<text class="asim-d" x="0" y="{top + 25}">{label}</text>',
        *(
            mark
            for number, place in enumerate(ub.places)
            for mark in _buffer(ub, number, place, extent, top)
        ),
        *_names(ub, extent, top - 6),
        *_handed_over(ub, extent, top),
        *_touches(ub, extent, top),
        *_axis(extent, height - 4),
    ]
    return (
        f'<svg viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img">'
        f"<title>map of UB</title>{''.join(parts)}</svg>"
    )


def _overview(ub: UbMap, extent: int) -> Iterator[str]:
    """Draw all of UB thinly, and how its used part widens into the bar below."""
    if extent == ub.nbytes:
        return
    end = place_of(extent, ub.nbytes)
    yield '<text class="asim-d" x="0" y="11">whole</text>'
    yield f'<rect class="asim-e" x="{LEFT}" y="2" width="{BAR}" height="10"/>'
    yield (
        f'<rect class="asim-u" x="{LEFT}" y="2" width="{max(end - LEFT, 2):.2f}" height="10" '
        f'fill="{HUES[0]}"/>'
    )
    bottom = TOP + OVERVIEW - 18
    yield (
        f'<path class="asim-f" opacity=".45" d="M{LEFT} 13L{max(end, LEFT + 2):.2f} 13'
        f'L{LEFT + BAR} {bottom}L{LEFT} {bottom}z"/>'
    )


def _buffer(ub: UbMap, number: int, place: Place, extent: int, top: int) -> Iterator[str]:
    hue = HUES[number % len(HUES)]
    for slot in range(place.num):
        start = place.start + slot * place.nbytes
        yield _slot(ub, place, slot, hue, (extent, top))
        middle, wide = place_of(start, extent) + BAR * place.nbytes / extent / 2, place.nbytes
        state = ub.state(place, slot)
        if place.name in ub.states and _fits(state, BAR * wide / extent):
            style = "asim-d" if state == "FREE" else "asim-l"
            yield (
                f'<text class="{style}" x="{middle:.1f}" y="{top + 24}" text-anchor="middle">'
                f"{text(state)}</text>"
            )


def _names(ub: UbMap, extent: int, y: int) -> Iterator[str]:
    """Write each buffer's name above it, its number where the name does not fit."""
    free = 0.0  # up to here the line is taken
    for number, place in enumerate(ub.places):
        whole = place.num * place.nbytes
        x, wide = place_of(place.start, extent), BAR * whole / extent
        label = place.name if _fits(place.name, wide) else str(number + 1)
        half = len(label) * LETTER / 2
        if x + wide / 2 - half < free:
            continue
        free = x + wide / 2 + half - 2
        yield f'<text x="{x + wide / 2:.1f}" y="{y}" text-anchor="middle">{text(label)}</text>'
    if _fits("free", BAR * (extent - ub.used) / extent) and ub.places:
        x = (place_of(ub.used, extent) + LEFT + BAR) / 2
        yield f'<text class="asim-d" x="{x:.1f}" y="{y + 30}" text-anchor="middle">free</text>'


def _slot(ub: UbMap, place: Place, slot: int, hue: str, at: tuple[int, int]) -> str:
    extent, top = at
    start = place.start + slot * place.nbytes
    stop = start + place.nbytes
    state = ub.state(place, slot)
    hover = f"{place.name}@{slot} {state}: UB[{start:#x}, {stop:#x}), {place.nbytes} bytes"
    return (
        f'<rect class="asim-s" data-start="{start}" data-stop="{stop}" '
        f'x="{place_of(start, extent):.3f}" y="{top}" '
        f'width="{max(BAR * place.nbytes / extent, 2):.3f}" height="{HEIGHT}" fill="{hue}" '
        f'fill-opacity="{0.3 if state == "FREE" else 1}" stroke="{hue}" stroke-width=".8">'
        f"<title>{text(hover)}</title></rect>"
    )


def _fits(word: str, pixels: float) -> bool:
    return len(word) * LETTER + 4 <= pixels


def _handed_over(ub: UbMap, extent: int, top: int) -> Iterator[str]:
    if ub.slot is not None:
        yield _span("asim-k", ub.slot, extent, (top - 2, HEIGHT + 4))


def _touches(ub: UbMap, extent: int, top: int) -> Iterator[str]:
    """Draw under the bar what is read and what is written."""
    if not (ub.reads or ub.writes):
        return
    rows = (("reads", "asim-rd", ub.reads, 6), ("writes", "asim-wr", ub.writes, 16))
    for word, style, spans, shift in rows:
        y = top + HEIGHT + shift
        marks, coarse = _marks(spans, extent)
        yield f'<text class="{style}" x="0" y="{y + 6}">{word}{" ~" if coarse else ""}</text>'
        for span in marks:
            yield _span(style, span, extent, (y, 5))


def _marks(spans: tuple[Span, ...], extent: int) -> tuple[tuple[Span, ...], bool]:
    """Return what is drawn of spans, and True when gaps that could be seen had to be closed."""
    gap = extent // BAR  # below a pixel
    found = joined(spans, gap)
    coarse = len(found) > MOST_MARKS
    while len(found) > MOST_MARKS:
        gap = 2 * gap + 1
        found = joined(spans, gap)
    return found, coarse


def _span(style: str, span: Span, extent: int, vertical: tuple[int, int]) -> str:
    start, stop = span
    y, height = vertical
    return (
        f'<rect class="{style}" data-start="{start}" data-stop="{stop}" '
        f'x="{place_of(start, extent):.3f}" y="{y}" '
        f'width="{max(BAR * (stop - start) / extent, 2):.3f}" height="{height}"/>'
    )


def _axis(extent: int, y: int) -> Iterator[str]:
    for quarter in range(5):
        byte = extent * quarter // 4
        anchor = ("start", "middle", "middle", "middle", "end")[quarter]
        x = place_of(byte, extent)
        yield f'<text class="asim-d" x="{x:.1f}" y="{y}" text-anchor="{anchor}">{byte:#x}</text>'


def _table(ub: UbMap) -> str:
    rows = [
        (
            swatch(number),
            f"<b>{text(place.name)}</b>",
            text(place.kind),
            states_html(ub.states.get(place.name, ())),
            f"{place.num} × {place.nbytes}",
            mono(f"[{place.start:#x}, {place.start + place.num * place.nbytes:#x})"),
            _touch_words(ub.touched(place)),
        )
        for number, place in enumerate(ub.places)
    ]
    columns = ("", "buffer", "kind", "slots", "bytes", "UB", "next call")
    return table(columns, rows, right=(4,))


def _touch_words(words: str) -> str:
    styles = {"reads": "asim-rd", "writes": "asim-wr"}
    return ", ".join(
        f'<span class="{styles[word]}">{word}</span>' for word in words.split(", ") if word
    )


def swatch(number: int) -> str:
    """Return the number and the colour of a buffer."""
    hue = HUES[number % len(HUES)]
    return (
        f'<span class="asim-p" style="background:{hue};border-color:{hue};color:#fff">'
        f"{number + 1}</span>"
    )


def states_html(states: tuple[str, ...] | list[str]) -> str:
    """Return the states of the slots of a queue; each in its colour."""
    return "".join(pill(state, STATE_PILLS.get(state, "")) for state in states)
