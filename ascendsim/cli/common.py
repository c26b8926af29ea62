"""The options that several commands share, as groups, and what their words mean."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from ascendsim.errors import RequestError
from ascendsim.options import Options

_MOST_ELEMENTS = 1 << 62
_Words = list[str] | None

KERNELS = typer.Option(
    "--kernels", metavar="DIR", help="Also look for kernels in this directory (repeatable)."
)
OP = typer.Argument(metavar="OP", help="A kernel by name, a kernel folder, or a dotted module.")
LIST = typer.Option(
    "--list",
    metavar="NAME=NUMBER",
    help="Tensors in a list of OP (repeatable; lists not named have as many as the first, else 1).",
)


@dataclass(frozen=True, slots=True)
class Kernel:
    """Which operator, on which element types, with which attributes."""

    op: Annotated[str, OP]
    kernels: Annotated[_Words, KERNELS] = None
    dtype: Annotated[
        _Words,
        typer.Option(
            "--dtype",
            metavar="NAME|TENSOR=NAME",
            help="Element type of the first input, or of one tensor (repeatable; float32).",
        ),
    ] = None
    attr: Annotated[
        _Words,
        typer.Option(
            "--attr",
            metavar="NAME=VALUE",
            help="An attribute: a decimal number (rounded to fp32), raw bits 0x3e2aaaaa, or a "
            "word (repeatable).",
        ),
    ] = None

    lists: Annotated[_Words, LIST] = None

    def load(self) -> Any:
        """Return the operator, its tensor lists with as many tensors as asked for."""
        from ascendsim.host import load
        from ascendsim.host.lists import with_counts

        counts = list_counts(self.lists)
        return with_counts(load(self.op, kernels=tuple(self.kernels or ())), counts)

    def dtypes(self, definition: Any) -> dict[str, str]:
        """Return {tensor: type name}: the first input's, and the refinements."""
        chosen = {definition.inputs[0]: "float32"}
        named = set()
        for word in self.dtype or ():
            tensor, equals, name = word.partition("=")
            if not equals:
                tensor, name = definition.inputs[0], word
            if tensor in named:
                raise RequestError(f"--dtype {word!r}: the type of {tensor} is given twice")
            named.add(tensor)
            chosen[tensor] = name
        return chosen

    def attrs(self, definition: Any) -> dict[str, str]:
        """Return the attributes as words, every name known to the definition."""
        words = pairs(self.attr, "--attr")
        for name in words:
            definition.attr(name)
        return words


@dataclass(frozen=True, slots=True)
class Chip:
    """Which chip is simulated and what the tiling code is told about it."""

    soc: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The chip (default: the operator's first)."),
    ] = None
    cores: Annotated[
        int | None, typer.Option(metavar="N", help="Vector cores that tiling may use.")
    ] = None
    ub: Annotated[
        int | None,
        typer.Option(metavar="BYTES", help="Size of the simulated UB, also told to tiling."),
    ] = None

    def checked(self) -> dict[str, Any]:
        """Return the three as keyword arguments, with sizes that make sense."""
        for option, value in (("--cores", self.cores), ("--ub", self.ub)):
            if value is not None and value < 1:
                raise RequestError(f"{option} {value}: must be at least 1")
        return {"soc": self.soc, "cores": self.cores, "ub": self.ub}

    def beyond(self, soc: str) -> list[str]:
        """Return a warning for each size above what the chip `soc` has."""
        from ascendsim.soc import load

        chip = load(soc)
        limits = (
            ("--cores", self.cores, chip.aiv_cores, "vector cores"),
            ("--ub", self.ub, chip.ub_physical_bytes, "bytes of UB"),
        )
        return [
            f"what-if: {option} {asked}: {chip.name} has {there} {what}"
            for option, asked, there, what in limits
            if asked is not None and asked > there
        ]


@dataclass(frozen=True, slots=True)
class Choices:
    """Which choices of the model."""

    profile: Annotated[
        str, typer.Option(metavar="documented|ieee", help="A set of model options.")
    ] = "documented"
    option: Annotated[
        _Words,
        typer.Option(
            metavar="NAME=VALUE", help="One model option; see 'ascendsim explain options'."
        ),
    ] = None

    def options(self) -> Options:
        """Return the options."""
        return Options.of(self.profile, pairs(self.option, "--option"))


