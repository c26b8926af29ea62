"""What numba compiles for replay: the loop over the rows of a plan (table.py says of what)."""

from __future__ import annotations

from ascendsim.engine.words import (
    BLOCKS,
    CHECK,
    DST_PITCH,
    DST_SPACE,
    FUNCTION,
    NBYTES,
    ROW_WORDS,
    SRC_PITCH,
    SRC_SPACE,
    WORD_BYTES,
)
from ascendsim.numerics.intrinsics import call_body, load64, load_float64, move_bytes, store64
from ascendsim.numerics.opcodes import DST, SRC0

ROW_BYTES = ROW_WORDS * WORD_BYTES
TRIPLE_BYTES = 3 * WORD_BYTES  # of a line of entries or blocks


def run(rows, entries, scalars, blocks, count, bases, refused):
    """Execute `count` lines of `blocks`; see table.runner."""
    for _ in range(count):
        first, last = load64(blocks), load64(blocks + WORD_BYTES)
        number = load64(blocks + 2 * WORD_BYTES)
        blocks += TRIPLE_BYTES
        for entry in range(first, last):
            line = entries + entry * TRIPLE_BYTES
            row = rows + load64(line) * ROW_BYTES
            function = load64(row + FUNCTION * WORD_BYTES)
            if function != 0:
                call_body(function, row, load_float64(scalars + entry * WORD_BYTES))
                check = load64(row + CHECK * WORD_BYTES)
                if check != 0 and load64(check) != 0:
                    store64(refused, 1)
                continue
            place = load64(line + WORD_BYTES) + load64(line + 2 * WORD_BYTES) * number
            target = load64(row + DST * WORD_BYTES)
            source = load64(row + SRC0 * WORD_BYTES)
            dst_space = load64(row + DST_SPACE * WORD_BYTES)
            src_space = load64(row + SRC_SPACE * WORD_BYTES)
            if src_space >= 0:
                source += load64(bases + src_space * WORD_BYTES)
            if dst_space >= 0:
                target += load64(bases + dst_space * WORD_BYTES) + place
            else:
                source += place
            nbytes = load64(row + NBYTES * WORD_BYTES)
            for _ in range(load64(row + BLOCKS * WORD_BYTES)):
                move_bytes(target, source, nbytes)
                target += load64(row + DST_PITCH * WORD_BYTES)
                source += load64(row + SRC_PITCH * WORD_BYTES)
