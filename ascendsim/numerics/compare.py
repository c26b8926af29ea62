"""Compare and Select on arrays: masks of one bit per element, least significant bit first.

Element i is bit i % 8 of byte i // 8. How many mask bytes an instruction writes, and what its tail
leaves, is geometry and not decided here.
"""

from __future__ import annotations

import numpy as np

from ascendsim.enums import CMPMODE
from ascendsim.numerics.integers import is_integer
from ascendsim.numerics.opcodes import ENV_NE_ORDERED
from ascendsim.numerics.words import format_of, like, magnitudes, words

_INTEGER = {
    CMPMODE.LT: np.less,
    CMPMODE.GT: np.greater,
    CMPMODE.EQ: np.equal,
    CMPMODE.LE: np.less_equal,
    CMPMODE.GE: np.greater_equal,
    CMPMODE.NE: np.not_equal,
}


def compare(a: np.ndarray, b: object, mode: CMPMODE, env: int = 0) -> np.ndarray:
    """Compare `a` with `b`, an array or a scalar of type T, and return the packed bits as uint8.

    The last byte is filled up with 0 bits. Exceptional values: -0 equals +0, subnormals differ
    from zero (ENV_FLUSH does not reach Compare; assumed on 910B). A NaN operand gives 0, but 1
    for NE; under ENV_NE_ORDERED 0 there too (910B by a public report).

    Source: asc-devkit, Compare.md, Compares.md and the C API pages of the comparisons.
    """
    if is_integer(a):
        return np.packbits(_INTEGER[mode](a, like(b, a)), bitorder="little")
    fmt = format_of(a.dtype)
    x, y = np.broadcast_arrays(words(a), words(like(b, a)))
    sizes = [magnitudes(operand, fmt).astype(np.int64) for operand in (x, y)]
    # sign and magnitude as one integer; both zeros become 0
    left, right = (
        np.where(operand >= fmt.sign_bits, -size, size)
        for operand, size in zip((x, y), sizes, strict=True)
    )
    unordered = np.maximum(*sizes) > fmt.inf_bits
    match mode:
        case CMPMODE.LT:
            true = left < right
        case CMPMODE.GT:
            true = left > right
        case CMPMODE.EQ:
            true = left == right
        case CMPMODE.LE:
            true = left <= right
        case CMPMODE.GE:
            true = left >= right
        case CMPMODE.NE:
            true = left != right
    of_nan = mode == CMPMODE.NE and not env & ENV_NE_ORDERED
    return np.packbits(np.where(unordered, of_nan, true), bitorder="little")


def select(mask: np.ndarray, a: np.ndarray, b: object, env: int = 0) -> np.ndarray:
    """Return `a` where the bit in `mask` (uint8) is 1, else `b`, an array or a scalar of type T.

    A pure copy of bits, whatever the element type: NaN, infinities and -0 pass through, and `env`
    changes nothing. Bits beyond the elements of `a` are not used.

    Source: asc-devkit, Select.md.
    """
    bits = np.unpackbits(mask, count=a.size, bitorder="little").reshape(a.shape)
    return np.where(bits == 1, words(a), words(like(b, a))).view(a.dtype)
