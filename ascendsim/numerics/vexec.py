"""The compiled bodies: the only code that touches data.

A call is a row of words (`opcodes`) and a scalar. `entry(opcode)` is the compiled function that
runs such a row; it belongs to a family of bodies that is compiled, or loaded from the cache, when
it is first asked for. Importing this module compiles nothing.

Body names: `add sub mul max min adds muls maxs mins abs compare compares` followed by `_float32`,
`_float16` or `_bfloat16`; `div sqrt exp ln` for the first two; `cast_<source>_<target>`;
`select_<bytes>`, `selects_<bytes>`, `duplicate_<bytes>`, `copy_<bytes>`. The scalar of `selects`
and `duplicate` is the raw pattern as a whole number, all others take the number itself, already
rounded to the element type. Programs (programs.py) have one name for all types: `tree`, `gather`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from ascendsim.numerics import families, jitcache
from ascendsim.numerics.objectcode import Unit

Entry = Callable[[int, float], None]

ROW_SIGNATURE = "void(int64, float64)"
MOVE_SIGNATURE = "void(int64, int64, int64, int64, int64, int64)"
FILL_SIGNATURE = "void(int64, int64, int64)"
MOVE, FILL = "move", "fill"

NAMES: dict[str, int] = families.opcodes()
FAMILIES: tuple[str, ...] = (*families.table(), *families.PROGRAMS)
_FAMILY_OF = {
    NAMES[name]: family
    for family, bodies in (*families.table().items(), *families.PROGRAMS.items())
    for name in bodies
}
_loaded: dict[str, Unit] = {}


def opcode(name: str) -> int:
    """Return the OP word of a body; KeyError when there is no such body."""
    return NAMES[name]


def family_of(opcode: int) -> str:
    """Return the family that holds an OP word."""
    return _FAMILY_OF[opcode]


@cache
def entry(opcode: int) -> Entry:
    """Return the compiled function `(row address, scalar)` that runs rows with this OP word.

    Pass an int and a float, and a row that stays alive.
    """
    return _unit(family_of(opcode)).call


@cache
def address(opcode: int) -> int:
    """Return the machine address of the same function, as C `void (int64_t, double)`.

    For compiled loops over rows: `intrinsics.call_body(address, row, scalar)`.
    """
    return _unit(family_of(opcode)).address


@cache
def mover() -> Callable[[int, int, int, int, int, int], None]:
    """Return the compiled function `move(dst, src, blocks, block bytes, dst pitch, src pitch)`.

    It copies blocks in order; within a block, source and destination may overlap.
    """
    return _unit(MOVE).call


@cache
def filler() -> Callable[[int, int, int], None]:
    """Return the compiled function `fill(dst, bytes, byte)`."""
    return _unit(FILL).call


def move(dst: int, src: int, blocks: int, block_bytes: int, dst_pitch: int, src_pitch: int) -> None:
    """Copy blocks of bytes; see `mover`, whose result is the faster thing to hold."""
    mover()(dst, src, blocks, block_bytes, dst_pitch, src_pitch)


def fill(dst: int, nbytes: int, byte: int) -> None:
    """Set bytes to one value; see `filler`."""
    filler()(dst, nbytes, byte)


def loaded_families() -> tuple[str, ...]:
    """Return the units that have been compiled or loaded so far."""
    return tuple(_loaded)


def warmup(progress: Callable[[str], None] | None = None) -> None:
    """Compile everything, so that later runs only load; `progress` is told each unit first."""
    for unit in (MOVE, FILL, *FAMILIES):
        if progress is not None:
            progress(unit)
        _unit(unit)


def _unit(name: str) -> Unit:
    if name not in _loaded:
        if name == MOVE:
            signature, make = MOVE_SIGNATURE, lambda: _units().move_blocks
        elif name == FILL:
            signature, make = FILL_SIGNATURE, lambda: _units().fill_all
        elif name in families.PROGRAMS:
            signature, make = ROW_SIGNATURE, lambda: _units().program_function(name)
        else:
            signature, make = ROW_SIGNATURE, lambda: _units().family_function(name)
        _loaded[name] = jitcache.unit(name, signature, make)
    return _loaded[name]


def _units() -> Any:
    """Return the sources of the units; numba loads with them, only when something is compiled."""
    from ascendsim.numerics import units

    return units
