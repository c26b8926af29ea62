"""Real arithmetic with a bound: a float64 and how far it can be from the exact number.

A program is straight-line code over such balls (`Program`), run on arrays by one compiled loop.
Every operation measures its own rounding error with an exact residual (two-sum, fused
multiply-add) and adds it to what its operands bring, so that a bound is rigorous, and 0 where
nothing was rounded: a result that lies exactly on a tie is known to. The last step rounds both
ends of a ball to a format; lanes where they differ are not sure.

Comparisons give 1, 0 or -1 for "cannot tell"; a `select` on -1 gives a result that is not sure.
Overflow and NaN inside make a lane not sure, except where a constant stands for them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from math import factorial, log

import numpy as np
from llvmlite import ir
from numba import njit
from numba.core import types
from numba.extending import intrinsic

from ascendsim.numerics import jitcache
from ascendsim.numerics.lanes import F64, I64, declare
from ascendsim.numerics.rounding import Format

ADD, SUB, MUL, DIV, NEG, ABS, SQRT, EXP, LN, LESS, EQUAL, SELECT = range(12)
LANES = 256
UP = 1 + 2.0**-50  # makes up for the roundings of a bound's own sum
TINY, SMALL = 2.0**-1060, 2.0**-960  # below SMALL a residual may be off by less than TINY
LOG2_E, ROUNDER = 1.4426950408889634, 1.5 * 2.0**52
# 32 bits of ln 2, so that its product with an exponent is exact, and the rest
LN2_HIGH, LN2_LOW = float.fromhex("0x1.62e42fee00000p-1"), float.fromhex("0x1.a39ef35793c76p-33")
# Taylor's series for |r| < 0.35: the rest is below 2^-62
EXP_TERMS = tuple(1 / factorial(n) for n in range(15))
EXP_ERROR = 2.0**-49  # relative: the series' roundings, and r's
EXP_HIGHEST, EXP_LOWEST, EXP_UNDER = 700.0, -690.0, 2.0**-980
SIGNATURE = (
    "void(int64[:, ::1], float64[:, ::1], float64[:, ::1], int64[::1], uint32[::1], uint8[::1])"
)


@dataclass(frozen=True, slots=True)
class Program:
    """Operations on numbered balls: inputs, then constants, then one result per row of `code`.

    code : rows of (operation, ball, ball, ball), unused ones 0; constants : (value, bound) each;
    result : the number of the ball that is the answer.
    """

    inputs: int
    constants: tuple[tuple[float, float], ...]
    code: tuple[tuple[int, int, int, int], ...]
    result: int

    def evaluate(self, values: Sequence[np.ndarray], fmt: Format) -> tuple[np.ndarray, np.ndarray]:
        """Return patterns (uint32, zeros unsigned, NaN quiet) and whether each is sure.

        values : one array of finite float64 per input, exact, all of one length
        """
        size = values[0].size
        inputs = np.ascontiguousarray(values, np.float64).reshape(len(values), size)
        fixed = np.array(self.constants, np.float64).reshape(-1, 2)
        first = self.inputs + len(self.constants)
        registers = np.zeros((2 * (first + len(self.code)), LANES))
        registers[self.inputs : first] = fixed[:, :1]
        half = first + len(self.code)
        registers[half + self.inputs : half + first] = fixed[:, 1:]
        code = np.array(self.code, np.int64).reshape(-1, 4)
        layout = np.array([self.inputs, first, self.result, *_layout(fmt)], np.int64)
        bits, sure = np.empty(size, np.uint32), np.empty(size, np.uint8)
        _compiled()(code, inputs, registers, layout, bits, sure)
        return bits, sure.view(bool)


def _layout(fmt: Format) -> tuple[int, int, int, int]:
    return fmt.min_exponent, fmt.bias, fmt.mantissa_bits, fmt.width


@cache
def _compiled() -> Callable[..., None]:
    return jitcache.compiled(_evaluate, SIGNATURE, "ball")


@intrinsic
def fma(typingctx, a, b, c):
    """Return a * b + c, rounded once."""

    def emit(context, builder, signature, arguments):
        kind = ir.FunctionType(F64, [F64, F64, F64])
        return builder.call(declare(builder.module, "llvm.fma.f64", kind), arguments)

    return types.float64(types.float64, types.float64, types.float64), emit


@intrinsic
def pattern64(typingctx, value):
    """Return the pattern of a float64."""

    def emit(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], I64)

    return types.int64(types.float64), emit


@intrinsic
def from_pattern64(typingctx, bits):
    """Return the float64 with a pattern."""

    def emit(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], F64)

    return types.float64(types.int64), emit


def _evaluate(code, inputs, registers, layout, bits, sure):
    """Run a program on all lanes, LANES at a time; the second half of `registers` is bounds."""
    count, first, result = layout[0], layout[1], layout[2]
    half = registers.shape[0] // 2
    for base in range(0, bits.size, LANES):
        here = min(LANES, bits.size - base)
        for k in range(count):
            for i in range(here):
                registers[k, i] = inputs[k, base + i]
        for k in range(code.shape[0]):
            op, x, y, z = code[k, 0], code[k, 1], code[k, 2], code[k, 3]
            to = first + k
            v, e = registers[to], registers[half + to]
            a, ea, b, eb = registers[x], registers[half + x], registers[y], registers[half + y]
            if op == SELECT:
                _select(a, b, eb, registers[z], registers[half + z], v, e)
            elif op >= LESS:
                _compare(op, a, ea, b, eb, v, e)
            elif op <= DIV:
                _pair(op, a, ea, b, eb, v, e)
            else:
                _single(op, a, ea, v, e)
        _rounded(registers[result], registers[half + result], layout, base, here, bits, sure)


@njit(error_model="numpy")
def _pair(op, a, ea, b, eb, v, e):
    if op in (ADD, SUB):
        sign = 1.0 if op == ADD else -1.0
        for i in range(LANES):
            x, y = a[i], sign * b[i]
            s = x + y
            t = s - x
            v[i] = s
            e[i] = (ea[i] + eb[i] + abs((x - (s - t)) + (y - t))) * UP
    elif op == MUL:
        for i in range(LANES):
            x, y = a[i], b[i]
            p = x * y
            spread = abs(x) * eb[i] + abs(y) * ea[i] + ea[i] * eb[i]
            under = TINY if abs(p) < SMALL and x != 0 and y != 0 else 0.0
            under += TINY if ea[i] + eb[i] > 0 else 0.0
            v[i] = p
            e[i] = (spread + abs(fma(x, y, -p))) * UP + under
    else:
        for i in range(LANES):
            x, y = a[i], b[i]
            q = x / y
            room = (abs(y) - eb[i]) / UP
            spread = (abs(fma(-q, y, x)) + ea[i] + abs(q) * eb[i]) * UP
            low = x != 0 and (abs(x) < SMALL or abs(q) < SMALL)
            under = TINY if low or ea[i] + eb[i] > 0 else 0.0
            v[i] = q
            e[i] = (spread + under) / room * UP + under if room > 0 else np.inf


@njit(error_model="numpy")
def _single(op, a, ea, v, e):
    if op in (NEG, ABS):
        for i in range(LANES):
            v[i] = -a[i] if op == NEG or a[i] < 0 else a[i]
            e[i] = ea[i]
    elif op == SQRT:
        for i in range(LANES):
            s = np.sqrt(a[i])
            spread = (abs(fma(-s, s, a[i])) + ea[i]) * UP / s * UP + TINY
            exact = ea[i] == 0 and fma(-s, s, a[i]) == 0 and (a[i] > SMALL or a[i] == 0)
            v[i] = s
            e[i] = 0.0 if exact else spread if a[i] > ea[i] else np.inf
    elif op == EXP:
        for i in range(LANES):
            v[i], e[i] = _exp(a[i], ea[i])
    else:
        for i in range(LANES):
            v[i], e[i] = _ln(a[i], ea[i])


@njit(error_model="numpy")
def _exp(x, ex):
    """Return exp of a ball: Taylor's series at x - k * ln 2, |r| < 0.35, times 2^k."""
    if x == 0 and ex == 0:
        return 1.0, 0.0
    if x < EXP_LOWEST and ex < 1:
        return 0.0, EXP_UNDER  # exp(-689) < 2^-990
    if not (x < EXP_HIGHEST and ex < 2.0**-10):
        return 0.0, np.inf
    k = (x * LOG2_E + ROUNDER) - ROUNDER
    r = fma(-k, LN2_LOW, fma(-k, LN2_HIGH, x))
    total = EXP_TERMS[14]
    for n in range(13, -1, -1):
        total = fma(total, r, EXP_TERMS[n])
    value = total * from_pattern64((np.int64(k) + 1023) << 52)
    return value, value * (EXP_ERROR + ex * (1 + 2.0**-9)) * UP


