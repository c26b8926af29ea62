"""Try tilings before silicon: every combination of swept fields, checked and timed.

A point is a set of tiling fields that the tiling function keeps while it recomputes the rest. It is
recorded without data, so what the machine refuses on the way (UB capacity, alignment, queues) kills
the point by name, as does an output that is not written exactly once.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ascendsim import soc as socs
from ascendsim.errors import RequestError, TilingError
from ascendsim.explore.schedulers import LOCAL, Progress, check_scheduler, run_points
from ascendsim.explore.study import BLOCK_DIM, BUFFER_NUM, Row, Study, evaluate
from ascendsim.host import Op, load
from ascendsim.observe.timeline import check_costs
from ascendsim.options import Options

MAX_POINTS = 1_000_000


@dataclass(frozen=True, slots=True)
class Sweep:
    """The result of a sweep: one row per point in the order of the axes, the first slowest.

    shipped : the row of the operator's own tiling, with its values of the swept fields.
    """

    op: str
    soc: str
    axes: dict[str, tuple[Any, ...]]
    rows: tuple[Row, ...]
    shipped: Row

    def ranked(self) -> list[Row]:
        """Return the valid rows, fastest first; less UB and fewer cores decide between equals."""
        return sorted((row for row in self.rows if row.valid), key=_cost)

    def best(self, count: int = 1) -> list[Row]:
        """Return the `count` fastest rows."""
        return self.ranked()[:count]

    def pareto(self) -> list[Row]:
        """Return the valid rows that no other one matches or beats in time, UB and cores."""
        kept: list[Row] = []
        for row in self.ranked():
            if not any(_covers(_cost(other), _cost(row)) for other in kept):
                kept.append(row)
        return kept

    def within_error(self, row: Row) -> bool:
        """Return True when the bounds of `row` reach those of the fastest row."""
        best = self.best()
        return bool(best and row.valid and row.low <= best[0].high)  # type: ignore[operator]

    def rejected(self) -> dict[str, list[Row]]:
        """Return the rejected rows by the constraint that killed them, most frequent first."""
        dead = [row for row in self.rows if not row.valid]
        order = [name for name, _ in Counter(row.constraint for row in dead).most_common()]
        return {name: [row for row in dead if row.constraint == name] for name in order}

    def to_json(self, top: int = 10) -> dict[str, Any]:
        """Return the document that `ascendsim tile --json` prints."""
        return {
            "op": self.op,
            "soc": self.soc,
            "rows": [row.to_json() for row in self.rows],
            "best": [row.to_json() for row in self.best(top)],
            "pareto": [row.to_json() for row in self.pareto()],
            "shipped": self.shipped.to_json(),
        }


def sweep(
    op: Op | str,
    shape: Any,
    dtype: Any,
    axes: Mapping[str, Sequence[Any]],
    *,
    soc: str | None = None,
    cores: int | None = None,
    ub: int | None = None,
    attrs: Mapping[str, Any] | None = None,
    options: Options | None = None,
    settings: Mapping[str, Any] | None = None,
    blocks: int | None = None,
    scheduler: str = LOCAL,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Sweep:
    """Time every combination of the values of `axes`, without data.

    Parameters
    ----------
    shape, dtype, soc, cores, ub, attrs : as `Op.tiling` takes them
    axes : tiling field to values; `block_dim` means cores available, `buffer_num` replaces
        BUFFER_NUM of op_kernel.py
    settings, blocks : tiling fields and the block dim that replace the tiling function's results
        at every point, nothing recomputed
    scheduler : `local` processes (`workers` of them, default one per CPU), or the address
        tcp://HOST:PORT of a dask scheduler whose workers have ascendsim and the kernel's folder
    progress : takes (points done, points)

    Raises
    ------
    RequestError
        On an unknown field, a scheduler that cannot be used, and what `Op.tiling` refuses.
    TilingError
        When the tiling function refuses its own choice and every point.
    UnsupportedError
        When the SoC has no costs.
    """
    op = load(op)
    check_scheduler(scheduler, workers)
    choices = (dict(attrs or {}), options or Options(), dict(settings or {}), blocks)
    study = Study(str(op.folder), shape, dtype, soc, cores, ub, *choices)
    values = {name: tuple(dict.fromkeys(listed)) for name, listed in axes.items()}
    check_costs(socs.load(soc or op.definition.socs[0]))
    _check_axes(op, values)
    refusal = _check_fields(op, study, values)
    own = None if load(op.folder) is op else op
    points = [dict(zip(values, each, strict=True)) for each in itertools.product(*values.values())]
    found = run_points(study, points, scheduler, workers, progress, own)
    if refusal is not None and not any(row.valid for row in found):
        raise refusal
    shipped = _shipped(op, study, values)
    rows = tuple(replace(row, shipped=_same(row, shipped)) for row in found)
    name = socs.load(soc or op.definition.socs[0]).name
    return Sweep(op.name, name, values, rows, shipped)


def _check_axes(op: Op, axes: Mapping[str, tuple[Any, ...]]) -> None:
    """Refuse a sweep over nothing, over too much, and counts that are none."""
    points = 1
    for name, values in axes.items():
        points *= len(values)
        if not values:
            raise RequestError(f"the sweep of {name} has no values")
        for value in values if name in (BLOCK_DIM, BUFFER_NUM) else ():
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise RequestError(f"{name} = {value!r}: use a whole number of 1 or more")
    if not axes:
        raise RequestError("name at least one tiling field to sweep")
    if points > MAX_POINTS:
        raise RequestError(f"{points} points; a sweep takes at most {MAX_POINTS}")
    if BUFFER_NUM in axes and not isinstance(_buffer_num(op), int):
        raise RequestError(f"{op.folder / 'op_kernel.py'} has no BUFFER_NUM to replace")


def _check_fields(op: Op, study: Study, axes: Mapping[str, tuple[Any, ...]]) -> TilingError | None:
    """Refuse unknown fields; return the refusal when not even the shipped tiling can be made."""
    try:
        shipped = study.tiling(op, {})
    except TilingError as error:
        return error
    known = shipped.printed()
    for name in axes.keys() - {BLOCK_DIM, BUFFER_NUM}:
        if name not in known and name not in shipped.fields:
            listed = ", ".join((*known, BLOCK_DIM, BUFFER_NUM))
            raise RequestError(f"tiling field {name!r} is unknown; use one of {listed}")
    return None


def _shipped(op: Op, study: Study, axes: Mapping[str, tuple[Any, ...]]) -> Row:
    """Return the row of the operator's own tiling, with its values of the swept fields."""
    row = evaluate(study, {}, op)
    known: dict[str, Any] = dict(row.tiling or {})
    known[BLOCK_DIM] = study.cores or socs.load(study.soc or op.definition.socs[0]).aiv_cores
    known[BUFFER_NUM] = _buffer_num(op)
    fields = {name: known.get(name, known.get(f"{name}_bits")) for name in axes}
    return replace(row, fields=fields, shipped=True)


def _same(row: Row, shipped: Row) -> bool:
    """Return True when a point is the shipped tiling: all its fields, blocks and buffers."""
    buffers = [each.fields.get(BUFFER_NUM) for each in (row, shipped)]
    return row.tiling is not None and row.tiling == shipped.tiling and buffers[0] == buffers[1]


def _buffer_num(op: Op) -> Any:
    return getattr(op.kernel_module, "BUFFER_NUM", None)


def _cost(row: Row) -> tuple[float, int, int]:
    return row.aiv_us or 0.0, row.ub_used or 0, row.cores or 0  # of valid rows all are set


def _covers(other: Sequence[float], mine: Sequence[float]) -> bool:
    return all(a <= b for a, b in zip(other, mine, strict=True))
