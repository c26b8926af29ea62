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

from ascendsim.numerics import families, jitcache, programs
from ascendsim.numerics.intrinsics import body_address, call_body, fill_bytes, load64, move_bytes
from ascendsim.numerics.opcodes import GEOMETRY
from ascendsim.numerics.strided import WORD_BYTES, run_strided

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
_loaded: dict[str, Callable] = {}


def opcode(name: str) -> int:
    """Return the OP word of a body; KeyError when there is no such body."""
    return NAMES[name]


def family_of(opcode: int) -> str:
    """Return the family that holds an OP word."""
    return _FAMILY_OF[opcode]


@cache
def entry(opcode: int) -> Entry:
    """Return the compiled function `(row address, scalar)` that runs rows with this OP word.

    It skips numba's type check: pass an int and a float, and a row that stays alive.
    """
    return jitcache.entry_point(_dispatcher(family_of(opcode)))


@cache
def address(opcode: int) -> int:
    """Return the machine address of the same function, as C `void (int64_t, double)`.

    For compiled loops over rows: `intrinsics.call_body(address, row, scalar)`.
    """
    return jitcache.address(_dispatcher(family_of(opcode)))


@cache
def mover() -> Callable[[int, int, int, int, int, int], None]:
    """Return the compiled function `move(dst, src, blocks, block bytes, dst pitch, src pitch)`.

    It copies blocks in order; within a block, source and destination may overlap.
    """
    return jitcache.entry_point(_dispatcher(MOVE))


@cache
def filler() -> Callable[[int, int, int], None]:
    """Return the compiled function `fill(dst, bytes, byte)`."""
    return jitcache.entry_point(_dispatcher(FILL))


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
        _dispatcher(unit)


def _dispatcher(unit: str) -> Callable:
    if unit not in _loaded:
        if unit == MOVE:
            _loaded[unit] = jitcache.compiled(_move_blocks, MOVE_SIGNATURE, unit)
        elif unit == FILL:
            _loaded[unit] = jitcache.compiled(_fill_bytes, FILL_SIGNATURE, unit)
        elif unit in families.PROGRAMS:
            _loaded[unit] = jitcache.compiled(programs.function(unit), ROW_SIGNATURE, unit)
        else:
            _loaded[unit] = jitcache.compiled(_family_function(unit), ROW_SIGNATURE, unit)
    return _loaded[unit]


def _family_function(family: str) -> Callable:
    def run(row, scalar):
        body = body_address(family)
        if load64(row + GEOMETRY * WORD_BYTES) == 0:
            call_body(body, row, scalar)
        else:
            run_strided(row, scalar, body)

    return run


def _move_blocks(dst, src, blocks, block_bytes, dst_pitch, src_pitch):
    for _ in range(blocks):
        move_bytes(dst, src, block_bytes)
        dst += dst_pitch
        src += src_pitch


def _fill_bytes(dst, nbytes, byte):
    fill_bytes(dst, nbytes, byte)
