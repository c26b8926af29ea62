"""The same kernel and data on two chips, or under two sets of options: where they part, and why.

    from ascendsim.explore.compare import Side, compare
    print(compare("add", Side("ascend910b1"), Side("ascend950"), dtype="float16"))

Both sides run with one tiling where one is valid on both: that of the first side, else that of the
second, so that the calls can be held side by side. Where neither is, each side has its own, and
what is held side by side are the calls behind an element of an output.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ascendsim.errors import RequestError
from ascendsim.explore.boundary import boundary_inputs
from ascendsim.explore.compare_rules import Difference, differences, graded_otherwise
from ascendsim.explore.compare_search import Search
from ascendsim.explore.compare_sides import Both, Running, Side, warnings_of, with_one_tiling
from ascendsim.explore.outputs import Outputs, held_side_by_side
from ascendsim.host import Op, Tiling, load
from ascendsim.view.compare_text import document, readable
from ascendsim.view.diff import Step

__all__ = ["Comparison", "Side", "compare"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """The answer. Print it, or take it apart.

    socs : canonical names; settings : the options that are not the default, by side
    tilings : of side a and b, as their host code gives them
    tiling : which of them ran: "same", "a", "b" (on both) or "own"
    rules : what differs; graded : rules that say the same on other evidence
    first : the first call that stored other bytes; first_rules : the rules behind it
    lane : the calls behind element `outputs.element`, the first that differs, one that is no NaN
        before others; lane_rules : the rules behind the first of them
    blocks : those that were recorded
    """

    op: str
    dtype: str
    n: int
    socs: tuple[str, str]
    settings: tuple[dict[str, str], dict[str, str]]
    tilings: tuple[Tiling, Tiling]
    tiling: str
    rules: tuple[Difference, ...]
    graded: tuple[dict[str, str], ...]
    outputs: Outputs
    first: Step | None
    first_rules: tuple[Difference, ...]
    lane: tuple[Step, ...]
    lane_rules: tuple[Difference, ...]
    blocks: tuple[int, ...]
    warnings: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the document that `ascendsim compare --json` prints."""
        return document(self)

    def __str__(self) -> str:
        return readable(self)


def compare(
    op: Op | str,
    a: Side,
    b: Side,
    arrays: Mapping[str, np.ndarray] | None = None,
    *,
    adjust: Callable[[Tiling], Tiling] | None = None,
    seed: int = 0,
    **how: Any,
) -> Comparison:
    """Run `op` on both sides and return where they part.

    Parameters
    ----------
    arrays : inputs by name; None for the boundary values of their types (explore.boundary), in
        all combinations
    adjust : changes each tiling before it is used
    how : what `Op.tiling` takes beside shape and soc: dtype, cores, ub, attributes

    Raises
    ------
    RequestError
        When both sides are the same, or one of them lacks the element type.
    AscendError
        When the kernel does not run on one of the sides, whatever the tiling; the text says
        which.
    """
    op = load(op)
    sides = tuple(Running(op, each, seed) for each in (a, b))
    if (sides[0].soc, a.options) == (sides[1].soc, b.options):
        raise RequestError(
            f"both sides are {sides[0].soc.name} with the same options: give one of them another "
            "chip or options (a second --soc or --profile, or --against-option)"
        )
    if arrays is None:
        types = op.definition.choose_dtypes(how.get("dtype", "float32"))
        arrays = boundary_inputs({name: types[name] for name in op.definition.inputs})
    shapes = {name: np.shape(array) for name, array in arrays.items()}
    tilings = tuple(side.tiling(shapes, adjust, how) for side in sides)
    runs, kind = with_one_tiling(sides, tilings, arrays)  # type: ignore[arg-type]
    return _told(op, (sides, tilings, runs), kind, arrays)  # type: ignore[arg-type]


def _told(op: Op, parts: tuple[Both, Both, Both], kind: str, arrays: Any) -> Comparison:
    """Return the comparison of two runs; parts : sides, their tilings, (tiling, result) each."""
    sides, tilings, runs = parts
    results = runs[0][1], runs[1][1]
    outputs = held_side_by_side(results[0].outputs, results[1].outputs)
    used: dict[str, tuple[str, ...]] = {}
    for result in results:
        for row in result.evidence["rules"]:
            names = {*used.get(row["rule"], ()), *row["instructions"]}
            used[row["rule"]] = tuple(sorted(names))
    chips, options = (s.soc for s in sides), (s.side.options for s in sides)
    rules = differences(tuple(chips), tuple(options), used)  # type: ignore[arg-type]
    search = Search(sides, runs, arrays, outputs, kind)
    first, lane = search.parted()
    return Comparison(
        op.name,
        next(iter(tilings[0].dtypes.values())).name,
        math.prod(next(iter(tilings[0].shapes.values()))),
        (sides[0].soc.name, sides[1].soc.name),
        (sides[0].side.settings(), sides[1].side.settings()),
        tilings,
        kind,
        tuple(rules),
        tuple(graded_otherwise(results[0].evidence, results[1].evidence, rules)),
        outputs,
        first,
        search.behind(first, rules, True),
        lane,
        search.behind(lane[0] if lane else None, rules, False),
        search.blocks,
        warnings_of(op, sides, results),
    )
