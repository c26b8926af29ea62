"""Both phases of a call, made from its declaration."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from ascendsim.errors import AscendError, RequestError
from ascendsim.host.acl import codes
from ascendsim.host.acl.device import AclError
from ascendsim.host.acl.runtime import RUNTIME
from ascendsim.host.aclnn.checks import RUNTIME_ERROR, check
from ascendsim.host.aclnn.declare import Aclnn, Scalar
from ascendsim.host.aclnn.executor import aclOpExecutor, submit
from ascendsim.host.aclnn.graph import Graph
from ascendsim.host.aclnn.handles import is_null
from ascendsim.host.loader import fingerprint, search_path
from ascendsim.host.numbers import round_float32
from ascendsim.host.op import Op, find_ops, load

FILE = "op_aclnn.py"
_found: dict[tuple[Any, ...], tuple[object, Op, Callable[..., Any]]] = {}  # calls by name and path


def declaration(op: Op) -> Aclnn | None:
    """Return the two-phase call that a kernel folder declares, None for none.

    Raises
    ------
    RequestError
        When op_aclnn.py does not set ACLNN = Aclnn(...), or names other chips than op_def.py.
    """
    if op.aclnn is None:
        return None
    call = getattr(op.aclnn, "ACLNN", None)
    if not isinstance(call, Aclnn):
        raise RequestError(f"{op.folder / FILE} does not set ACLNN = Aclnn(...)")
    registered = {soc for soc, found in op.definition.products.items() if found != "no"}
    if set(call.dtypes) != registered:
        text = ", ".join(sorted(set(call.dtypes) ^ registered))
        raise RequestError(f"{op.folder / FILE}: dtypes and op_def.py disagree about {text}")
    return call


def find(name: str) -> Callable[..., Any] | None:
    """Return the phase called `name` of a kernel on the search path, None for none.

    Raises
    ------
    RequestError
        When there is none and a folder with a two-phase call cannot be loaded.
    """
    key = (name, *search_path())
    known = _found.get(key)
    if known is not None and known[0] == fingerprint(known[1].folder):
        return known[2]
    broken: list[AscendError] = []
    for folder in find_ops().values():
        if not (folder / FILE).is_file():
            continue
        try:
            op = load(folder)
            call = declaration(op)
        except AscendError as error:
            broken.append(error)
            continue
        if call is not None and name in (call.first_phase, call.second_phase):
            function = phases(op)[name == call.second_phase]
            _found[key] = (fingerprint(folder), op, function)
            return function
    if broken:
        raise broken[0]
    return None


def names() -> list[str]:
    """Return the names of all calls that `find` finds."""
    found = []
    for folder in find_ops().values():
        try:
            call = declaration(load(folder)) if (folder / FILE).is_file() else None
        except AscendError:
            continue
        found += [call.first_phase, call.second_phase] if call else []
    return found


def phases(op: Op) -> tuple[Callable[..., Any], Callable[..., int]]:
    """Return the functions of both phases of an operator.

    Raises
    ------
    RequestError
        When its folder has no op_aclnn.py.
    """
    call = declaration(op)
    if call is None:
        raise RequestError(f"{op.folder} has no {FILE}, so {op.name} has no two-phase call")
    return _first_phase(op, call), _second_phase(call)


def _first_phase(op: Op, call: Aclnn) -> Callable[..., tuple[int, int, aclOpExecutor | None]]:
    kinds = inspect.Parameter.POSITIONAL_OR_KEYWORD
    signature = inspect.Signature([inspect.Parameter(p.name, kinds) for p in call.params])

    def first(*args: Any, **kwargs: Any) -> tuple[int, int, aclOpExecutor | None]:
        given = signature.bind(*args, **kwargs).arguments
        try:
            executor = plan(op, call, given)
        except AclError as error:
            return RUNTIME.fail(call.first_phase, error), 0, None
        except AscendError as error:  # tiling of a what-if says no
            failure = AclError(RUNTIME_ERROR, str(error))
            return RUNTIME.fail(call.first_phase, failure), 0, None
        return codes.ACLNN_SUCCESS, executor.workspace_size, executor

    first.__name__ = first.__qualname__ = call.first_phase
    first.__signature__ = signature  # type: ignore[attr-defined]
    first.__doc__ = f"Return (status, workspace size, executor) of {call.second_phase}."
    return first


def _second_phase(call: Aclnn) -> Callable[..., int]:
    def second(workspace: int, workspaceSize: int, executor: Any, stream: int) -> int:
        try:
            submit(call, workspace, workspaceSize, executor, stream)
        except AclError as error:
            return RUNTIME.fail(call.second_phase, error)
        return codes.ACLNN_SUCCESS

    second.__name__ = second.__qualname__ = call.second_phase
    second.__doc__ = f"Put what {call.first_phase} planned into the stream; return the status."
    return second


def plan(op: Op, call: Aclnn, given: Mapping[str, Any]) -> aclOpExecutor:
    """Do the first phase: check, then build the graph; one without elements stays empty.

    Raises
    ------
    AclError
        With the code of the check that failed.
    """
    machine = RUNTIME.machine
    layouts = check(call, given, machine.soc.name)
    graph = Graph(call, op, machine)
    values = {p.name: graph.param(p.name, layouts[p.name], p.output) for p in call.tensors}
    if all(layouts[name].size for name in call.empty):
        scalars = {s.name: scalar_value(s, given[s.name]) for s in call.scalars}
        call.graph(graph, *((values | scalars)[param.name] for param in call.params))
    return aclOpExecutor(graph.place(), machine)


def scalar_value(param: Scalar, handle: Any) -> float:
    """Return what the kernel's attribute gets: the scalar cast to fp32, rounded once."""
    if is_null(handle):
        return param.default
    if isinstance(handle.value, int):
        return float(round_float32(str(int(handle.value))))
    return float(handle.value)
