"""The compiled loop over the rows of a plan: replay.

It calls the bodies of `numerics/vexec.py` by address, so step mode and replay run the same machine
code. Its source is table_loop.py, which is needed only when it is compiled.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from ascendsim.numerics import jitcache

SIGNATURE = "void(int64, int64, int64, int64, int64, int64, int64)"
UNIT = "replay"


@cache
def runner() -> Callable[..., None]:
    """Return the compiled function `run(rows, entries, scalars, blocks, count, bases, refused)`.

    All but `count`, the number of lines of `blocks`, are addresses: of the rows, with absolute UB
    addresses; of the tables of plan.py; of the address of each space; of a word that becomes 1 when
    an instruction refuses its data. It does not hold the GIL.
    """
    return jitcache.unit(UNIT, SIGNATURE, _source, nogil=True).call


def _source() -> Callable[..., None]:
    from ascendsim.engine import table_loop

    return table_loop.run
