"""Single elements inside the programs: loads and stores, order of patterns, the arithmetic body.

Compiled by numba. Arithmetic, and the rules of a result (canonical NaN, saturation, subnormals),
are those of the compiled Add, Max and Min: the parameter block names the body.
"""

from __future__ import annotations

from numba.extending import register_jitable

from ascendsim.enums import DATABLOCK_BYTES
from ascendsim.numerics.intrinsics import (
    call_body,
    load64,
    stack_bytes,
    store64,
)
from ascendsim.numerics.opcodes import (
    COUNT,
    DST,
    ENV,
    G_LANES,
    GEOMETRY,
    KIND_SIGNED,
    KIND_UNSIGNED,
    MODE,
    OP,
    P_BODY,
    P_BODY_OP,
    P_ELEMENT,
    P_KIND,
    P_SMALLEST,
    P_SRC_BLOCK,
    SRC0,
    SRC1,
)
from ascendsim.numerics.strided import (
    ROW_BYTES,
    WORD_BYTES,
    load_element,
    mask_bits,
    store_element,
)


@register_jitable
def word(base, index):
    """Return a word of a row or a parameter block."""
    return load64(base + index * WORD_BYTES)


@register_jitable
def lane_place(start, stride, offset):
    """Return the address of byte `offset` of a repeat whose datablocks are `stride` bytes apart."""
    return start + offset // DATABLOCK_BYTES * stride + offset % DATABLOCK_BYTES


@register_jitable
def read_repeat(params, start, now, place):
    """Copy the lanes of a repeat to `place`; zero where masked off, or from lane `now` on."""
    element, stride = word(params, P_ELEMENT), word(params, P_SRC_BLOCK)
    for lane in range(word(params, G_LANES)):
        value = 0
        if lane < now and mask_bits(params, lane) & 1:
            value = load_element(lane_place(start, stride, lane * element), element)
        store_element(place + lane * element, element, value)


@register_jitable
def combine(row, params, dst, first, second, count):
    """Run the body that the parameter block names on `count` contiguous elements."""
    inner = stack_bytes(ROW_BYTES)
    store64(inner + OP * WORD_BYTES, word(params, P_BODY_OP))
    store64(inner + COUNT * WORD_BYTES, count)
    store64(inner + DST * WORD_BYTES, dst)
    store64(inner + SRC0 * WORD_BYTES, first)
    store64(inner + SRC1 * WORD_BYTES, second)
    store64(inner + MODE * WORD_BYTES, 0)
    store64(inner + ENV * WORD_BYTES, word(row, ENV))
    store64(inner + GEOMETRY * WORD_BYTES, 0)
    call_body(word(params, P_BODY), inner, 0.0)


@register_jitable
def order_key(params, pattern):
    """Return an integer with the order of the elements (-0 below +0), and whether it is a NaN."""
    element, kind = word(params, P_ELEMENT), word(params, P_KIND)
    sign = 1 << (8 * element - 1)
    if kind == KIND_UNSIGNED:
        return pattern, False
    if kind == KIND_SIGNED:
        return (pattern & (sign - 1)) - (pattern & sign), False
    magnitude = pattern & (sign - 1)
    if magnitude < word(params, P_SMALLEST):
        magnitude = 0
    nan = magnitude > kind
    return (-1 - magnitude if pattern & sign else magnitude), nan
