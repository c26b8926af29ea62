"""The compiled loop over the rows of a plan: replay.

It calls the bodies of `numerics/vexec.py` by address, so step mode and replay run the same machine
code. Source of the compiled cache's key: `jitcache.COMPILED_SOURCES` names this file.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from ascendsim.engine.words import (
    BLOCKS,
    DST_PITCH,
    DST_SPACE,
    FUNCTION,
    NBYTES,
    ROW_WORDS,
    SRC_PITCH,
    SRC_SPACE,
)
from ascendsim.numerics import jitcache
from ascendsim.numerics.intrinsics import call_body, load64, move_bytes
from ascendsim.numerics.opcodes import DST, SRC0

SIGNATURE = "void(int64, int64[:,::1], float64[::1], int64[:,::1], int64[::1])"
UNIT = "replay"
WORD_BYTES = 8
ROW_BYTES = ROW_WORDS * WORD_BYTES


@cache
def runner() -> Callable[..., None]:
    """Return the compiled function `run(rows, entries, scalars, blocks, bases)`.

    rows : address of the rows, with absolute UB addresses; bases : address of each space
    entries, scalars, blocks : tables of plan.py. It does not hold the GIL.
    """
    return jitcache.entry_point(jitcache.compiled(_run, SIGNATURE, UNIT, nogil=True))


def _run(rows, entries, scalars, blocks, bases):
    for block in range(blocks.shape[0]):
        number = blocks[block, 2]
        for entry in range(blocks[block, 0], blocks[block, 1]):
            row = rows + entries[entry, 0] * ROW_BYTES
            function = load64(row + FUNCTION * WORD_BYTES)
            if function != 0:
                call_body(function, row, scalars[entry])
                continue
            place = entries[entry, 1] + entries[entry, 2] * number
            target = load64(row + DST * WORD_BYTES)
            source = load64(row + SRC0 * WORD_BYTES)
            dst_space = load64(row + DST_SPACE * WORD_BYTES)
            src_space = load64(row + SRC_SPACE * WORD_BYTES)
            if src_space >= 0:
                source += bases[src_space]
            if dst_space >= 0:
                target += bases[dst_space] + place
            else:
                source += place
            nbytes = load64(row + NBYTES * WORD_BYTES)
            for _ in range(load64(row + BLOCKS * WORD_BYTES)):
                move_bytes(target, source, nbytes)
                target += load64(row + DST_PITCH * WORD_BYTES)
                source += load64(row + SRC_PITCH * WORD_BYTES)
