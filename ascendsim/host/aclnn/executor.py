"""aclOpExecutor: a planned call. Its second phase checks it and puts it into a stream."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np

from ascendsim.host.acl.device import AclError, Task
from ascendsim.host.acl.runtime import RUNTIME, Machine, reports, whole
from ascendsim.host.aclnn.checks import INVALID, NULL, RUNTIME_ERROR
from ascendsim.host.aclnn.declare import Aclnn
from ascendsim.host.aclnn.graph import Graph, Node, Value
from ascendsim.host.aclnn.handles import is_null
from ascendsim.host.aclnn.layout import Layout
from ascendsim.host.aclnn.movers import cast_steps, convert, move, plan_move
from ascendsim.host.job import make_job
from ascendsim.host.tiling import CeilAlign, CeilDiv
from ascendsim.launch import Job, Readers, Result, launch

ONE_CORE_NUM = 1024  # a copy or cast of fewer elements runs on one core
CAST_ALIGN_NUM = 64


@dataclass(slots=True, eq=False)
class aclOpExecutor:
    """A planned call: `print` shows its graph.

    runs : after the stream was synchronised, one entry per node with the warnings and the
    evidence of its launch (none for the AI CPU).
    """

    graph: Graph
    machine: Machine
    used: bool = False
    destroyed: bool = False
    runs: list[tuple[Node, Result | None]] = field(default_factory=list)

    @property
    def workspace_size(self) -> int:
        """Bytes that the second phase needs."""
        return self.graph.workspace_size

    @property
    def warnings(self) -> list[str]:
        """What the launches had to say, node by node."""
        notes = [f"{node.op}: {node.note}" for node in self.graph.nodes if node.note]
        told = [
            f"{node.op}: {text}"
            for node, result in self.runs
            for text in (result.warnings if result is not None else ())
            if not (node.op == "ViewCopy" and text.startswith("coverage"))  # gaps are its purpose
        ]
        return notes + told

    def __str__(self) -> str:
        return str(self.graph)


@reports(prefix="aclnn")
def aclDestroyAclOpExecutor(executor: aclOpExecutor | None) -> None:
    """End an executor that was not used; a used one has ended with its second phase."""
    if is_null(executor):
        raise AclError(NULL, "the executor is null")
    if not isinstance(executor, aclOpExecutor):
        raise AclError(INVALID, f"{executor!r} is no aclOpExecutor")
    if executor.destroyed:
        raise AclError(RUNTIME_ERROR, "the executor was destroyed before")
    executor.destroyed = True


def submit(call: Aclnn, workspace: Any, workspace_size: Any, executor: Any, stream: Any) -> None:
    """Do the second phase of `call`: check, then put the work into the stream.

    Raises
    ------
    AclError
        161001 for a null executor or stream, 361001 for everything else. The executor stays
        usable then.
    """
    for name, handle in (("executor", executor), ("stream", stream)):
        if is_null(handle):
            raise AclError(NULL, f"{name} is null")
    RUNTIME.need_init(RUNTIME_ERROR)
    if not isinstance(executor, aclOpExecutor):
        raise AclError(RUNTIME_ERROR, f"{executor!r} is no aclOpExecutor")
    graph = executor.graph
    if graph.call is not call:
        raise AclError(RUNTIME_ERROR, f"the executor was made for {graph.call.second_phase}")
    if executor.used or executor.destroyed:
        how = "used" if executor.used else "destroyed"
        raise AclError(RUNTIME_ERROR, f"the executor was {how} before: make one per call")
    target = RUNTIME.stream(stream, RUNTIME_ERROR)
    address = _workspace(graph, workspace, workspace_size)
    for value in graph.params if graph.nodes else ():
        _memory(value.layout, value.name)
    executor.used = True
    target.tasks.append(Task(call.second_phase, lambda: run(executor, address)))


def _workspace(graph: Graph, workspace: Any, workspace_size: Any) -> int:
    """Return the address of a workspace that is large enough and lies over no tensor."""
    need = graph.workspace_size
    try:
        address, size = whole(workspace, "workspace"), whole(workspace_size, "workspaceSize")
        if need == 0 and size >= 0:
            return 0
        if need == 0:
            raise AclError(RUNTIME_ERROR, f"workspaceSize is {size}: bytes are not below 0")
        if address == 0:
            raise AclError(RUNTIME_ERROR, f"workspace is null, but {need} bytes are needed")
        if size < need:
            raise AclError(RUNTIME_ERROR, f"workspaceSize is {size}, but {need} bytes are needed")
        RUNTIME.memory.bytes_at(address, size, "workspace")
    except AclError as error:
        raise AclError(RUNTIME_ERROR, error.message) from None
    for value in graph.params:
        start, stop = value.layout.start, value.layout.start + value.layout.span_bytes
        if address < stop and start < address + need:
            raise AclError(RUNTIME_ERROR, f"the workspace lies over {value.name}")
    return address


def run(executor: aclOpExecutor, workspace: int) -> None:
    """Run the nodes in their order.

    Raises
    ------
    AclError
        361001 when memory is gone meanwhile or a kernel fails; the text names the node.
    """
    for number, node in enumerate(executor.graph.nodes, 1):
        arrays = {
            name: _array(value.at(workspace), value.name) for name, value in node.inputs.items()
        }
        out = _array(node.output.at(workspace), node.output.name)
        try:
            result = _run_node(executor, node, arrays, out)
        except MemoryError:
            raise AclError(RUNTIME_ERROR, f"node {number} {node.op}: no memory left") from None
        executor.runs.append((node, result))


def _run_node(
    executor: aclOpExecutor, node: Node, arrays: Mapping[str, np.ndarray], out: np.ndarray
) -> Result | None:
    machine = executor.machine
    if node.tiling is not None:
        op, options = executor.graph.op, machine.options
        result = launch(make_job(op, arrays, node.tiling, None, machine.seed, options), Readers())
        out[...] = result.outputs[op.definition.outputs[0]]
        return result
    (source,) = arrays.values()
    (value,) = node.inputs.values()
    if node.op == "Cast":
        result = launch(_cast_job(machine, source, value, node.output), Readers())
        out[...] = result.outputs["dst"].reshape(out.shape)
        return result
    if node.engine != "AIV":
        out[...] = source
        return None
    result = launch(_move_job(machine, source, out, value, node.output), Readers())
    _flat(out)[...] = result.outputs["dst"]
    return result


def _cast_job(machine: Machine, source: np.ndarray, value: Value, out: Value) -> Job:
    total = value.layout.size
    cores = 1 if total < ONE_CORE_NUM else machine.cores or machine.soc.aiv_cores
    length = CeilAlign(CeilDiv(total, cores), CAST_ALIGN_NUM)
    steps = cast_steps(machine.soc, value.dtype, out.dtype)
    exact = "DataCopyPad" in machine.soc.ops
    tiling = SimpleNamespace(totalLength=total, blockLength=length, steps=steps, exact=exact)
    return _job(
        machine,
        convert,
        (source.reshape(-1), value),
        (out, None),
        (tiling, CeilDiv(total, length)),
    )


def _move_job(
    machine: Machine, source: np.ndarray, target: np.ndarray, value: Value, out: Value
) -> Job:
    plan = plan_move(value.layout, out.layout)
    cores = 1 if value.layout.size < ONE_CORE_NUM else machine.cores or machine.soc.aiv_cores
    return _job(
        machine,
        move,
        (_flat(source), value),
        (out, _flat(target)),
        (SimpleNamespace(plan=plan), max(min(plan.rows, cores), 1)),
    )


def _job(machine: Machine, kernel: Any, source: Any, target: Any, work: Any) -> Job:
    """Return the job of a copy or a cast from a flat `src` to a flat `dst`."""
    (array, value), (out, before), (tiling, block_dim) = source, target, work
    size = out.layout.span
    fields = tuple(vars(tiling).values())
    return Job(
        name=kernel.__name__,
        kernel=kernel,
        inputs={"src": array},
        input_types={"src": value.dtype},
        outputs={"dst": ((size,), out.dtype)},
        tiling=tiling,
        block_dim=block_dim,
        workspace=0,
        soc=machine.soc,
        ub_bytes=machine.soc.ub_bytes,
        options=machine.options,
        seed=machine.seed,
        identity=(kernel, fields, block_dim, value.dtype, array.size, out.dtype, size),
        initial={} if before is None else {"dst": before},
    )


def _array(layout: Layout, name: str) -> np.ndarray:
    """Return a view as an array on device memory."""
    return layout.view_on(_memory(layout, name))


def _memory(layout: Layout, name: str) -> np.ndarray:
    """Return the bytes that a view spans."""
    try:
        return RUNTIME.memory.bytes_at(layout.start, layout.span_bytes, name)
    except AclError as error:
        raise AclError(RUNTIME_ERROR, error.message) from None


def _flat(array: np.ndarray) -> np.ndarray:
    """Return the span of a strided array, from its first element to its last, as one row."""
    size = 1 + sum(
        (n - 1) * stride // array.itemsize
        for n, stride in zip(array.shape, array.strides, strict=True)
    )
    return np.lib.stride_tricks.as_strided(array, (size,), (array.itemsize,))
