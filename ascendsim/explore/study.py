"""One point of a sweep: its tiling, its records, its time; or the constraint that kills it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ascendsim import errors
from ascendsim.explore.coverage import coverage_gaps
from ascendsim.host import Op, Tiling, load
from ascendsim.host.job import timing_job
from ascendsim.launch import recorded, scheduled
from ascendsim.observe.timeline import Launch, Timeline
from ascendsim.observe.timeline.cost import LOW
from ascendsim.options import Options

BUFFER_NUM = "buffer_num"  # the axis that replaces BUFFER_NUM of op_kernel.py
BLOCK_DIM = "block_dim"  # the axis that says how many cores are available
COVERAGE = "coverage"
ERROR_LOW, ERROR_REST = 0.25, 0.05  # see `relative_error`
MAX_VARIANTS = 64

# what a refused point ran into, by the class of the error
_CONSTRAINTS: dict[type[Exception], str] = {
    errors.TilingError: "tiling",
    errors.RequestError: "tiling field",
    errors.ShapeError: "shapes",
    errors.UbOverflow: "UB capacity",
    errors.QueueError: "queue limits",
    errors.AlignmentError: "alignment",
    errors.BoundsError: "bounds",
    errors.DtypeError: "element types",
    errors.RepeatError: "repeat limits",
    errors.OverlapError: "overlapping operands",
    errors.UnsupportedError: "not modelled",
    errors.KernelError: "error in the kernel",
}
_variants: dict[tuple[Op, int], Op] = {}


@dataclass(frozen=True, slots=True)
class Study:
    """What all points of a sweep share; it travels to worker processes.

    folder : of the kernel. settings, blocks : tiling fields and the block dim that are replaced
    after the tiling function, the same at every point. The rest as `Op.tiling` takes it.
    """

    folder: str
    shape: Any
    dtype: Any = "float32"
    soc: str | None = None
    cores: int | None = None
    ub: int | None = None
    attrs: Mapping[str, Any] = field(default_factory=dict)
    options: Options = field(default_factory=Options)
    settings: Mapping[str, Any] = field(default_factory=dict)
    blocks: int | None = None

    def tiling(self, op: Op, fixed: Mapping[str, Any]) -> Tiling:
        """Return the tiling with the fields `fixed` kept."""
        size = (self.shape, self.dtype, self.soc, self.cores, self.ub)
        made = op.tiling(*size, fixed=fixed, **self.attrs)
        return made.replace(self.settings, self.blocks) if self.settings or self.blocks else made


@dataclass(frozen=True, slots=True)
class Row:
    """One point.

    fields : the swept values. reason : the constraint that killed the point, in a few words and,
    but for "coverage", the text of the error; detail : that text alone. aiv_us : time of the
    slowest core, `low` and `high` what it may be (see `relative_error`). cores : that work at
    once. blocks : the block dim. tiling : all fields. shipped : it is the operator's own choice.
    """

    fields: dict[str, Any]
    valid: bool
    reason: str = ""
    detail: str = ""
    aiv_us: float | None = None
    low: float | None = None
    high: float | None = None
    bound: str | None = None
    ub_used: int | None = None
    cores: int | None = None
    blocks: int | None = None
    shipped: bool = False
    tiling: dict[str, Any] | None = None

    @property
    def constraint(self) -> str:
        """The few words of `reason`."""
        return self.reason.partition(":")[0]

    def to_json(self) -> dict[str, Any]:
        """Return the row as `ascendsim tile --json` prints it."""
        names = [name for name in self.__slots__ if name not in ("fields", "tiling")]
        return self.fields | {name: getattr(self, name) for name in names}


def evaluate(study: Study, fields: Mapping[str, Any], op: Op | None = None) -> Row:
    """Return the row of one point; whatever refuses the point is its reason.

    Raises
    ------
    RequestError
        When the kernel cannot be loaded, or has no BUFFER_NUM to replace.
    """
    fixed = dict(fields)
    chosen = _variant(op or load(study.folder), fixed.pop(BUFFER_NUM, None))
    tiling = None
    try:
        tiling = study.tiling(chosen, fixed)
        return _measured(dict(fields), chosen, tiling, study.options)
    except errors.AscendError as error:
        text = _text(error)
        words = _CONSTRAINTS.get(type(error), "contract")
        shown = None if tiling is None else tiling.to_json()
        return Row(dict(fields), False, f"{words}: {text}", text, tiling=shown)


def evaluate_all(study: Study, points: Iterable[Mapping[str, Any]]) -> list[Row]:
    """Return the rows of several points: what a worker process is sent."""
    return [evaluate(study, point) for point in points]


def relative_error(timeline: Timeline) -> float:
    """Return how far the time may be off, as a share of it.

    Costs of low confidence may be 25 % off, all others 5 %. Core and HBM time combine as the root
    of the sum of squares, so an error of either counts by its share of the squares.

    Source: assumed. The 5 % are what the model is held to on published measurements; costs of low
    confidence are scaled from another chip or fitted on a single row, and such rows differ from
    measurements by up to a quarter. Errors are taken to add up, never to cancel.
    """
    launched, chip = timeline.launch, timeline.launch.soc
    core, hbm = launched.core_cycles**2, launched.hbm_cycles**2
    if not core + hbm:
        return ERROR_REST
    traffic = launched.traffic
    moved = traffic.read_from_hbm + traffic.written_to_hbm
    unsure = [
        nbytes
        for nbytes, rate in (
            (traffic.read_from_hbm, "hbm_read"),
            (traffic.written_to_hbm, "hbm_write"),
        )
        if nbytes and chip.fact(rate).confidence in LOW
    ]
    share = hbm / (core + hbm)
    low = (1 - share) * timeline.low_share + (share * sum(unsure) / moved if moved else 0.0)
    return ERROR_LOW * low + ERROR_REST * (1 - low)


def alone(launched: Launch, ub_capacity: int) -> Timeline:
    """Return a timeline without the pipes under a shared HBM, which a sweep does not show."""
    return Timeline(launched, launched.blocks[launched.slowest].alone[0], ub_capacity)


def _measured(fields: dict[str, Any], op: Op, tiling: Tiling, options: Options) -> Row:
    job = timing_job(op, tiling, options)
    classes = recorded(job)
    gaps = coverage_gaps(job, classes)
    if gaps:
        return Row(fields, False, COVERAGE, gaps, tiling=tiling.to_json())
    cores = tiling.origin.cores if tiling.origin else None
    timeline = alone(scheduled(job, classes, cores), job.ub_bytes)
    time, error = timeline.aiv_us, relative_error(timeline)
    return Row(
        fields,
        True,
        aiv_us=time,
        low=time * (1 - error),
        high=time * (1 + error),
        bound=timeline.bound,
        ub_used=timeline.ub_used,
        cores=timeline.launch.cores,
        blocks=tiling.block_dim,
        tiling=tiling.to_json(),
    )


def _text(error: errors.AscendError) -> str:
    """Return the error with file name and line; the path would depend on who computes."""
    if error.where is None:
        return error.message
    return f"{Path(error.where[0]).name}:{error.where[1]}: {error.message}"


def _variant(op: Op, buffer_num: int | None) -> Op:
    if buffer_num is None:
        return op
    found = _variants.get((op, buffer_num))
    if found is None:
        if len(_variants) >= MAX_VARIANTS:
            _variants.clear()
        found = op.variant(constants={"BUFFER_NUM": buffer_num})
        _variants[op, buffer_num] = found
    return found