@njit(error_model="numpy")
def _ln(x, ex):
    """Return ln of a ball: a guess y, then ln x = y + ln(1 + d), d = x * exp(-y) - 1."""
    if x == 1 and ex == 0:
        return 0.0, 0.0
    if not (x > SMALL and x < 1 / SMALL and ex < x * 2.0**-12):
        return 0.0, np.inf
    y = log(x)
    w, ew = _exp(-y, 0.0)
    p = x * w
    d = abs(p - 1) + (abs(fma(x, w, -p)) + x * ew + ex * (w + ew)) * UP
    return y, (d + d * d) * UP if d < 0.25 else np.inf


@njit(error_model="numpy")
def _compare(op, a, ea, b, eb, v, e):
    for i in range(LANES):
        gap, slack = b[i] - a[i], (ea[i] + eb[i]) * UP
        slack += (abs(gap) * 2.0**-52 + TINY) if slack > 0 else 0.0
        apart = abs(gap) > slack
        if op == LESS:
            v[i] = 1.0 if gap > slack else 0.0 if apart or (slack == 0 and gap == 0) else -1.0
        else:
            v[i] = 0.0 if apart else 1.0 if slack == 0 and gap == 0 else -1.0
        e[i] = 0.0


@njit(error_model="numpy")
def _select(c, a, ea, b, eb, v, e):
    for i in range(LANES):
        v[i] = a[i] if c[i] > 0 else b[i]
        e[i] = ea[i] if c[i] > 0 else eb[i] if c[i] == 0 else np.inf


