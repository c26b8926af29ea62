"""Tensor lists (dynamic inputs and outputs): each becomes one tensor per entry, NAME_0, NAME_1, ...

The kernel still takes one argument per list, which it reads with ListTensorDesc.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps
from typing import Any

from ascendsim.errors import RequestError
from ascendsim.host.definition import OpDef
from ascendsim.tensor import GmAddressList

MAX_TENSORS = 256  # assumed: no text gives a limit


def entries(definition: OpDef, tensor: str, counts: Mapping[str, int]) -> tuple[str, ...]:
    """Return the names of the entries of a list, or the name of a plain tensor."""
    if tensor not in definition.lists:
        return (tensor,)
    return tuple(f"{tensor}_{k}" for k in range(counts[tensor]))


def check_counts(definition: OpDef, counts: Mapping[str, Any]) -> dict[str, int]:
    """Check that `counts` names every list of the definition, with a number of tensors.

    Raises
    ------
    RequestError
        When a list is missing or unknown, or a number is not 1..256.
    """
    if set(counts) != set(definition.lists):
        lists = ", ".join(definition.lists) or "none"
        raise RequestError(f"{definition.name} has these tensor lists: {lists}; give each a number")
    for name, count in counts.items():
        if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MAX_TENSORS:
            raise RequestError(f"{name}={count!r}: a list has 1..{MAX_TENSORS} tensors")
    return dict(counts)


def with_counts(op: Any, counts: Mapping[str, int]) -> Any:
    """Return an op with so many tensors in its lists; itself when it has none.

    A list that `counts` leaves out has as many as the first that it names, else one.

    Raises
    ------
    RequestError
        When a list is unknown, or a number is not 1..256.
    """
    if not (op.definition.lists or counts):
        return op
    common = next(iter(counts.values()), 1)
    return op.with_lists(**(dict.fromkeys(op.definition.lists, common) | dict(counts)))


def expanded(definition: OpDef, counts: Mapping[str, int]) -> OpDef:
    """Return the definition with the entries of each list in its place."""

    def spread(tensors: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(name for each in tensors for name in entries(definition, each, counts))

    dtypes = definition.dtypes
    if isinstance(dtypes, Mapping):
        dtypes = {n: row for t, row in dtypes.items() for n in entries(definition, t, counts)}
    return replace(
        definition,
        inputs=spread(definition.inputs),
        outputs=spread(definition.outputs),
        dtypes=dtypes,
        infer=definition.infer or _as_the_inputs(definition, counts),
        sweep=None,
        lists=(),
    )


def _as_the_inputs(definition: OpDef, counts: Mapping[str, int]) -> Callable[[Any], Any]:
    """Return the default shapes: entry k of an output list has the shape of entry k of an input's.

    A plain output has the shape of the first input.
    """
    first = definition.inputs[0]
    like = next((name for name in definition.inputs if name in definition.lists), first)

    def infer(ctx: Any) -> dict[str, Any]:
        found = {}
        for output in definition.outputs:
            for k, name in enumerate(entries(definition, output, counts)):
                source = entries(definition, like if output in definition.lists else first, counts)
                found[name] = ctx.shapes[source[k if k < len(source) else 0]]
        return found

    return infer


def bundled(
    kernel: Callable[..., None], definition: OpDef, counts: Mapping[str, int]
) -> Callable[..., None]:
    """Return the kernel such that it takes the tensors of all entries one by one."""
    tensors_of = {t: len(entries(definition, t, counts)) for t in definition.tensors}
    widths = [(t in definition.lists, width) for t, width in tensors_of.items()]

    @wraps(kernel)
    def run(*arguments: Any) -> None:
        *tensors, workspace, tiling = arguments
        left, passed = iter(tensors), []
        for is_list, width in widths:
            taken = [next(left) for _ in range(width)]
            passed.append(GmAddressList(taken) if is_list else taken[0])
        kernel(*passed, workspace, tiling)

    return run
