"""Blocks that wait for one another, and the scalar data cache between them.

A block that waits lets the others run (core.turns, made by launch); nothing else ever changes
which block runs. Records are made as the call arrives and as it leaves, so that both show what
they store.
Manual chapters: inter-core synchronisation; cache control.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from ascendsim import dtypes
from ascendsim.core import observed
from ascendsim.enums import DATABLOCK_BYTES, PIPE
from ascendsim.errors import BoundsError, ContractError, DtypeError, QueueError, UnsupportedError
from ascendsim.isa.footprint import whole
from ascendsim.isa.geometry import CopyShape
from ascendsim.isa.program import program
from ascendsim.record import GM, UB, Access, Call, current_core

WORDS_PER_BLOCK = DATABLOCK_BYTES // 4
MAX_EVENT = 65535
HARD = ("c220", "3510")


@program("block-turns", "soft-sync")
def SyncAll(gmWorkspace: Any = None, ubWorkspace: Any = None, usedCores: int = 0) -> None:
    """Wait until all blocks have come here.

    Without arguments it is the hardware's own (910B and 950); with an int32 GlobalTensor, zeroed,
    and an int32 LocalTensor of GetBlockNum() * 32 bytes each it works through GM, for the first
    usedCores blocks (0: all). All pipes of the block are done before. A launch must not have more
    blocks than the chip has cores. The time that blocks wait for one another is not predicted.
    """
    core = current_core()
    _check_blocks("SyncAll", core)
    if gmWorkspace is None and ubWorkspace is None:
        if core.soc.arch not in HARD:
            raise UnsupportedError(
                f"SyncAll: {core.soc.name} has no hardware synchronisation: pass gmWorkspace and "
                f"ubWorkspace"
            )
        core.relied_on(("block-turns",), "SyncAll")
        _record(core, "SyncAll", {"phase": "arrive"})
        if core.turns is not None and core.executing:
            core.turns.meet(core.block)
        _record(core, "SyncAll", {"phase": "leave"})
        return
    used = whole("SyncAll", "usedCores", usedCores, 0, int(core.block_num)) or int(core.block_num)
    _check_workspaces("SyncAll", core, gmWorkspace, ubWorkspace, core.block_num, used)
    core.relied_on(("block-turns", "soft-sync"), "SyncAll")
    _sync_softly(core, gmWorkspace, ubWorkspace, used)


@program("block-turns", "ib-flags")
def IBSet(gmWorkspace: Any, ubWorkspace: Any, blockIdx: int, eventID: int) -> None:
    """Tell another block, which waits in IBWait with the same blockIdx and eventID, to go on.

    gmWorkspace is an int32 GlobalTensor, zeroed, with 32 bytes for each (eventID, blockIdx);
    ubWorkspace an int32 LocalTensor of 32 bytes. A flag that is still set is waited for first.
    """
    _flag("IBSet", (gmWorkspace, ubWorkspace), (blockIdx, eventID), (0, 1))


@program("block-turns", "ib-flags")
def IBWait(gmWorkspace: Any, ubWorkspace: Any, blockIdx: int, eventID: int) -> None:
    """Wait for IBSet of another block with the same blockIdx and eventID, and clear its flag."""
    _flag("IBWait", (gmWorkspace, ubWorkspace), (blockIdx, eventID), (1, 0))


@program("data-cache")
def DataCacheCleanAndInvalid(*arguments: Any) -> None:
    """Write lines of the scalar data cache back to GM and forget them: a fence without effect here.

    Arguments: (gm), or (T, CacheLine, DcciDst, gm) with the template arguments first. Scalar
    accesses are coherent here, so nothing changes; on hardware SetValue to GM needs it.
    """
    tensor: Any = arguments[-1] if arguments else None
    if getattr(tensor, "space", None) not in (GM, UB):
        raise ContractError(
            f"DataCacheCleanAndInvalid: {tensor!r} is no tensor: the last argument says where"
        )
    core = current_core()
    if "DataCacheCleanAndInvalid" not in core.soc.ops:
        raise UnsupportedError(f"{core.soc.name} has no DataCacheCleanAndInvalid; leave it out")
    core.relied_on(("data-cache",), "DataCacheCleanAndInvalid")
    _record(core, "DataCacheCleanAndInvalid", {"dtype": tensor.dtype}, pipe=PIPE.PIPE_S)


def _sync_softly(core: Any, gm: Any, ub: Any, used: int) -> None:
    """Count up this block's word, wait for those of the others, and leave a copy in UB."""
    block = core.block
    start = gm.start + block * DATABLOCK_BYTES
    if core.executing:
        words = _words(gm, core.block_num)
        count = int(words[block]) + 1
        if core.turns is not None and count != core.turns.soft_count(block, gm.address) + 1:
            raise ContractError(
                f"SyncAll: the word of block {block} in gmWorkspace ({gm!r}) is {count - 1}: the "
                f"workspace must be zeroed before the launch, else blocks pass too early or hang"
            )
    access = Access("dst", GM, gm.holder, start, gm.dtype, True, 4, 4, 0)

    def arrive(address: int, scalar: float) -> None:
        words[block] = count

    def leave(address: int, scalar: float) -> None:
        ub_words = core.ub.array[ub.start : ub.start + used * DATABLOCK_BYTES]
        ub_words[:] = gm.holder.memory[gm.start : gm.start + used * DATABLOCK_BYTES]

    _do(core, "SyncAll", {"phase": "arrive"}, (access,), arrive)
    if core.executing:
        text = f"{used} blocks must call SyncAll with this workspace"
        _wait(core, lambda: int(words[:used].sum()) >= used * count, "SyncAll", text)
    span = used * DATABLOCK_BYTES
    copy = Access("dst", UB, ub.buffer, ub.start, ub.dtype, True, span, span, 0)
    _do(core, "SyncAll", {"phase": "leave"}, (copy,), leave)


