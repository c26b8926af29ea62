"""OpDef and Attr: what op_def.py states about an operator, and the checks that follow from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ascendsim.dtypes import DType
from ascendsim.dtypes import dtype as find_dtype
from ascendsim.errors import RequestError, ShapeError
from ascendsim.host.numbers import parse_float32, parse_int
from ascendsim.soc import ALIASES, NAMES

Shape = tuple[int, ...]
TENSOR_NAMES = ("workspace",)  # what is in GM anyway
ATTR_NAMES = ("shape", "dtype", "soc", "cores", "ub", "fixed")  # what Op.tiling takes anyway
_TRUE, _FALSE = ("true", "1"), ("false", "0")


@dataclass(frozen=True, slots=True)
class Attr:
    """One attribute: `type` is float (held as fp32), int, bool or str."""

    name: str
    type: type = float
    default: Any = 0.0

    def value(self, given: Any) -> Any:
        """Return `given` (a number, or text as on the command line) as this attribute's value.

        Raises
        ------
        RequestError
            When it is no such value.
        """
        what = f"attribute {self.name}"
        if self.type is float:
            return parse_float32(given, what)
        if self.type is bool:
            word = str(given).lower()
            if word not in _TRUE + _FALSE:
                raise RequestError(f"{what}={given}: use true or false")
            return word in _TRUE
        if self.type is int:
            return parse_int(given, what)
        return str(given)

    def to_json(self) -> dict[str, Any]:
        """Return name, type and default; a float default with its raw bits."""
        default = self.value(self.default)
        shown = {"name": self.name, "type": self.type.__name__, "default": default}
        if isinstance(default, np.float32):
            shown |= {"default": float(default), "bits": f"{int(default.view(np.uint32)):#010x}"}
        return shown


@dataclass(frozen=True)
class OpDef:
    """An operator: names, attributes, element types, SoCs.

    inputs, outputs : tensor names, as in npz files and call logs.
    dtypes : names that all tensors share, or {tensor: names} whose columns are the combinations;
        an output that is not listed has the first input's type.
    socs : SoCs that the kernel is registered for; the first is the default.
    infer : `infer(ctx)` gives the outputs' shapes: one shape for all, a sequence of shapes or
        {output: shape}; default: the first input's. Raises ShapeError to refuse.
    sweep : the input that an atlas sweeps; default `x`, else the last.
    lists : those of inputs and outputs that are tensor lists (dynamic); see Op.with_lists.
    other_socs : SoCs whose product has the operator too, with another kernel than this one.
    """

    name: str
    inputs: tuple[str, ...] = ("x",)
    outputs: tuple[str, ...] = ("out",)
    attrs: tuple[Attr, ...] = ()
    dtypes: Any = ("float32",)
    socs: tuple[str, ...] = ("ascend910b1",)
    formats: tuple[str, ...] = ("ND",)
    infer: Callable[[Any], Any] | None = None
    sweep: str | None = None
    other_socs: tuple[str, ...] = ()
    lists: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for field in ("inputs", "outputs", "attrs", "socs", "formats", "other_socs", "lists"):
            value = getattr(self, field)
            if isinstance(value, (str, Attr)) or not isinstance(value, Iterable):
                raise self._refusal(f"{field}={value!r}: write a tuple like ({value!r},)")
            object.__setattr__(self, field, tuple(value))
        if not (self.inputs and self.outputs and self.socs):
            raise self._refusal("inputs, outputs and socs may not be empty")
        self._check_names()
        if unknown := set(self.lists) - set(self.tensors):
            raise self._refusal(f"lists names no tensor {sorted(unknown)}")
        if self.sweep is not None and self.sweep not in self.inputs:
            raise self._refusal(f"sweep={self.sweep!r} is no input")
        if not self.combinations:
            raise self._refusal("dtypes is empty")

    def _refusal(self, text: str) -> RequestError:
        return RequestError(f"OpDef {self.name!r}: {text}")

    def _check_names(self) -> None:
        if wrong := [each for each in self.attrs if not isinstance(each, Attr)]:
            raise self._refusal(f"attrs: {wrong[0]!r} is no Attr(name, type, default)")
        attrs = tuple(attr.name for attr in self.attrs)
        for names, taken in ((self.tensors, TENSOR_NAMES), (attrs, ATTR_NAMES)):
            for name in names:
                if not (isinstance(name, str) and name.isidentifier()):
                    raise self._refusal(f"{name!r} is no name: letters, digits and _ are")
                if names.count(name) > 1 or name in taken:
                    raise self._refusal(f"the name {name!r} is taken twice")
        for soc in (*self.socs, *self.other_socs):
            if str(soc).lower() not in (*NAMES, *ALIASES):
                raise self._refusal(f"SoC {soc!r} is unknown; use one of {', '.join(NAMES)}")

    @property
    def tensors(self) -> tuple[str, ...]:
        """Inputs, then outputs."""
        return self.inputs + self.outputs

    def product(self, soc: str) -> str:
        """Return whether the product with this SoC has the operator.

        "this kernel", "another kernel" (registered there, but not the one simulated here) or "no".
        """
        name = ALIASES.get(soc, soc)
        if name in {ALIASES.get(each, each) for each in self.socs}:
            return "this kernel"
        others = {ALIASES.get(each, each) for each in self.other_socs}
        return "another kernel" if name in others else "no"

    @property
    def products(self) -> dict[str, str]:
        """The product table: what `product` says of every SoC."""
        return {name: self.product(name) for name in NAMES}

    @property
    def sweep_input(self) -> str:
        """The input that an atlas sweeps."""
        return self.sweep or ("x" if "x" in self.inputs else self.inputs[-1])

    @property
    def combinations(self) -> list[dict[str, DType]]:
        """Every supported combination of element types, tensor by tensor."""
        if not isinstance(self.dtypes, Mapping):
            names = (self.dtypes,) if isinstance(self.dtypes, str) else self.dtypes
            return [dict.fromkeys(self.tensors, find_dtype(name)) for name in names]
        table = {tensor: tuple(names) for tensor, names in self.dtypes.items()}
        if unknown := table.keys() - set(self.tensors):
            raise RequestError(f"OpDef {self.name!r}: dtypes names no tensor {sorted(unknown)}")
        if missing := set(self.inputs) - table.keys():
            raise RequestError(f"OpDef {self.name!r}: dtypes lacks {sorted(missing)}")
        if len({len(names) for names in table.values()}) != 1:
            raise RequestError(f"OpDef {self.name!r}: the rows of dtypes differ in length")
        for output in self.outputs:
            table.setdefault(output, table[self.inputs[0]])
        columns = zip(*(table[tensor] for tensor in self.tensors), strict=True)
        return [dict(zip(self.tensors, map(find_dtype, col), strict=True)) for col in columns]

    def choose_dtypes(self, wanted: Any) -> dict[str, DType]:
        """Return the first supported combination that fits `wanted`.

        `wanted` is the first input's type, or {tensor: type} for some of the tensors.

        Raises
        ------
        RequestError
            When a type or tensor is unknown.
        ShapeError
            When the definition has no such combination; the text lists those that it has.
        """
        named = wanted if isinstance(wanted, Mapping) else {self.inputs[0]: wanted}
        asked = {tensor: self._asked(tensor, name) for tensor, name in named.items()}
        if unknown := asked.keys() - set(self.tensors):
            tensors = ", ".join(self.tensors)
            raise RequestError(
                f"{self.name} has no tensor {sorted(unknown)[0]!r}; it has {tensors}"
            )
        for combination in self.combinations:
            if all(combination[tensor] is asked[tensor] for tensor in asked):
                return combination
        text = ", ".join(f"{tensor} {name}" for tensor, name in asked.items())
        if not isinstance(self.dtypes, Mapping) and len(set(asked.values())) > 1:
            text += ": all tensors must have one type"
        raise ShapeError(f"{self.name} does not take {text}; it takes {self.dtype_text()}")

    def _asked(self, tensor: str, name: Any) -> DType:
        """Return the type that is asked for; that of an array may be one of numpy's alone."""
        try:
            return find_dtype(name)
        except RequestError as error:
            if not isinstance(name, np.dtype):
                raise
            raise RequestError(
                f"{self.name} does not take {tensor} {name}; it takes {self.dtype_text()}: "
                f"convert the array, .astype(np.float32) say"
            ) from error

    def dtype_text(self) -> str:
        """Return the supported types in words."""
        if isinstance(self.dtypes, Mapping):
            shown = (" ".join(f"{k}={v}" for k, v in c.items()) for c in self.combinations)
            return "; ".join(shown)
        return ", ".join(c[self.inputs[0]].name for c in self.combinations)

    def attr_values(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return every attribute's value: `given` where named, else the default.

        Raises
        ------
        RequestError
            On an attribute that the definition lacks, or a value that does not fit.
        """
        for name in given:
            self.attr(name)
        return {a.name: a.value(given.get(a.name, a.default)) for a in self.attrs}

    def attr(self, name: str) -> Attr:
        """Return the attribute called `name`."""
        for found in self.attrs:
            if found.name == name:
                return found
        known = ", ".join(a.name for a in self.attrs)
        text = f"it has {known}" if known else "it has none"
        raise RequestError(f"{self.name} has no attribute {name!r}; {text}")

    def to_json(self) -> dict[str, Any]:
        """Return the row of `ascendsim ops --json`."""
        if isinstance(self.dtypes, Mapping):
            dtypes: Any = [{k: v.name for k, v in c.items()} for c in self.combinations]
        else:
            dtypes = [c[self.inputs[0]].name for c in self.combinations]
        return {
            "name": self.name,
            "dtypes": dtypes,
            "socs": list(self.socs),
            "inputs": list(self.inputs),
            "outputs": list(self.outputs),
            "attrs": [a.to_json() for a in self.attrs],
        }


def parse_attr(definition: OpDef, text: str) -> tuple[str, Any]:
    """Return name and value of `NAME=VALUE`; VALUE is a number, a word or raw bits 0x....

    Raises
    ------
    RequestError
        When the attribute is unknown or the value does not fit.
    """
    name, equals, value = text.partition("=")
    if not equals:
        raise RequestError(f"attribute {text!r}: write NAME=VALUE")
    return name, definition.attr(name).value(value)


def check_shapes(definition: OpDef, shapes: Any) -> dict[str, Shape]:
    """Return {input: shape} of one shape for all inputs or a mapping that names every input.

    Raises
    ------
    RequestError
        On an unknown or missing input, a negative or non-integer dimension.
    """
    named = shapes if isinstance(shapes, Mapping) else dict.fromkeys(definition.inputs, shapes)
    for name in named:
        if name not in definition.inputs:
            known = ", ".join(definition.inputs)
            raise RequestError(f"{definition.name} has no input {name!r}; it has {known}")
    if missing := [name for name in definition.inputs if name not in named]:
        raise RequestError(f"{definition.name} needs a shape for {', '.join(missing)}")
    return {name: check_shape(named[name]) for name in definition.inputs}


def check_shape(shape: Any) -> Shape:
    """Return `shape` as a tuple of integers not below 0; an integer stands for one dimension."""
    dims = (shape,) if isinstance(shape, (int, np.integer)) else shape
    try:
        clean = tuple(int(d) if int(d) == d else -1 for d in dims)
    except (TypeError, ValueError):
        clean = (-1,)
    if any(d < 0 for d in clean):
        raise RequestError(f"shape {shape!r}: dimensions are integers not below 0")
    return clean
