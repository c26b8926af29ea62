"""Mask bits as a grid of lanes, 64 per row; a lane that is on is filled."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ascendsim.view.html.style import face, head
from ascendsim.view.mask import PER_ROW, Mask

CELL, LEFT, TOP = 12, 52, 16
MOST_ROWS = 64  # what is drawn of a long mask, from its start


def mask_html(mask: Mask) -> str:
    """Return the whole face of a mask."""
    return face(*mask_parts(mask, MOST_ROWS))


def mask_parts(mask: Mask, most_rows: int) -> Iterator[str]:
    """Yield head and grid, to stand inside a face."""
    rows = -(-mask.bits.size // PER_ROW)
    hidden = f"the first {most_rows} of {rows} rows" if rows > most_rows else ""
    yield head("mask", mask.head, hidden)
    yield mask_svg(mask.bits[: most_rows * PER_ROW], mask.first)


def mask_svg(bits: np.ndarray, first: int = 0) -> str:
    """Return the grid alone: lane `first` at the top left, `PER_ROW` lanes a row."""
    rows = -(-bits.size // PER_ROW)
    width, height = LEFT + PER_ROW * CELL + 60, TOP + max(rows, 1) * CELL + 4
    marks = [mark for row in range(rows) for mark in _row(bits, row, first)]
    plus = "+" if first else ""
    marks += [
        f'<text class="asim-d" x="{LEFT + lane * CELL + 1}" y="{TOP - 5}">{plus}{lane}</text>'
        for lane in range(0, PER_ROW, 8)
    ]
    marks.append(_lines(bits.size))
    return (
        f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">'
        f"<title>mask bits</title>{''.join(marks)}</svg>"
    )


def _row(bits: np.ndarray, row: int, first: int) -> Iterator[str]:
    lanes = bits[row * PER_ROW : (row + 1) * PER_ROW]
    y = TOP + row * CELL
    yield (
        f'<text class="asim-d" x="{LEFT - 6}" y="{y + 10}" text-anchor="end">{row * PER_ROW}</text>'
    )
    yield f'<rect class="asim-e" x="{LEFT}" y="{y}" width="{lanes.size * CELL}" height="{CELL}"/>'
    runs = "".join(
        f"M{LEFT + start * CELL} {y}h{(stop - start) * CELL}v{CELL}h-{(stop - start) * CELL}z"
        for start, stop in _runs(lanes)
    )
    if runs:
        yield f'<path class="asim-lane" fill="#2f6fb5" d="{runs}"/>'
    yield (
        f'<text class="asim-d" x="{LEFT + PER_ROW * CELL + 8}" y="{y + 10}">'
        f"{int(lanes.sum())} on</text>"
    )


def _runs(lanes: np.ndarray) -> list[tuple[int, int]]:
    """Return the lanes that are on, as (start, stop) of neighbours."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], lanes.astype(np.int8), [0]])))
    return [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]


def _lines(count: int) -> str:
    """Return the lines between lanes, thicker every 8, where a new byte begins."""
    rows = -(-count // PER_ROW)
    bottom = TOP + rows * CELL
    thin = "".join(f"M{LEFT + lane * CELL} {TOP}V{bottom}" for lane in range(1, PER_ROW))
    thin += "".join(f"M{LEFT} {TOP + row * CELL}h{PER_ROW * CELL}" for row in range(1, rows))
    bytes_ = "".join(f"M{LEFT + lane * CELL} {TOP}V{bottom}" for lane in range(8, PER_ROW, 8))
    return (
        f'<path class="asim-g" stroke-width="1" d="{thin}"/>'
        f'<path class="asim-g" stroke-width="3" d="{bytes_}"/>'
    )
