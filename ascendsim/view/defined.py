"""What an operator's definition (op_ref.py) gives for one element of a recorded run."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ascendsim.errors import RequestError
from ascendsim.record import GM

if TYPE_CHECKING:  # every run has a Defined, few ask it
    from ascendsim.numerics.enclosure import Real
    from ascendsim.view.lane_graph import Graph


class Defined:
    """Calls `definition` with an element's inputs (fractions, infinities, NaN) and attributes.

    `find` gives the operator when it is needed; `origin` is the tiling's.
    """

    def __init__(self, find: Callable[[], Any], origin: Any) -> None:
        self._find, self.origin = find, origin

    def __call__(self, graph: Graph) -> Real:
        """Return the exact result of the graph's element, or an enclosure of it.

        Raises
        ------
        RequestError
            When the operator has no definition, or an input is no float tensor or was not read.
        """
        from ascendsim.numerics.enclosure import real

        op = self._find()
        definition = getattr(op.ref, "definition", None)
        if definition is None or self.origin is None:
            raise RequestError(
                f"{op.name} has no exact definition: write definition(...) in op_ref.py, "
                f"and use a tiling made by op.tiling()"
            )
        inputs = [self._input(graph, name) for name in op.definition.inputs]
        attrs = {
            name: float(value) if isinstance(value, float) or hasattr(value, "dtype") else value
            for name, value in self.origin.attrs.items()
        }
        found = definition(*inputs, **attrs)
        return real(found[graph.output] if isinstance(found, dict) else found)

    def _input(self, graph: Graph, name: str) -> Any:
        index = graph.index % max(math.prod(self.origin.shapes[name]), 1)
        for leaf in graph.leaves:
            if leaf.tensor == name and leaf.index == index:
                return _number(name, leaf.bits, leaf.dtype)
        dtype = self.origin.dtypes[name]
        start = index * dtype.nbytes
        for entry in graph.entries:
            for access in entry.instr.call.accesses:
                if access.space == GM and access.holder.name == name:
                    memory = access.holder.memory[start : start + dtype.nbytes]
                    return _number(name, int.from_bytes(memory.tobytes(), "little"), dtype)
        raise RequestError(f"no recorded call reads input {name}")


def _number(name: str, bits: int, dtype: Any) -> Any:
    from ascendsim.numerics.enclosure import of_bits
    from ascendsim.view.exact_lane import FORMATS

    fmt = FORMATS.get(dtype.name)
    if fmt is None:
        raise RequestError(f"input {name} is {dtype}: lanes of float tensors can be explained")
    return of_bits(bits, fmt).low
