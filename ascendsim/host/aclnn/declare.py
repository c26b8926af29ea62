"""Aclnn: a two-phase call as data. `op_aclnn.py` of a kernel folder sets `ACLNN = Aclnn(...)`.

ACLNN = Aclnn(
    "LeakyRelu",                       # gives aclnnLeakyReluGetWorkspaceSize and aclnnLeakyRelu
    params=(Tensor("self"), Scalar("slope", "slope", 0.01), Tensor("out", output=True)),
    dtypes={"ascend910b1": ("float32", "float16")},
    relation=EQUAL,
    graph=graph,
)

`graph(g, self, slope, out)` builds what the first phase plans; see graph.py for its verbs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ascendsim.dtypes import dtype as find_dtype
from ascendsim.errors import RequestError
from ascendsim.soc import load as load_soc

EQUAL = "equal"  # all tensors have one element type
PROMOTED = "promoted"  # inputs may differ: computed in the promoted type, cast to the output's
MAX_RANK = 8


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor among the parameters of a two-phase call."""

    name: str
    output: bool = False


@dataclass(frozen=True, slots=True)
class Scalar:
    """An optional scalar among the parameters; null means `default`.

    attr : the attribute of the kernel that it sets.
    """

    name: str
    attr: str
    default: float


@dataclass(frozen=True, slots=True)
class Formal:
    """A tensor of the operator's definition: its name there, and what the kernel calls it.

    tensor : "" when the kernel is not given it. note : what else the definition says.
    """

    name: str
    tensor: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Operator:
    """The operator as its registration names it; the graph shows it under this name."""

    type: str
    inputs: tuple[Formal, ...]
    outputs: tuple[Formal, ...]
    attrs: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the definition as JSON."""
        rows = {
            side: [{"name": f.name, "kernel": f.tensor, "note": f.note} for f in formals]
            for side, formals in (("inputs", self.inputs), ("outputs", self.outputs))
        }
        return {"type": self.type, **rows, "attrs": dict(self.attrs)}


@dataclass(frozen=True)
class Aclnn:
    """One two-phase call.

    dtypes : element types per SoC; an SoC that is missing does not have the call.
    relation : EQUAL or PROMOTED. shapes : pairs of parameters that must agree.
    empty : parameters of which one without elements makes the call do nothing.
    formats : of which all tensors have the same one.
    stand_in : SoC to the SoC on which the kernel runs in its place, where the simulated kernel
        cannot run on the chip itself.
    """

    name: str
    params: tuple[Tensor | Scalar, ...]
    dtypes: Mapping[str, tuple[str, ...]]
    relation: str
    graph: Callable[..., None]
    operator: Operator
    shapes: tuple[tuple[str, str], ...] = ()
    empty: tuple[str, ...] = ()
    formats: tuple[str, ...] = ("ND",)
    stand_in: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.relation not in (EQUAL, PROMOTED):
            raise self._refusal(f"relation {self.relation!r}: use EQUAL or PROMOTED")
        names = {param.name for param in self.params}
        for name in (*self.empty, *(name for pair in self.shapes for name in pair)):
            if name not in names:
                raise self._refusal(f"{name!r} is no parameter")
        if not self.inputs or not self.outputs:
            raise self._refusal("an input and an output are needed")
        for soc, types in self.dtypes.items():
            load_soc(soc)
            for name in types:
                find_dtype(name)

    def _refusal(self, text: str) -> RequestError:
        return RequestError(f"Aclnn {self.name!r}: {text}")

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """The tensor parameters in their order."""
        return tuple(param for param in self.params if isinstance(param, Tensor))

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        """The tensor parameters that are read."""
        return tuple(param for param in self.tensors if not param.output)

    @property
    def outputs(self) -> tuple[Tensor, ...]:
        """The tensor parameters that are written."""
        return tuple(param for param in self.tensors if param.output)

    @property
    def scalars(self) -> tuple[Scalar, ...]:
        """The scalar parameters."""
        return tuple(param for param in self.params if isinstance(param, Scalar))

    @property
    def first_phase(self) -> str:
        """Name of the call that checks and plans."""
        return f"aclnn{self.name}GetWorkspaceSize"

    @property
    def second_phase(self) -> str:
        """Name of the call that runs."""
        return f"aclnn{self.name}"

    def to_json(self) -> dict[str, Any]:
        """Return the declaration as JSON."""
        return {
            "first_phase": f"{self.first_phase}({', '.join(p.name for p in self.params)})",
            "second_phase": f"{self.second_phase}(workspace, workspaceSize, executor, stream)",
            "operator": self.operator.to_json(),
            "dtypes": {soc: list(types) for soc, types in self.dtypes.items()},
            "relation": self.relation,
            "shapes": [list(pair) for pair in self.shapes],
            "empty": list(self.empty),
            "formats": list(self.formats),
            "max_rank": MAX_RANK,
        }
