"""What numba compiles for `vexec`: a function per family or unit of programs, two for bytes."""

from __future__ import annotations

from collections.abc import Callable

from ascendsim.numerics import programs
from ascendsim.numerics.intrinsics import body_address, call_body, fill_bytes, load64, move_bytes
from ascendsim.numerics.opcodes import GEOMETRY
from ascendsim.numerics.strided import WORD_BYTES, run_strided


def family_function(family: str) -> Callable:
    """Return the function `(row, scalar)` that runs rows of a family."""

    def run(row, scalar):
        body = body_address(family)
        if load64(row + GEOMETRY * WORD_BYTES) == 0:
            call_body(body, row, scalar)
        else:
            run_strided(row, scalar, body)

    return run


def program_function(unit: str) -> Callable:
    """Return the function `(row, scalar)` that runs rows of a unit of programs."""
    return programs.function(unit)


def move_blocks(dst, src, blocks, block_bytes, dst_pitch, src_pitch):
    """Copy blocks in order; within a block, source and destination may overlap."""
    for _ in range(blocks):
        move_bytes(dst, src, block_bytes)
        dst += dst_pitch
        src += src_pitch


def fill_all(dst, nbytes, byte):
    """Set bytes to one value."""
    fill_bytes(dst, nbytes, byte)
