"""Calls with repeats, masks and strides: one repeat at a time around the flat body.

These functions are compiled by numba. For each repeat the operands are gathered into scratch, the
flat body of the family runs over the lanes of the repeat, and the result is scattered under the
mask. All operands of a repeat are read before it is written, so overlapping repeats have one
meaning. Layout of the geometry block: `opcodes`.
"""

from __future__ import annotations

from numba.extending import register_jitable

from ascendsim.enums import DATABLOCK_BYTES
from ascendsim.numerics.intrinsics import (
    call_body,
    load8,
    load16,
    load32,
    load64,
    move_bytes,
    stack_bytes,
    store8,
    store16,
    store32,
    store64,
)
from ascendsim.numerics.opcodes import (
    COUNT,
    DST,
    ENV,
    G_BLOCK_STRIDE,
    G_COMPARE_MASKED,
    G_ELEMENT,
    G_LANES,
    G_MASK_HI,
    G_MASK_LO,
    G_OPERANDS,
    G_REPEAT_STRIDE,
    G_REPEATS,
    GEOMETRY,
    MASK,
    MAX_LANES,
    MODE,
    OP,
    ROW_WORDS,
    SRC0,
    SRC1,
)

WORD_BYTES = 8
OPERAND_WORDS = 3
ROW_BYTES = ROW_WORDS * WORD_BYTES
# room for 128 lanes of up to 8 bytes
SCRATCH_BYTES = 1024
WORD_LANES = 64


@register_jitable
def run_strided(row, scalar, body):
    """Run a call whose GEOMETRY word is not 0; `body` is the address of the flat body."""
    geometry = load64(row + GEOMETRY * WORD_BYTES)
    lanes = load64(geometry + G_LANES * WORD_BYTES)
    used = used_lanes(geometry, lanes)
    left = load64(row + COUNT * WORD_BYTES)
    inner = stack_bytes(ROW_BYTES)
    for word in (OP, MODE, ENV):
        store64(inner + word * WORD_BYTES, load64(row + word * WORD_BYTES))
    store64(inner + GEOMETRY * WORD_BYTES, 0)
    result = stack_bytes(SCRATCH_BYTES)
    store64(inner + DST * WORD_BYTES, result)
    first, second, mask = (
        stack_bytes(SCRATCH_BYTES),
        stack_bytes(SCRATCH_BYTES),
        stack_bytes(SCRATCH_BYTES),
    )
    for repeat in range(load64(geometry + G_REPEATS * WORD_BYTES)):
        if left <= 0:
            break
        now = min(used, left)
        if now > 0:
            store64(inner + COUNT * WORD_BYTES, now)
            gather(row, inner, SRC0, geometry + _operand(1), repeat, first)
            gather(row, inner, SRC1, geometry + _operand(2), repeat, second)
            gather(row, inner, MASK, geometry + _operand(3), repeat, mask)
            call_body(body, inner, scalar)
        scatter(row, geometry, repeat, now, result)
        left -= lanes


@register_jitable
def used_lanes(geometry, lanes):
    """Return the lanes up to the highest mask bit: bytes behind it may lie outside UB.

    An unmasked compare takes all lanes, whatever the mask.
    """
    if lanes > MAX_LANES:
        return lanes  # of 8-bit elements, which have no mask
    to_bits = load64(geometry + (_operand(0) + G_ELEMENT * WORD_BYTES)) == 0
    if to_bits and load64(geometry + G_COMPARE_MASKED * WORD_BYTES) == 0:
        return lanes
    while lanes > 0 and mask_bits(geometry, lanes - 1) & 1 == 0:
        lanes -= 1
    return lanes


@register_jitable
def _operand(number):
    return (G_OPERANDS + number * OPERAND_WORDS) * WORD_BYTES