@dataclass(frozen=True, slots=True)
class Size:
    """How many elements."""

    shape: Annotated[
        str | None, typer.Option(metavar="7,3", help="Shape of the inputs; () is a scalar.")
    ] = None
    n: Annotated[
        int | None, typer.Option("--n", metavar="N", help="Number of elements, as shape N.")
    ] = None

    def asked(self) -> tuple[int, ...] | None:
        """Return the shape, or None when neither option was given."""
        if self.n is not None and self.n < 0:
            raise RequestError(f"--n {self.n}: must not be negative")
        shape = None if self.shape is None else _dimensions(self.shape)
        if self.n is not None:
            if shape is not None and math.prod(shape) != self.n:
                raise RequestError(
                    f"--n {self.n} and --shape {self.shape} disagree: the shape has "
                    f"{math.prod(shape)} elements; give one of the two"
                )
            shape = shape if shape is not None else (self.n,)
        if shape is not None and math.prod(shape) > _MOST_ELEMENTS:
            raise RequestError(f"shape {shape}: more than 2^62 elements")
        return shape


@dataclass(frozen=True, slots=True)
class Split:
    """Values that replace what the tiling function found."""

    tiling: Annotated[
        _Words,
        typer.Option(
            "--tiling",
            metavar="FIELD=VALUE",
            help="Replace a tiling field after the tiling function (repeatable); nothing else "
            "is recomputed.",
        ),
    ] = None
    block_dim: Annotated[
        int | None,
        typer.Option("--block-dim", metavar="N", help="Replace the number of blocks, 1..65535."),
    ] = None

    def applied(self, tiling: Any) -> Any:
        """Return `tiling` with the replacements."""
        settings = pairs(self.tiling, "--tiling")
        if not settings and self.block_dim is None:
            return tiling
        return tiling.replace(settings, block_dim=self.block_dim)


@dataclass(frozen=True, slots=True)
class Request:
    """The operator, its size, the chip and the split: what every command over one OP takes."""

    kernel: Kernel
    size: Size
    chip: Chip
    split: Split

    def tiled(self, op: Any, shape: Any) -> Any:
        """Return the tiling of `op` for `shape` (one for all inputs, or by input)."""
        names, attrs = self.kernel.dtypes(op.definition), self.kernel.attrs(op.definition)
        return self.split.applied(op.tiling(shape, names, **self.chip.checked(), **attrs))


def pairs(words: Sequence[str] | None, option: str) -> dict[str, str]:
    """Return `NAME=VALUE` words as a dict.

    Raises
    ------
    RequestError
        When a word has no `=`, no name or no value, or a name comes twice.
    """
    found: dict[str, str] = {}
    for word in words or ():
        name, equals, value = word.partition("=")
        if not (equals and name.strip() and value.strip()):
            raise RequestError(f"{option} {word!r}: write it as NAME=VALUE")
        if name.strip() in found:
            raise RequestError(f"{option} {word!r}: {name.strip()} is given twice")
        found[name.strip()] = value.strip()
    return found


def list_counts(words: Sequence[str] | None) -> dict[str, int]:
    """Return {tensor list: number of tensors} of the words of --list."""
    counts = {}
    for name, value in pairs(words, "--list").items():
        if not (value.isascii() and value.isdigit()):
            raise RequestError(f"--list {name}={value}: give a whole number of tensors")
        counts[name] = int(value)
    return counts


def _dimensions(text: str) -> tuple[int, ...]:
    inner = text.strip().replace("x", ",")
    try:
        if inner in ("()", "[]"):
            return ()
        words = inner.strip("()[]").removesuffix(",").split(",")
        shape = tuple(int(word) for word in words)
    except ValueError:
        shape = (-1,)
    if any(size < 0 for size in shape):
        raise RequestError(f"--shape {text!r}: write whole numbers like 7,3; () is a scalar")
    return shape
