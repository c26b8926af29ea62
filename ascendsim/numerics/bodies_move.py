"""Programs that move elements (Brcb, Gather, GatherMask, transpositions) and stores that add.

Compiled by numba; see elements.py for the helpers.
"""

from __future__ import annotations

from numba.extending import register_jitable

from ascendsim.enums import BLOCKS_PER_REPEAT, DATABLOCK_BYTES
from ascendsim.numerics.elements import (
    combine,
    lane_place,
    load_element,
    order_key,
    store_element,
    word,
)
from ascendsim.numerics.intrinsics import load8, load32, move_bytes, stack_bytes, store64
from ascendsim.numerics.opcodes import (
    COUNT,
    DST,
    G_LANES,
    G_REPEATS,
    GEOMETRY,
    MASK,
    MODE,
    P_BASE,
    P_BODY,
    P_DST_BLOCK,
    P_DST_REPEAT,
    P_ELEMENT,
    P_LIMIT,
    P_MINIMUM,
    P_PATTERN,
    P_PATTERN_REPEAT,
    P_SCRATCH,
    P_SRC_BLOCK,
    P_SRC_REPEAT,
    P_STATUS,
    SRC0,
    SRC1,
)
from ascendsim.numerics.strided import WORD_BYTES, mask_bits

OFFSET_BYTES = 4  # Gather's offsets are uint32
TILE = 16  # Transpose works on 16 x 16 elements of 2 bytes
TILE_BYTES = 512


@register_jitable
def broadcast_program(row):
    """Brcb: element k of the source fills datablock k of the destination."""
    params = word(row, GEOMETRY)
    element = word(params, P_ELEMENT)
    for repeat in range(word(params, G_REPEATS)):
        for block in range(BLOCKS_PER_REPEAT):
            at = word(row, SRC0) + (repeat * BLOCKS_PER_REPEAT + block) * element
            value = load_element(at, element)
            target = word(row, DST) + repeat * word(params, P_DST_REPEAT)
            target += block * word(params, P_DST_BLOCK)
            for offset in range(0, DATABLOCK_BYTES, element):
                store_element(target + offset, element, value)


@register_jitable
def gather_program(row):
    """Gather: check every offset first; P_STATUS is 1 + the first bad lane, and nothing stored."""
    params = word(row, GEOMETRY)
    element, lanes = word(params, P_ELEMENT), word(params, G_LANES)
    total = word(params, G_REPEATS) * lanes
    base, limit = word(params, P_BASE), word(params, P_LIMIT)
    store64(params + P_STATUS * WORD_BYTES, 0)
    left = word(row, COUNT)
    for lane in range(total):
        if lane < left and mask_bits(params, lane % lanes) & 1:
            offset = base + load32(word(row, SRC1) + lane * OFFSET_BYTES)
            if offset + element > limit or offset % element != 0:
                store64(params + P_STATUS * WORD_BYTES, 1 + lane)
                return
    for lane in range(total):
        if lane < left and mask_bits(params, lane % lanes) & 1:
            offset = base + load32(word(row, SRC1) + lane * OFFSET_BYTES)
            target = word(row, DST) + lane // lanes * word(params, P_DST_REPEAT)
            value = load_element(word(row, SRC0) + offset, element)
            store_element(target + lane % lanes * element, element, value)


@register_jitable
def gather_blocks_program(row):
    """Gatherb: datablocks by offsets; P_STATUS is 1 + the first bad offset, and nothing stored."""
    params = word(row, GEOMETRY)
    total, limit = word(params, G_REPEATS) * BLOCKS_PER_REPEAT, word(params, P_LIMIT)
    store64(params + P_STATUS * WORD_BYTES, 0)
    for block in range(total):
        offset = load32(word(row, SRC1) + block * OFFSET_BYTES)
        if offset + DATABLOCK_BYTES > limit or offset % DATABLOCK_BYTES != 0:
            store64(params + P_STATUS * WORD_BYTES, 1 + block)
            return
    for block in range(total):
        offset = load32(word(row, SRC1) + block * OFFSET_BYTES)
        target = word(row, DST) + block // BLOCKS_PER_REPEAT * word(params, P_DST_REPEAT)
        target += block % BLOCKS_PER_REPEAT * word(params, P_DST_BLOCK)
        move_bytes(target, word(row, SRC0) + offset, DATABLOCK_BYTES)


