"""Graph: what a first phase plans, as values and nodes in the order in which they run.

A declaration's `graph(g, *params)` builds it with the verbs of the published host code:

    grad = g.Cast(g.Contiguous(gradOutput), common)
    y = g.Kernel(grad=grad, x=x, alpha=1 / 6)
    g.ViewCopy(g.Cast(y, out.dtype), out)

A verb that has nothing to do adds no node: Contiguous of a contiguous tensor, Cast to its own
type, ViewCopy to a contiguous output (the node before it writes there at once).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ascendsim.dtypes import DType
from ascendsim.errors import UnsupportedError
from ascendsim.host.acl.runtime import Machine
from ascendsim.host.aclnn.checks import promoted
from ascendsim.host.aclnn.declare import Aclnn
from ascendsim.host.aclnn.layout import Ints, Layout, row_major
from ascendsim.host.op import Op
from ascendsim.host.tiling import Tiling

WORKSPACE_ALIGNMENT = 512
INPUT, OUTPUT, WORKSPACE = "input", "output", "workspace"


@dataclass(frozen=True, slots=True)
class Value:
    """A tensor of the graph: a parameter, or an intermediate at `place` of the workspace."""

    name: str
    role: str
    layout: Layout
    place: int = 0

    @property
    def dtype(self) -> DType:
        """Element type."""
        return self.layout.dtype

    @property
    def room(self) -> int:
        """Bytes of workspace that it takes."""
        whole = -(-self.layout.nbytes // WORKSPACE_ALIGNMENT) * WORKSPACE_ALIGNMENT
        return whole if self.role == WORKSPACE else 0

    def at(self, workspace: int) -> Layout:
        """Return the layout, with the address that the workspace gives."""
        if self.role != WORKSPACE:
            return self.layout
        return replace(self.layout, address=workspace + self.place)

    def __str__(self) -> str:
        shape = "x".join(map(str, self.layout.shape)) or "scalar"
        return f"{self.name} {self.dtype} {shape}"


@dataclass(frozen=True, slots=True)
class Node:
    """One operator of the graph.

    op : its type. engine : AIV, or AI CPU for copies on chips whose DMA cannot do them. chip : SoC
    that computes it. tiling : of the operator's own kernel. note : what is assumed of it.
    """

    op: str
    inputs: Mapping[str, Value]
    output: Value
    engine: str
    chip: str
    attrs: Mapping[str, float] = field(default_factory=dict)
    note: str = ""
    tiling: Tiling | None = None


class Graph:
    """Nodes in their order; the verbs add to them."""

    def __init__(self, call: Aclnn, op: Op, machine: Machine) -> None:
        self.call, self.op, self.machine, self.soc = call, op, machine, machine.soc
        self.params: list[Value] = []
        self.nodes: list[Node] = []
        self.scratch = 0  # bytes of kernel workspace, as tiling asks for it

    def param(self, name: str, layout: Layout, output: bool) -> Value:
        """Add a parameter of the call."""
        self.params.append(Value(name, OUTPUT if output else INPUT, layout))
        return self.params[-1]

    def promoted(self, *values: Value) -> DType:
        """Return the type that the values are computed in together."""
        return promoted(*(value.dtype for value in values))

    def Contiguous(self, value: Value) -> Value:
        """Return the value without gaps between its elements."""
        if value.layout.contiguous:
            return value
        return self._copy("Contiguous", value, self._intermediate(value.layout.shape, value.dtype))

    def Cast(self, value: Value, dtype: DType) -> Value:
        """Return the contiguous value in another type."""
        if value.dtype is dtype:
            return value
        made = self._intermediate(value.layout.shape, dtype)
        self._add(Node("Cast", {"x": value}, made, "AIV", self.soc.name))
        return made

    def Kernel(self, **arguments: Any) -> Value:
        """Run the operator; arguments are the kernel's inputs and attributes by name."""
        definition, own = self.op.definition, self.soc.name
        if len(definition.outputs) != 1:
            raise UnsupportedError(f"{self.op.name} has several outputs; Kernel gives one")
        inputs = {name: arguments.pop(name) for name in definition.inputs}
        chip = self.call.stand_in.get(own, own)
        tiling = self.op.tiling(
            {name: value.layout.shape for name, value in inputs.items()},
            {name: value.dtype for name, value in inputs.items()},
            soc=chip,
            cores=self.machine.cores,
            ub=self.machine.ub,
            **arguments,
        )
        self.scratch += sum(tiling.workspace)
        (output,) = definition.outputs
        made = self._intermediate(tiling.output_shapes[output], tiling.dtypes[output])
        note = definition.product(own) == "another kernel"
        text = f"{own} has another kernel, this one stands in for it (assumed)" if note else ""
        operator = self.call.operator.type
        self._add(Node(operator, inputs, made, "AIV", chip, tiling.attrs, text, tiling))
        return made

    def ViewCopy(self, value: Value, out: Value) -> None:
        """Store the contiguous value in the output."""
        made_here = self.nodes and self.nodes[-1].output is value
        if made_here and out.layout.contiguous and value.dtype is out.dtype:
            self.nodes[-1] = replace(self.nodes[-1], output=out)
        else:
            self._copy("ViewCopy", value, out)

    @property
    def intermediates(self) -> list[Value]:
        """What lies in the workspace, in its order."""
        return [node.output for node in self.nodes if node.output.role == WORKSPACE]

    @property
    def workspace_size(self) -> int:
        """Bytes of all intermediates, each in whole 512 bytes, and of kernel workspace."""
        return sum(value.room for value in self.intermediates) + self.scratch

    def to_json(self) -> dict[str, Any]:
        """Return the graph as JSON: what pictures are made of."""
        values = {value.name: value for value in (*self.params, *self.intermediates)}
        return {
            "call": self.call.second_phase,
            "soc": self.soc.name,
            "workspace": self.workspace_size,
            "values": [_value_json(value) for value in values.values()],
            "nodes": [_node_json(node) for node in self.nodes],
        }

    def __str__(self) -> str:
        lines = [f"{self.call.second_phase} on {self.soc.name}, workspace {self.workspace_size}"]
        lines += [f"  {value.role:<7}{value}{_where(value)}" for value in self.params]
        if not self.nodes:
            lines.append("  nothing to run")
        for number, node in enumerate(self.nodes, 1):
            inputs = ", ".join(value.name for value in node.inputs.values())
            attrs = "".join(f" {name}={value:.9g}" for name, value in node.attrs.items())
            place = f" at workspace+{node.output.place}" if node.output.room else ""
            lines.append(
                f"  {number} {node.op:<16} {inputs} -> {node.output}{place}{attrs} "
                f"[{node.engine} {node.chip}]"
            )
            lines += [f"    {node.note}"] if node.note else []
        return "\n".join(lines)

    def _copy(self, op: str, value: Value, to: Value) -> Value:
        engine = "AIV" if "DataCopyPad" in self.soc.ops else "AI CPU"
        note = "" if engine == "AIV" else "no DataCopyPad: copied off the core (assumed)"
        self._add(Node(op, {"x": value}, to, engine, self.soc.name, note=note))
        return to

    def _intermediate(self, shape: Ints, dtype: DType) -> Value:
        layout = Layout(dtype, shape, row_major(shape))
        return Value(f"%{len(self.nodes) + 1}", WORKSPACE, layout)

    def _add(self, node: Node) -> None:
        self.nodes.append(node)

    def place(self) -> Graph:
        """Give every intermediate its place in the workspace; the graph is complete then."""
        start, placed = 0, {}
        for value in self.intermediates:
            placed[value.name] = replace(value, place=start)
            start += value.room
        self.nodes = [
            replace(
                node,
                inputs={name: placed.get(v.name, v) for name, v in node.inputs.items()},
                output=placed.get(node.output.name, node.output),
            )
            for node in self.nodes
        ]
        return self


def _where(value: Value) -> str:
    layout = value.layout
    if layout.contiguous and not layout.offset:
        return ""
    return f" strides {list(layout.strides)} offset {layout.offset}"


def _value_json(value: Value) -> dict[str, Any]:
    layout = value.layout
    return {
        "name": value.name,
        "role": value.role,
        "dtype": layout.dtype.name,
        "shape": list(layout.shape),
        "strides": list(layout.strides),
        "offset": layout.offset,
        "contiguous": layout.contiguous,
        "workspace_offset": value.place if value.role == WORKSPACE else None,
        "workspace_bytes": value.room,
    }


def _node_json(node: Node) -> dict[str, Any]:
    return {
        "op": node.op,
        "inputs": [value.name for value in node.inputs.values()],
        "output": node.output.name,
        "attrs": {name: float(value) for name, value in node.attrs.items()},
        "engine": node.engine,
        "chip": node.chip,
        "note": node.note,
    }