@register_jitable
def gather(row, inner, word, shape, repeat, scratch):
    """Put a repeat's operand into the inner row, gathered first if it is not contiguous."""
    element = load64(shape + G_ELEMENT * WORD_BYTES)
    if element < 0:
        return
    start = load64(row + word * WORD_BYTES)
    start += repeat * load64(shape + G_REPEAT_STRIDE * WORD_BYTES)
    stride = load64(shape + G_BLOCK_STRIDE * WORD_BYTES)
    if element == 0 or stride == DATABLOCK_BYTES:
        store64(inner + word * WORD_BYTES, start)
        return
    left = load64(inner + COUNT * WORD_BYTES) * element
    place = scratch
    while left >= DATABLOCK_BYTES:
        move_bytes(place, start, DATABLOCK_BYTES)
        place += DATABLOCK_BYTES
        start += stride
        left -= DATABLOCK_BYTES
    if left > 0:
        move_bytes(place, start, left)
    store64(inner + word * WORD_BYTES, scratch)


@register_jitable
def scatter(row, geometry, repeat, now, result):
    """Write a repeat's result: whole datablocks where the mask is full, else lane by lane."""
    shape = geometry + _operand(0)
    element = load64(shape + G_ELEMENT * WORD_BYTES)
    start = load64(row + DST * WORD_BYTES)
    start += repeat * load64(shape + G_REPEAT_STRIDE * WORD_BYTES)
    if element == 0:
        scatter_bits(geometry, now, result, start)
        return
    stride = load64(shape + G_BLOCK_STRIDE * WORD_BYTES)
    if stride == DATABLOCK_BYTES and is_full(geometry, now):
        move_bytes(start, result, now * element)
        return
    per_block = DATABLOCK_BYTES // element
    lane = 0
    while lane < now:  # a range with a step could raise, which compiled units do not
        here = min(per_block, now - lane)
        wanted = (1 << here) - 1
        bits = mask_bits(geometry, lane) & wanted
        if bits == wanted:
            if here == per_block:
                move_bytes(start, result, DATABLOCK_BYTES)
            else:
                move_bytes(start, result, here * element)
        elif bits != 0:
            scatter_lanes(start, result, bits, element)
        start += stride
        result += DATABLOCK_BYTES
        lane += per_block


@register_jitable
def mask_bits(geometry, lane):
    """Return the mask bits from `lane` on, the lowest for `lane` itself."""
    if lane < WORD_LANES:
        # the arithmetic shift repeats the sign beyond bit 63; a datablock never reaches there
        return load64(geometry + G_MASK_LO * WORD_BYTES) >> lane
    return load64(geometry + G_MASK_HI * WORD_BYTES) >> (lane - WORD_LANES)


@register_jitable
def is_full(geometry, lanes):
    """Tell whether the mask has all of the first `lanes` bits."""
    low = load64(geometry + G_MASK_LO * WORD_BYTES)
    if lanes < WORD_LANES:
        wanted = (1 << lanes) - 1
        return low & wanted == wanted
    # the high word of a 64-lane mask is never looked at
    wanted = (1 << (lanes - WORD_LANES)) - 1 if lanes < MAX_LANES else -1
    return low == -1 and load64(geometry + G_MASK_HI * WORD_BYTES) & wanted == wanted


@register_jitable
def load_element(address, element):
    """Return the pattern of an element of 1, 2, 4 or 8 bytes."""
    if element == 4:
        return load32(address)
    if element == 2:
        return load16(address)
    if element == 1:
        return load8(address)
    return load64(address)


@register_jitable
def store_element(address, element, value):
    """Store the pattern of an element."""
    if element == 4:
        store32(address, value)
    elif element == 2:
        store16(address, value)
    elif element == 1:
        store8(address, value)
    else:
        store64(address, value)


@register_jitable
def scatter_lanes(start, source, bits, element):
    """Write the elements of one datablock whose bit is set."""
    while bits != 0:
        if bits & 1:
            store_element(start, element, load_element(source, element))
        start += element
        source += element
        bits >>= 1


@register_jitable
def scatter_bits(geometry, now, result, start):
    """Write all mask bits of a repeat; the lane mask applies if the geometry says so.

    Bits of lanes that took no part are 0.
    """
    masked = load64(geometry + G_COMPARE_MASKED * WORD_BYTES) != 0
    computed = (now + 7) // 8
    for place in range(load64(geometry + G_LANES * WORD_BYTES) // 8):
        byte = load8(result + place) if place < computed else load8(result + place) & 0
        if masked:
            byte &= load8(geometry + G_MASK_LO * WORD_BYTES + place)
        store8(start + place, byte)
