"""Multiply-add, Relu, LeakyRelu, Rsqrt and Reciprocal on arrays: the twins of `bodies_fma.py`.

A multiply-add rounds product and sum, or (ENV_REGISTER, 950) only the sum. bfloat16 results are
rounded from the float32 result. Source: asc-devkit, pages of the instructions; which rounding
910B takes is assumed from the FusedMulAdd example.
"""

from __future__ import annotations

import numpy as np

from ascendsim.enums import RoundMode
from ascendsim.numerics import arith
from ascendsim.numerics.cast import narrow, widen
from ascendsim.numerics.exact import _sum
from ascendsim.numerics.integers import binary, is_integer
from ascendsim.numerics.opcodes import ENV_REGISTER
from ascendsim.numerics.rounding import (
    BFLOAT16,
    FLOAT32,
    FLOAT64,
    NAN,
    Format,
    Value,
    decode,
    round_to,
)
from ascendsim.numerics.words import delivered, flushed, format_of, values, words


def multiply_add(a: np.ndarray, b: np.ndarray, c: np.ndarray, env: int = 0) -> np.ndarray:
    """Return a * b + c in the type of c; a and b have one type."""
    fmt = format_of(c.dtype)
    x, y, z = (flushed(words(each), format_of(each.dtype), env) for each in (a, b, c))
    kinds = format_of(a.dtype), format_of(b.dtype), format_of(c.dtype)
    once = bool(env & ENV_REGISTER)
    found = []
    for each in zip(x, y, z, strict=True):
        p, q, r = (decode(int(bits), kind) for bits, kind in zip(each, kinds, strict=True))
        found.append(_one(p, q, r, fmt, once))
    return values(delivered(np.array(found, f"u{fmt.width // 8}"), fmt, env), fmt)


def _one(a: Value, b: Value, c: Value, fmt: Format, once: bool) -> int:
    product = _product(a, b)
    if not once:
        product = decode(_narrowed(product, fmt), fmt)
    return _narrowed(_sum(product, c), fmt)


def _product(a: Value, b: Value) -> Value:
    negative = a.negative != b.negative
    if "nan" in (a.kind, b.kind):
        return NAN
    if "inf" in (a.kind, b.kind):
        return NAN if a.is_zero or b.is_zero else Value("inf", negative)
    return Value("finite", negative, a.magnitude * b.magnitude)


def _narrowed(value: Value, fmt: Format) -> int:
    """Round once, bfloat16 by way of float32."""
    if fmt is BFLOAT16:
        value = decode(round_to(value, FLOAT32), FLOAT32)
    return round_to(value, fmt)


def relu(a: np.ndarray, env: int = 0) -> np.ndarray:
    """Return a where it is above zero, else +0; NaN stays NaN."""
    if is_integer(a):
        return binary(np.maximum, a, 0)
    fmt = format_of(a.dtype)
    x = flushed(words(a), fmt, env)
    positive = (x < fmt.sign_bits) | (x > (fmt.sign_bits | fmt.inf_bits))
    return values(delivered(np.where(positive, x, x.dtype.type(0)), fmt, env), fmt)


def leaky_relu(a: np.ndarray, slope: np.ndarray, env: int = 0) -> np.ndarray:
    """Return a where it is not below zero, else a * slope; NaN stays NaN."""
    with np.errstate(invalid="ignore"):
        below = ~(a.astype(np.float32) >= 0)
    scaled = arith.mul(a, slope, env=env)
    fmt = format_of(a.dtype)
    kept = values(delivered(flushed(words(a), fmt, env), fmt, env), fmt)
    return np.where(below, scaled, kept)


def reciprocal(a: np.ndarray, env: int = 0) -> np.ndarray:
    """Return 1 / a, rounded once."""
    return arith.div(np.ones_like(a), a, env=env)


def rsqrt(a: np.ndarray, env: int = 0) -> np.ndarray:
    """Return 1 / sqrt(a): one rounding, or under ENV_REGISTER one of the root and one more."""
    if env & ENV_REGISTER:
        return arith.div(np.ones_like(a), arith.sqrt(a, env=env), env=env)
    fmt = format_of(a.dtype)
    x = flushed(words(a), fmt, env)
    with np.errstate(all="ignore"):
        near = 1 / np.sqrt(values(widen(x, fmt), FLOAT32).astype(np.longdouble))
    return values(delivered(_settled(near, x, fmt), fmt, env), fmt)


def _settled(near: np.ndarray, x: np.ndarray, fmt: Format) -> np.ndarray:
    """Round 1 / sqrt(x), known to 2**-50; where that leaves two results, decide exactly."""
    with np.errstate(all="ignore"):
        ends = [(near * (1 + e)).astype(np.float64) for e in (-(2.0**-50), 2.0**-50)]
    low, high = (narrow(words(end), FLOAT64, fmt, RoundMode.CAST_RINT) for end in ends)
    for place in np.flatnonzero(low != high):
        if decode(int(low[place]), fmt).kind != "nan":
            low[place] = _exact_rsqrt(int(x[place]), int(low[place]), int(high[place]), fmt)
    return low


def _exact_rsqrt(x: int, low: int, high: int, fmt: Format) -> int:
    """Choose between two neighbours by the side of their middle on which 1 / sqrt(x) lies."""
    middle = (decode(low, fmt).number + decode(high, fmt).number) / 2
    return low if middle * middle * decode(x, fmt).number > 1 else high