@njit(error_model="numpy")
def _rounded(v, e, layout, base, here, bits, sure):
    """Round both ends of the balls; where they agree, that is the answer."""
    quiet = (_infinity(layout) << 1 | 1) << (layout[5] - 1)
    for i in range(here):
        spread = e[i] * UP
        low, high = v[i] - spread, v[i] + spread
        if spread > 0:
            low -= abs(low) * 2.0**-52 + TINY
            high += abs(high) * 2.0**-52 + TINY
        one, two = _encode(low, layout), _encode(high, layout)
        known = e[i] < np.inf and one == two
        if e[i] == 0 and v[i] != v[i]:
            one, known = quiet, True
        bits[base + i], sure[base + i] = one, known


@njit(error_model="numpy")
def _infinity(layout):
    """Return the exponent field of infinity."""
    return 2 * layout[4] + 1


@njit(error_model="numpy")
def _encode(value, layout):
    """Return the pattern of a float64 rounded to nearest even; zero has no sign."""
    lowest, bias, mantissa, width = layout[3], layout[4], layout[5], layout[6]
    size = abs(value)
    exponent = max(((pattern64(size) >> 52) & 0x7FF) - 1023, lowest)
    sign = (1 if value < 0 else 0) << (width - 1)
    if exponent > bias:
        return sign | (_infinity(layout) << mantissa)
    shift = from_pattern64((exponent - mantissa + 52 + 1023) << 52) * 1.5
    near = (size + shift) - shift
    if near == 0:
        return 0
    scaled = near * from_pattern64((1023 - lowest + mantissa) << 52)
    if scaled < from_pattern64((1023 + mantissa) << 52):
        return sign | np.int64(scaled)  # subnormal: in units of the least one
    field = ((pattern64(near) >> 52) & 0x7FF) - 1023 + bias
    if field > 2 * bias:
        return sign | (_infinity(layout) << mantissa)
    return sign | field << mantissa | ((pattern64(near) >> (52 - mantissa)) & ((1 << mantissa) - 1))
