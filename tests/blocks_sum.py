"""A kernel whose blocks add to one element: SyncAll, initial values and atomic copies."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import ascendsim as asim
from tests.house.test_readme import BLOCKS


def total(folder: Path, n: int = 1024, **how):
    """Run the README's `total` on ones, a block per 256 elements; return the run."""
    for note, _, body in BLOCKS:
        if note.startswith("file: total/"):
            path = folder / note.removeprefix("file: ")
            path.parent.mkdir(exist_ok=True)
            path.write_text(body, encoding="utf-8")
    op = asim.load(folder / "total")
    x = np.ones(n, np.float32)
    return asim.launch(op, {"x": x}, op.tiling(x.shape), **{"record": "bytes", **how})
