"""The lanes of a buffer as a table: values, with the bits of each behind the pointer."""

from __future__ import annotations

import numpy as np

from ascendsim.view.html.style import face, head, table, text

PER_ROW, MOST = 8, 64


def values_html(name: str, values: np.ndarray, raw: np.ndarray, first: int = 0) -> str:
    """Return up to `MOST` lanes from lane `first` on; `raw` holds the bits of `values`."""
    last = min(first + MOST, values.size)
    rows = [
        [f'<span class="asim-d">{start}</span>', *_cells(values, raw, start, min(start + 8, last))]
        for start in range(first, last, PER_ROW)
    ]
    columns = ("", *(f"+{lane}" for lane in range(PER_ROW)))
    return face(
        head(name, f"{values.dtype}", f"lanes {first} to {last - 1} of {values.size}"),
        table(columns, rows, right=range(PER_ROW + 1)),
    )


def _cells(values: np.ndarray, raw: np.ndarray, start: int, stop: int) -> list[str]:
    digits = 2 + 2 * raw.itemsize
    cells = [
        f'<span class="asim-m" title="{int(raw[lane]):#0{digits}x}">{text(values[lane])}</span>'
        for lane in range(start, stop)
    ]
    return cells + [""] * (PER_ROW - len(cells))
