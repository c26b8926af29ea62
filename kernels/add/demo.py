"""What `ascendsim demo` shows of Add: STEPS, each titled by its docstring."""

from pathlib import Path

import numpy as np

import ascendsim as asim

FOLDER = Path(__file__).resolve().parent


def example():
    """Add in half: one rounding to nearest even, and infinity above 65504."""
    op = asim.load(FOLDER)
    x, y = (np.array(v, np.float16) for v in ((1, 2048, 2050, 65504, -1), (2, 1, 1, 16, 1)))
    z = asim.launch(op, {"x": x, "y": y}, op.tiling(x.shape, "float16")).out
    triples = zip(x, y, z, strict=True)
    return [{"x": float(a), "y": float(b), "z": float(c)} for a, b, c in triples]


def banks():
    """Where x and y lie in UB: bank group = (address >> 5) & 15, one row per cycle each."""
    op = asim.load(FOLDER)
    arrays = {name: np.ones(4096, np.float16) for name in ("x", "y")}
    rows = []
    for placement in ("conflict", "clean"):
        til = op.tiling((4096,), "float16", cores=1, tile=4096, placement=placement)
        made = asim.launch(op, arrays, til, record="calls").calls
        at = {call["buf"]: call["ub"] for call in made if call["op"] == "InitBuffer"}
        starts = {name: at[f"inQueue{name.upper()}"] for name in ("x", "y")}
        groups = {f"{name} group": start >> 5 & 15 for name, start in starts.items()}
        rows.append({"placement": placement} | starts | groups)
    return rows


STEPS = [example, banks]
