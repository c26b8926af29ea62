"""The operator's definition as a side of an atlas, rounded once to the type of the output.

Quick way: `definition` of op_ref.py, or `formula` where it holds what cannot be followed, becomes
a program over balls (traced.py). Inputs whose ball straddles a rounding boundary go to exact
arithmetic, `definition` itself, and are counted. Infinities and NaN go there too, one call for
each different one. Without a program everything does.

A definition has its own defaults for the attributes (one sixth itself, not the nearest float32). It
gets a value only for an attribute that was asked for and is not within one ULP of the operator's
default: such a literal stands for the default.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from ascendsim.dtypes import dtype as find_dtype
from ascendsim.errors import AscendError, RequestError
from ascendsim.explore.atlas.space import FORMATS, Space
from ascendsim.explore.atlas.traced import Functions, traced
from ascendsim.host import Attr, Op, load
from ascendsim.numerics import enclosure
from ascendsim.numerics.enclosure import Real
from ascendsim.numerics.rounding import Format, round_to

KNOWN = 1 << 18  # exact results of special inputs that are remembered
MOST_BITS = 4000  # of an enclosure that is asked for


@dataclass(frozen=True, slots=True)
class DefinitionSide:
    """`definition` of a kernel folder with attributes (fractions, or what is no number).

    taken : attributes whose value stands for the definition's own default, with that value.
    """

    folder: str
    attrs: Mapping[str, Any] = field(default_factory=dict)
    taken: Mapping[str, str] = field(default_factory=dict)

    def open(self, space: Space) -> DefinitionSource:
        """Return the definition, ready to evaluate."""
        return DefinitionSource(self, space)

    def describe(self) -> dict[str, Any]:
        """Return kind, name and attributes."""
        attrs: dict[str, Any] = {name: str(value) for name, value in self.attrs.items()}
        attrs |= {name: f"its own default, for {text}" for name, text in self.taken.items()}
        return {"kind": "definition", "name": "definition", "attrs": attrs}


def definition_side(op: Op, asked: Mapping[str, Any], named: Mapping[str, str]) -> DefinitionSide:
    """Return the side for the kernel's attributes `asked`; `named` ones are the definition's own.

    Raises
    ------
    RequestError
        When the operator has no definition, or an attribute is unknown.
    """
    function = getattr(op.ref, "definition", None)
    if function is None:
        raise RequestError(f"{op.name} has no definition(...) in op_ref.py to compare with")
    parameters = inspect.signature(function).parameters
    values, taken = {}, {}
    for name, text in named.items():
        values[name] = _fraction(op.definition.attr(name), text)
    for attr in op.definition.attrs:
        if attr.name not in parameters or attr.name in values:
            continue
        own = parameters[attr.name].default is not inspect.Parameter.empty
        value = attr.value(asked.get(attr.name, attr.default))
        if not own or (attr.name in asked and not _close(value, attr)):
            values[attr.name] = _exact(value)
        elif value != attr.value(attr.default):
            taken[attr.name] = f"{int(value.view(np.uint32)):#010x}"
    return DefinitionSide(str(op.folder), values, taken)


def _close(value: Any, attr: Attr) -> bool:
    """Return whether a value is the attribute's default or a float32 neighbour of it."""
    default = attr.value(attr.default)
    if not isinstance(default, np.float32):
        return bool(value == default)
    return abs(int(value.view(np.int32)) - int(default.view(np.int32))) <= 1


def _fraction(attr: Attr, text: str) -> Any:
    if attr.type is float and not text.lower().startswith("0x"):
        try:
            return Fraction(text)
        except (ValueError, ZeroDivisionError) as error:
            raise RequestError(f"definition:{attr.name}={text}: write 1/6, 0.5 or 0x...") from error
    return _exact(attr.value(text))


def _exact(value: Any) -> Any:
    if isinstance(value, np.floating):
        return Fraction(float(value)) if np.isfinite(value) else float(value)
    return value


