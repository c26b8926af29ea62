"""The ACL runtime, with the names and return conventions of pyACL, on a simulated device.

acl.init(); acl.rt.set_device(0); stream, ret = acl.rt.create_stream()
ptr, ret = acl.rt.malloc(32, acl.ACL_MEM_MALLOC_HUGE_FIRST)
ret = acl.rt.memcpy(ptr, 32, acl.util.numpy_to_ptr(x), 32, acl.ACL_MEMCPY_HOST_TO_DEVICE)

Calls never raise for what they are given: they return a code, and `get_recent_err_msg` gives the
reason. Work of a stream is done when the stream is synchronised. `simulate` chooses the chip.
"""

from __future__ import annotations

from typing import Any

from ascendsim import soc as socs
from ascendsim.host.acl import codes, rt, util
from ascendsim.host.acl.codes import *  # noqa: F403
from ascendsim.host.acl.codes import ACL_ERROR_INVALID_PARAM, ACL_ERROR_REPEAT_INITIALIZE
from ascendsim.host.acl.device import AclError
from ascendsim.host.acl.runtime import RUNTIME, Machine, reports
from ascendsim.options import Options
from ascendsim.soc import Soc

__all__ = [
    "finalize",
    "get_recent_err_msg",
    "get_soc_name",
    "init",
    "rt",
    "simulate",
    "util",
    *(name for name in vars(codes) if name.startswith("ACL")),
]


@reports(prefix="acl")
def init(config_path: str | None = None) -> None:
    """Initialise; every other call of a program comes after it.

    `config_path` stands for the JSON file of ACL, of which nothing applies here.
    """
    if config_path is not None and not (isinstance(config_path, str) and config_path == ""):
        raise AclError(
            ACL_ERROR_INVALID_PARAM,
            f"config_path {config_path!r}: settings of a file are not modelled; use acl.simulate",
        )
    if RUNTIME.initialized:
        raise AclError(ACL_ERROR_REPEAT_INITIALIZE, "acl is initialised; call it once")
    RUNTIME.initialized = True


@reports(prefix="acl")
def finalize() -> None:
    """Reset the device and forget everything; the code tells whether a waiting task failed."""
    RUNTIME.need_init()
    try:
        RUNTIME.reset_device("acl.finalize")
    finally:
        RUNTIME.host.release()
        RUNTIME.initialized = False


def get_recent_err_msg() -> str:
    """Return the reason of the newest failure as `function: code: reason`, "" for none.

    It stays until the next failure.
    """
    return RUNTIME.message


def get_soc_name() -> str:
    """Return the name of the simulated chip."""
    return RUNTIME.machine.soc.name


def simulate(
    soc: str | Soc,
    cores: int | None = None,
    ub: int | None = None,
    options: Options | None = None,
    seed: int = 0,
) -> None:
    """Choose what is simulated, before `init`; not part of ACL, where a program finds its chip.

    cores, ub : what tiling code is told in place of the chip's own.

    Raises
    ------
    AclError
        While acl is initialised.
    RequestError
        When there is no such chip.
    """
    if RUNTIME.initialized:
        raise AclError(ACL_ERROR_REPEAT_INITIALIZE, "acl.simulate comes before acl.init")
    chip: Any = soc if isinstance(soc, Soc) else socs.load(soc)
    RUNTIME.machine = Machine(chip, cores, ub, options or Options(), seed)
