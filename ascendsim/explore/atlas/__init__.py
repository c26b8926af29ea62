"""The atlas: every input of an elementwise kernel, compared with what it should be.

atlas("my_kernel", "float32", against="definition").to_json()
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ascendsim.errors import RequestError
from ascendsim.explore.atlas.definition import definition_side
from ascendsim.explore.atlas.result import Atlas, made
from ascendsim.explore.atlas.sides import KernelSide, Side, TorchSide
from ascendsim.explore.atlas.space import space_of
from ascendsim.explore.atlas.survey import Survey, surveyed
from ascendsim.explore.schedulers import LOCAL, Progress, check_scheduler
from ascendsim.host import Op, load
from ascendsim.host.lists import with_counts
from ascendsim.options import Options

__all__ = ["Atlas", "Chip", "atlas"]


@dataclass(frozen=True, slots=True)
class Chip:
    """Where the kernels run; see `Op.tiling`."""

    soc: str | None = None
    cores: int | None = None
    ub: int | None = None
    options: Options | None = None


def atlas(
    op: Op | str,
    dtype: Any = "float32",
    *,
    settings: Mapping[str, str] | None = None,
    attrs: Mapping[str, Any] | None = None,
    against: str | None = None,
    chip: Chip | None = None,
    scheduler: str = LOCAL,
    resume: str | None = None,
    progress: Progress | None = None,
    kernels: tuple[str, ...] = (),
) -> Atlas:
    """Compute the results of every x of `dtype`, and compare them.

    Parameters
    ----------
    settings : {tensor: number, raw bits, or "all"} of the other inputs; each is 1 when not named
    against : ATTR=VALUE, OP[:ATTR=VALUE], `definition[:ATTR=VALUE]` or `torch`; several values
        are separated by commas; None gives the checksum only
    scheduler : `local`, or tcp://HOST:PORT of a dask scheduler
    resume : a file for the state, so that a survey that was stopped goes on from there
    progress : takes (inputs done, inputs)

    Raises
    ------
    RequestError
        When the request is wrong, or the kernel is not elementwise.
    AscendError
        When the kernel breaks a rule.
    """
    check_scheduler(scheduler, None)
    op = load(op, kernels)
    space = space_of(op, dtype, settings or {})
    chip = chip or Chip()
    one = _kernel(op, chip, dict(attrs or {}))
    two = None if against is None else _other(op, one, chip, against, kernels)
    survey = Survey(space, one, two)
    for side in (one, two):
        if isinstance(side, KernelSide):
            side.open(space).check()
        elif side is not None:
            side.open(space)  # refuses what is missing before any work
    return made(survey, surveyed(survey, scheduler, resume, progress))


def _kernel(op: Op, chip: Chip, attrs: dict[str, Any]) -> KernelSide:
    op.definition.attr_values(attrs)
    options = chip.options or Options()
    return KernelSide(str(op.folder), chip.soc, chip.cores, chip.ub, attrs, options, op.lists)


def _other(op: Op, one: KernelSide, chip: Chip, text: str, kernels: tuple[str, ...]) -> Side:
    """Return the side that the text of --against names."""
    name, colon, words = text.partition(":")
    if "=" in name:
        return _kernel(op, chip, {**one.attrs, **_values(text, text)})
    values = _values(words, text) if colon else {}
    if name == "definition":
        return definition_side(op, one.attrs, values)
    if name == "torch":
        if values:
            raise RequestError(f"--against {text!r}: torch takes the attributes of --attr")
        return TorchSide(str(op.folder), dict(one.attrs))
    try:
        return _kernel(with_counts(load(name, kernels), {}), chip, values)
    except RequestError as error:
        raise RequestError(
            f"--against {text!r}: use ATTR=VALUE, OP[:ATTR=VALUE], definition or torch; {error}"
        ) from error


def _values(words: str, text: str) -> dict[str, str]:
    found = {}
    for word in words.split(","):
        name, equals, value = word.partition("=")
        if not (equals and name.strip() and value.strip()):
            raise RequestError(f"--against {text!r}: write attributes as NAME=VALUE")
        found[name.strip()] = value.strip()
    return found