def _flag(
    name: str, workspaces: tuple[Any, Any], place: tuple[Any, Any], change: tuple[int, int]
) -> None:
    """Wait until the word of (blockIdx, eventID) is `change[0]` and store `change[1]`."""
    core = current_core()
    gm, ub = workspaces
    _check_blocks(name, core)
    block = whole(name, "blockIdx", place[0], 0, int(core.block_num) - 1)
    event = whole(name, "eventID", place[1], 0, MAX_EVENT)
    index = int(core.block_num) * event + block
    _check_workspaces(name, core, gm, ub, index + 1, 1)
    core.relied_on(("block-turns", "ib-flags"), name)
    before, after = change
    if core.executing:
        words = _words(gm, index + 1)
        partner = "IBSet" if name == "IBWait" else "IBWait"
        text = f"no block calls {partner} with blockIdx {block} and eventID {event}"
        text += (
            "" if words[index] in (0, 1) else f"; its word is {words[index]}: zero the workspace"
        )
        _wait(core, lambda: int(words[index]) == before, name, text)

    def execute(address: int, scalar: float) -> None:
        words[index] = after
        start = gm.start + index * DATABLOCK_BYTES
        line = gm.holder.memory[start : start + DATABLOCK_BYTES]
        core.ub.array[ub.start : ub.start + DATABLOCK_BYTES] = line

    accesses = (
        Access("dst", GM, gm.holder, gm.start + index * DATABLOCK_BYTES, gm.dtype, True, 4, 4, 0),
        Access("tmp", UB, ub.buffer, ub.start, ub.dtype, True, DATABLOCK_BYTES, DATABLOCK_BYTES, 0),
    )
    _do(core, name, {"blockIdx": block, "eventID": event}, accesses, execute)


def _wait(core: Any, ready: Callable[[], bool], name: str, text: str) -> None:
    """Let other blocks run until `ready()`; `text` says what would have to happen."""
    if core.turns is not None:
        core.turns.wait(core.block, ready, f"{name} waits for ever: {text}")
    elif not ready():
        raise QueueError(f"{name} waits for ever: {text}", finding="synccheck:block-deadlock")


def _words(gm: Any, blocks: int) -> np.ndarray:
    """Return the words of a workspace, one per 32 bytes: a view."""
    memory = gm.holder.memory[gm.start : gm.start + int(blocks) * DATABLOCK_BYTES]
    return memory.view(np.int32)[::WORDS_PER_BLOCK]


def _check_blocks(name: str, core: Any) -> None:
    if core.block_num > core.soc.aiv_cores:
        raise ContractError(
            f"{name}: {core.block_num} blocks on {core.soc.aiv_cores} cores of {core.soc.name}: "
            f"blocks that wait must all run at once, so this hangs; use at most "
            f"{core.soc.aiv_cores} blocks",
            finding="synccheck:block-deadlock",
        )


def _check_workspaces(name: str, core: Any, gm: Any, ub: Any, lines: Any, ub_lines: int) -> None:
    if getattr(gm, "space", None) != GM or getattr(ub, "space", None) != UB:
        raise ContractError(
            f"{name}: gmWorkspace is {gm!r} and ubWorkspace is {ub!r}: pass a GlobalTensor and a "
            f"LocalTensor of int32"
        )
    for what, tensor in (("gmWorkspace", gm), ("ubWorkspace", ub)):
        if tensor.dtype is not dtypes.int32:
            raise DtypeError(f"{name}: {what} is {tensor.dtype}: it must be int32")
    gm.touch(name, "gmWorkspace", int(lines) * DATABLOCK_BYTES, True)
    if not ub.buffer.state:
        raise QueueError(
            f"{name}: ubWorkspace is {ub!r}, whose buffer was freed",
            finding="memcheck:use-after-free",
            about=ub.buffer,
        )
    if ub.nbytes < ub_lines * DATABLOCK_BYTES:
        raise BoundsError(
            f"{name}: ubWorkspace is {ub!r} of {ub.nbytes} bytes: {ub_lines * DATABLOCK_BYTES} are "
            f"needed (32 per block); use a larger buffer"
        )
    ub.written(ub_lines * DATABLOCK_BYTES)


def _do(
    core: Any, name: str, fields: dict[str, Any], accesses: tuple[Access, ...], execute: Any
) -> None:
    """Run `execute`, with a record of what it stores when somebody reads along."""
    if core.readers:
        _record(core, name, fields, accesses, execute if core.executing else None)
    elif core.executing:
        execute(0, 0.0)


def _record(
    core: Any,
    name: str,
    fields: dict[str, Any],
    accesses: tuple[Access, ...] = (),
    execute: Any = None,
    pipe: PIPE = PIPE.PIPE_ALL,
) -> None:
    if not core.readers:
        return
    depth = 2
    call = Call(
        *(name, pipe, core, accesses, execute),
        geometry=CopyShape(1) if accesses else None,
        fields=fields,
        meets=pipe is PIPE.PIPE_ALL,
    )
    while _inside(depth):
        depth += 1
    observed(core, call, depth=depth)


def _inside(depth: int) -> bool:
    """Return True while the frame that `observed` would take is one of this file."""
    return sys._getframe(depth).f_code.co_filename == __file__
