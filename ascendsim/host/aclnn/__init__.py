"""Two-phase calls: aclTensor, aclScalar, aclOpExecutor and `aclnnXGetWorkspaceSize` / `aclnnX`.

status, size, executor = aclnn.aclnnXGetWorkspaceSize(gradOutput, self, out)
status = aclnn.aclnnX(workspace, size, executor, stream)

Both are found by attribute access, for every kernel folder on the search path that declares them
in op_aclnn.py. A status that is not 0 has its reason in `acl.get_recent_err_msg()`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ascendsim.host.aclnn.declare import (
    EQUAL,
    PROMOTED,
    Aclnn,
    Formal,
    Operator,
    Scalar,
    Tensor,
)
from ascendsim.host.aclnn.executor import aclDestroyAclOpExecutor, aclOpExecutor
from ascendsim.host.aclnn.handles import (
    aclCreateScalar,
    aclCreateTensor,
    aclDestroyScalar,
    aclDestroyTensor,
    aclScalar,
    aclTensor,
)
from ascendsim.host.aclnn.phases import declaration, find, names, phases

__all__ = [
    "EQUAL",
    "PROMOTED",
    "Aclnn",
    "Formal",
    "Operator",
    "Scalar",
    "Tensor",
    "aclCreateScalar",
    "aclCreateTensor",
    "aclDestroyAclOpExecutor",
    "aclDestroyScalar",
    "aclDestroyTensor",
    "aclOpExecutor",
    "aclScalar",
    "aclTensor",
    "declaration",
    "phases",
]


def __getattr__(name: str) -> Callable[..., Any]:
    """Find a phase of a kernel folder."""
    found = find(name) if name.startswith("aclnn") else None
    if found is None:
        known = ", ".join(names())
        raise AttributeError(f"there is no {name}; the calls of the kernel folders are {known}")
    return found


def __dir__() -> list[str]:
    return sorted([*__all__, *names()])