class DefinitionSource:
    """Evaluates a definition. exact : inputs that straddled a boundary, so far."""

    signed_zero = False

    def __init__(self, side: DefinitionSide, space: Space) -> None:
        self.op, self.attrs, self.space = load(side.folder), dict(side.attrs), space
        self.exact = 0
        self._known: dict[tuple[int, ...], int] = {}
        self._changing = [n for n in self.op.definition.inputs if n not in space.fixed]
        self.program = self._traced()

    def bits(self, start: int, count: int) -> np.ndarray:
        """Return the results of indices start, start + 1, ..."""
        return self.at(np.arange(start, start + count, dtype=np.uint64))

    def checksum(self, start: int, count: int) -> int | None:
        """Return None: it is made from the results."""
        return None

    def at(self, indices: np.ndarray) -> np.ndarray:
        """Return the results of any indices; NaN is quiet, zero is +0."""
        patterns = self.space.patterns(indices)
        values = [_values(patterns[n], self.space.types[n]) for n in self._changing]
        special = ~np.isfinite(values).all(axis=0)
        if self.program is None:
            bits, sure = np.zeros(indices.size, np.uint32), np.zeros(indices.size, bool)
        else:
            finite = [np.where(special, 1.0, each) for each in values] if special.any() else values
            bits, sure = self.program.evaluate(finite, self.space.out)
        straddling = ~sure & ~special
        self.exact += int(straddling.sum())
        for place in np.flatnonzero(straddling):
            bits[place] = self._rounded(int(indices[place]))
        if special.any():
            self._fill(bits, indices, patterns, np.flatnonzero(special))
        return bits

    def real(self, index: int) -> Real:
        """Return the exact result of one index, or an enclosure of it."""
        return self._real(index)

    def _traced(self) -> Any:
        formula = getattr(self.op.ref, "formula", None)
        arguments = [
            self._number(name, self.space.fixed[name]) if name in self.space.fixed else None
            for name in self.op.definition.inputs
        ]
        if not all(isinstance(each, Fraction) or each is None for each in arguments):
            return None
        if formula is None:
            return traced(lambda *given: self._definition(*given, **self.attrs), arguments)
        accepted = _accepted(formula, self.attrs)
        return traced(lambda *given: formula(Functions(), *given, **accepted), arguments)

    @property
    def _definition(self) -> Callable[..., Any]:
        return self.op.ref.definition  # type: ignore[union-attr]

    def _fill(
        self,
        bits: np.ndarray,
        indices: np.ndarray,
        patterns: Mapping[str, np.ndarray],
        places: np.ndarray,
    ) -> None:
        """Set the results of infinities and NaN, all NaN of a tensor being one."""
        columns = []
        for name in self._changing:
            fmt = FORMATS[self.space.types[name]]
            own = patterns[name][places].astype(np.int64)
            columns.append(np.where((own & (fmt.sign_bits - 1)) > fmt.inf_bits, -1, own))
        table, first, which = np.unique(
            np.array(columns), axis=1, return_index=True, return_inverse=True
        )
        results = np.empty(table.shape[1], np.uint32)
        for number, column in enumerate(table.T):
            key = tuple(int(each) for each in column)
            if key not in self._known:
                if len(self._known) >= KNOWN:
                    self._known.clear()
                self._known[key] = self._rounded(int(indices[places[first[number]]]))
            results[number] = self._known[key]
        bits[places] = results[which.reshape(-1)]

    def _rounded(self, index: int) -> int:
        """Return the pattern of one index by exact arithmetic."""
        fmt, precision = self.space.out, 80
        while True:
            found = self._real(index, precision if precision > 80 else 0)
            ends = [_round(Real(end, end), fmt) for end in (found.low, found.high)]
            if ends[0] == ends[1]:
                return ends[0]
            precision *= 2
            if precision > MOST_BITS or not _accepted(self._definition, {"bits": precision}):
                raise RequestError(
                    f"{self.op.name}: definition gives an enclosure too wide to round for index "
                    f"{index:#x}; give it a `bits` argument for the precision"
                )

    def _real(self, index: int, precision: int = 0) -> Real:
        patterns = self.space.patterns(np.array([index], np.uint64))
        bits = {**self.space.fixed, **{name: int(each[0]) for name, each in patterns.items()}}
        inputs = [self._number(name, bits[name]) for name in self.op.definition.inputs]
        more = {"bits": precision} if precision else {}
        try:
            found = self._definition(*inputs, **self.attrs, **more)
        except (AscendError, KeyboardInterrupt):
            raise
        except Exception as error:
            shown = ", ".join(f"{name} {bits[name]:#x}" for name in self.op.definition.inputs)
            raise RequestError(
                f"{self.op.folder / 'op_ref.py'}: definition fails for {shown}: "
                f"{type(error).__name__}: {error}"
            ) from error
        return enclosure.real(found[self.space.output] if isinstance(found, dict) else found)

    def _number(self, name: str, bits: int) -> Any:
        fmt = FORMATS.get(self.space.types[name])
        if fmt is not None:
            return enclosure.of_bits(bits, fmt).low
        return Fraction(int(find_dtype(self.space.types[name]).from_bits(bits)))


def _round(number: Real, fmt: Format) -> int:
    bits = round_to(number.value(), fmt)
    return 0 if bits == fmt.sign_bits else bits


def _values(bits: np.ndarray, name: str) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        return bits.view(find_dtype(name).numpy).astype(np.float64)


def _accepted(function: Callable[..., Any], attrs: Mapping[str, Any]) -> dict[str, Any]:
    parameters = inspect.signature(function).parameters
    return {name: value for name, value in attrs.items() if name in parameters}
