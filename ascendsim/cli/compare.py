"""`ascendsim compare`: where the same kernel and data part between two chips or option sets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import typer

from ascendsim.cli.common import Chip, Kernel, Request, Size, Split, pairs
from ascendsim.cli.groups import takes_groups
from ascendsim.cli.run import Data
from ascendsim.cli.show import Show, warn
from ascendsim.errors import RequestError
from ascendsim.options import Options

_Words = list[str] | None


@dataclass(frozen=True, slots=True)
class Chips:
    """The chips of the two sides, and what tiling code is told about both."""

    soc: Annotated[
        _Words,
        typer.Option(
            metavar="NAME", help="The chip of side a, then that of side b; once: of both."
        ),
    ] = None
    cores: Annotated[
        int | None, typer.Option(metavar="N", help="Vector cores that tiling may use, on both.")
    ] = None
    ub: Annotated[
        int | None, typer.Option(metavar="BYTES", help="Size of the simulated UB, on both.")
    ] = None

    def pair(self) -> tuple[Chip, Chip]:
        """Return both sides' chips."""
        names = _pair(self.soc, "--soc", None)
        chips = (Chip(names[0], self.cores, self.ub), Chip(names[1], self.cores, self.ub))
        chips[0].checked()
        return chips


@dataclass(frozen=True, slots=True)
class Choices:
    """The options of the model on the two sides."""

    profile: Annotated[
        _Words,
        typer.Option(
            metavar="documented|ieee", help="The profile of side a, then of side b; once: of both."
        ),
    ] = None
    option: Annotated[
        _Words, typer.Option(metavar="NAME=VALUE", help="One model option, on both sides.")
    ] = None
    against_option: Annotated[
        _Words,
        typer.Option("--against-option", metavar="NAME=VALUE", help="One on side b alone."),
    ] = None

    def pair(self) -> tuple[Options, Options]:
        """Return both sides' options."""
        profiles = _pair(self.profile, "--profile", "documented")
        both, other = pairs(self.option, "--option"), pairs(self.against_option, "--against-option")
        return Options.of(profiles[0], both), Options.of(profiles[1], both | other)


def _pair(words: _Words, option: str, default: Any) -> tuple[Any, Any]:
    if words is not None and len(words) > 2:
        raise RequestError(f"{option} {words[2]}: there are two sides, give it twice at most")
    first, *second = words or [default]
    return first, second[0] if second else first


@takes_groups
def compare(
    kernel: Kernel,
    size: Size,
    chips: Chips,
    split: Split,
    choices: Choices,
    data: Data,
    show: Show,
) -> None:
    """Show where OP parts between two chips or option sets, by which rule, how well known.

    Side a is the first --soc and --profile, side b the second. Without --input or --random the
    data are boundary values of the element types.
    """
    from ascendsim.explore.compare import Side
    from ascendsim.explore.compare import compare as compared

    both, options, op = chips.pair(), choices.pair(), kernel.load()
    sides = [Side(chip.soc, chosen) for chip, chosen in zip(both, options, strict=True)]
    request = Request(kernel, size, both[0], split)
    how = {"cores": chips.cores, "ub": chips.ub, "dtype": kernel.dtypes(op.definition)}
    found = compared(
        op,
        sides[0],
        sides[1],
        _arrays(request, op, data),
        adjust=split.applied,
        seed=data.seed,
        **how,
        **kernel.attrs(op.definition),
    )
    beyond = [text for chip, soc in zip(both, found.socs, strict=True) for text in chip.beyond(soc)]
    for warning in dict.fromkeys([*beyond, *found.warnings]):
        warn(warning)
    show.result(found.to_json(), lambda: str(found))


def _arrays(request: Request, op: Any, data: Data) -> dict[str, Any]:
    """Return the inputs: as asked for, else boundary values in the shape asked for."""
    if data.input is not None or data.random or data.seed < 0:
        data.check()
        return data.arrays(request, op)
    import math

    from ascendsim.explore.boundary import boundary_inputs

    types = op.definition.choose_dtypes(request.kernel.dtypes(op.definition))
    shape = request.size.asked()
    wanted = {name: types[name] for name in op.definition.inputs}
    made = boundary_inputs(wanted, None if shape is None else math.prod(shape))
    return made if shape is None else {name: each.reshape(shape) for name, each in made.items()}