@register_jitable
def spread_program(row):
    """BroadCast: rows of lanes; the source moves by a stride per lane and one per row."""
    params = word(row, GEOMETRY)
    element, lanes = word(params, P_ELEMENT), word(params, G_LANES)
    for line in range(word(params, G_REPEATS)):
        source = word(row, SRC0) + line * word(params, P_SRC_REPEAT)
        target = word(row, DST) + line * lanes * element
        for lane in range(lanes):
            value = load_element(source + lane * word(params, P_SRC_BLOCK), element)
            store_element(target + lane * element, element, value)


@register_jitable
def select_program(row):
    """GatherMask: the chosen elements, one after another; P_STATUS counts them.

    Beyond P_LIMIT elements they are counted only: the caller turns that into an error.
    """
    params = word(row, GEOMETRY)
    element, lanes, pattern = (
        word(params, P_ELEMENT),
        word(params, G_LANES),
        word(params, P_PATTERN),
    )
    left, kept = word(row, COUNT), 0
    for repeat in range(word(params, G_REPEATS)):
        source = word(row, SRC0) + repeat * word(params, P_SRC_REPEAT)
        bits = word(row, MASK) + repeat * word(params, P_PATTERN_REPEAT)
        for lane in range(min(lanes, left)):
            if pattern >= 0:
                chosen = pattern >> lane % 4 & 1
            else:
                chosen = load8(bits + lane // 8) >> lane % 8 & 1
            if chosen:
                at = lane_place(source, word(params, P_SRC_BLOCK), lane * element)
                value = load_element(at, element)
                if kept < word(params, P_LIMIT):
                    store_element(word(row, DST) + kept * element, element, value)
                kept += 1
        left -= lanes
    store64(params + P_STATUS * WORD_BYTES, kept)


@register_jitable
def transpose_program(row):
    """Transpose 16 x 16 elements of 2 bytes; all are read before the first is stored."""
    tile = stack_bytes(TILE_BYTES)
    move_bytes(tile, word(row, SRC0), TILE_BYTES)
    for line in range(TILE):
        for column in range(TILE):
            value = load_element(tile + 2 * (line * TILE + column), 2)
            store_element(word(row, DST) + 2 * (column * TILE + line), 2, value)


@register_jitable
def format_program(row):
    """TransDataTo5HD: element i of the 16 sources makes datablock i (two of them in 32 bits)."""
    params = word(row, GEOMETRY)
    element, places = word(params, P_ELEMENT), word(params, P_SCRATCH)
    lanes = DATABLOCK_BYTES // element
    tile = stack_bytes(TILE_BYTES)
    for repeat in range(word(params, G_REPEATS)):
        for source in range(TILE):
            start = word(row, SRC0) + word(places, TILE + source)
            start += repeat * word(params, P_SRC_REPEAT)
            for lane in range(lanes):
                value = load_element(start + lane * element, element)
                store_element(tile + (lane * TILE + source) * element, element, value)
        for target in range(TILE):
            start = word(row, DST) + word(places, target)
            start += repeat * word(params, P_DST_REPEAT)
            move_bytes(start, tile + target * DATABLOCK_BYTES, DATABLOCK_BYTES)


@register_jitable
def accumulate_program(row):
    """Store to GM under SetAtomicAdd, Max or Min (MODE 0, 1, 2): dst = op(dst, src)."""
    params = word(row, GEOMETRY)
    element, count = word(params, P_ELEMENT), word(row, COUNT)
    dst, src = word(row, DST), word(row, SRC0)
    if word(params, P_BODY) != 0:
        combine(row, params, dst, dst, src, count)
        return
    for lane in range(count):
        old = load_element(dst + lane * element, element)
        new = load_element(src + lane * element, element)
        if word(row, MODE) == 0:
            store_element(dst + lane * element, element, old + new)
        else:
            before, _ = order_key(params, old)
            after, _ = order_key(params, new)
            if (after < before) if word(params, P_MINIMUM) else (after > before):
                store_element(dst + lane * element, element, new)
