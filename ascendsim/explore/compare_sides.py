"""The two sides of a comparison: each runs the kernel on its chip, if it can with one tiling."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

from ascendsim import soc as socs
from ascendsim.errors import AscendError
from ascendsim.host import Op, Tiling
from ascendsim.host.job import make_job
from ascendsim.launch import Readers, Result, blocks_of, launch
from ascendsim.observe.recorder import BlockRecording, Recorder
from ascendsim.options import Options

Recordings = dict[int, BlockRecording]
Both = tuple[Any, Any]


@dataclass(frozen=True, slots=True)
class Side:
    """A chip (None: the operator's first) and the options of the model there."""

    soc: str | None = None
    options: Options = field(default_factory=Options)

    def settings(self) -> dict[str, str]:
        """Return the options that are not the default."""
        plain = Options()
        names = (each.name for each in fields(Options))
        chosen = {name: getattr(self.options, name) for name in names}
        return {name: value for name, value in chosen.items() if value != getattr(plain, name)}


@dataclass(slots=True)
class Running:
    """A side that runs: its operator, chip and options."""

    op: Op
    side: Side
    seed: int
    soc: Any = None

    def __post_init__(self) -> None:
        self.soc = socs.load(self.side.soc or self.op.definition.socs[0])

    def tiling(self, shapes: Any, adjust: Any, how: dict[str, Any]) -> Tiling:
        """Return the tiling that the host computes for this chip, adjusted."""
        try:
            made = self.op.tiling(shapes, soc=self.soc.name, **how)
        except AscendError as error:
            raise _placed(error, self.soc.name) from None
        return made if adjust is None else adjust(made)

    def run(
        self, tiling: Tiling, arrays: Any, observers: tuple[Any, ...] = (), **how: Any
    ) -> Result:
        """Launch; `how` may hold blocks= to observe and options= in place of the side's."""
        options = how.get("options", self.side.options)
        try:
            job = make_job(self.op, arrays, tiling, self.soc, self.seed, options)
            return launch(job, Readers(observers, blocks=blocks_of(how.get("blocks"))))
        except AscendError as error:
            raise _placed(error, self.soc.name) from None

    def recorded(self, tiling: Tiling, arrays: Any, blocks: Any, options: Any) -> Recordings:
        """Launch and record these blocks (None: all)."""
        recorder = Recorder()
        self.run(tiling, arrays, (recorder,), blocks=blocks, options=options)
        return recorder.blocks


def _placed(error: AscendError, soc: str) -> AscendError:
    """Return the error with the side that it happened on."""
    error.message = f"on {soc}: {error.message}"
    if hasattr(error, "reason"):
        error.reason = error.message
    return error


def with_one_tiling(
    sides: tuple[Running, Running], tilings: tuple[Tiling, Tiling], arrays: Any
) -> tuple[tuple[tuple[Tiling, Result], tuple[Tiling, Result]], str]:
    """Return tiling and result of each side, and whose tiling it is."""
    (a, b), (of_a, of_b) = sides, tilings
    first = a.run(of_a, arrays)
    if _same(of_a, of_b):
        return ((of_a, first), (of_a, b.run(of_b, arrays))), "same"
    second = _attempt(b, of_a, arrays)
    if second is not None:
        return ((of_a, first), (of_a, second)), "a"
    second = b.run(of_b, arrays)
    other = _attempt(a, of_b, arrays)
    if other is not None:
        return ((of_b, other), (of_b, second)), "b"
    return ((of_a, first), (of_b, second)), "own"


def _attempt(side: Running, tiling: Tiling, arrays: Any) -> Result | None:
    try:
        return side.run(tiling, arrays)
    except AscendError:
        return None


def _same(one: Tiling, two: Tiling) -> bool:
    return one.to_json() == two.to_json()


def warnings_of(op: Op, sides: Both, results: tuple[Result, Result]) -> tuple[str, ...]:
    """Return the warnings of both runs, each with its chip."""
    found = []
    for side, result in zip(sides, results, strict=True):
        what_if = op.soc_warning(side.soc.name)
        texts = [f"what-if: {what_if}"] if what_if else []
        found += [f"on {side.soc.name}: {text}" for text in (*texts, *result.warnings)]
    return tuple(dict.fromkeys(found))
