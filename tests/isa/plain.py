"""What instructions compute, written anew in numpy: float64 and integers, nothing of ascendsim's.

Every half, bfloat16 and float32 number is exact in float64, and so is what is rounded here: the
sum or product of two halves, a number divided by a power of two. float32 arithmetic is the host's.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

#: precision in bits, smallest exponent, largest exponent
FORMATS = {"float16": (11, -14, 15), "bfloat16": (8, -126, 127), "float32": (24, -126, 127)}
ONES = {"float16": 0x7FFF, "bfloat16": 0x7FFF, "float32": 0x7FFFFFFF}
QUIET = {"float16": 0x7E00, "bfloat16": 0x7FC0, "float32": 0x7FC00000}


def whole(x, mode):
    """Round float64 numbers to whole ones; NONE is RINT."""
    with np.errstate(all="ignore"):
        if mode in "NR":
            return np.rint(x)
        if mode == "F":
            return np.floor(x)
        if mode == "C":
            return np.ceil(x)
        if mode == "Z":
            return np.trunc(x)
        low = np.trunc(x)
        if mode == "A":
            return np.where(np.abs(x - low) >= 0.5, low + np.copysign(1.0, x), low)
        inexact_even = (x != low) & (np.fmod(low, 2) == 0)  # O: to odd
        return np.where(inexact_even, low + np.copysign(1.0, x), low)


def to_float(x, name, mode="R", saturate=False, nan=ONES, flush=False):
    """Round float64 numbers once to a float format; return the patterns.

    Beyond the largest number: infinity, or that number, whatever the mode. Zeros keep their sign.
    """
    precision, low, high = FORMATS[name]
    with np.errstate(all="ignore"):
        _, exponent = np.frexp(x)
        quantum = np.maximum(exponent - 1, low) - (precision - 1)
        rounded = np.ldexp(whole(np.ldexp(x, -quantum), mode), quantum)
        rounded = np.copysign(np.where(np.isfinite(x), rounded, x), x)
        largest = np.ldexp(2.0 - 2.0 ** (1 - precision), high)
        beyond = np.abs(rounded) > largest
        rounded = np.where(beyond, np.copysign(largest if saturate else np.inf, x), rounded)
        if flush:
            rounded = np.where(np.abs(rounded) < 2.0**low, np.copysign(0.0, x), rounded)
    words = encoded(rounded, name)
    return np.where(np.isnan(x), 0 if saturate else nan[name], words).astype(words.dtype)


def encoded(x, name):
    """Return the patterns of float64 numbers that are numbers of the format."""
    with np.errstate(all="ignore"):
        if name == "float16":
            return x.astype(np.float16).view(np.uint16)
        single = x.astype(np.float32).view(np.uint32)
        return (single >> 16).astype(np.uint16) if name == "bfloat16" else single


def decoded(words, name):
    """Return patterns as float64 numbers."""
    with np.errstate(all="ignore"):
        if name == "float16":
            return words.view(np.float16).astype(np.float64)
        if name == "bfloat16":
            return (words.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
        return words.view(np.float32).astype(np.float64)


def to_integer(x, bits, signed, mode, truncate=False):
    """Round float64 numbers to integers that clamp or keep their low bits; as int64 patterns.

    Infinities become the ends of the type, NaN 0, in both ways.
    """
    least, most = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    rounded = whole(x, mode)
    large = np.isfinite(x) & (np.abs(rounded) >= 2.0**62)
    found = np.where(np.isfinite(x) & ~large, rounded, 0).astype(np.int64)
    if not truncate:
        found = np.clip(found, least, most)
    for place in np.flatnonzero(large):
        found[place] = signed64(narrowed(int(rounded[place]), bits, signed, truncate))
    found[np.isinf(x) & (x > 0)], found[np.isinf(x) & (x < 0)] = most, least
    return found


def signed64(number):
    """Return the int64 number with the low 64 bits of an integer."""
    number &= (1 << 64) - 1
    return number - (1 << 64) if number >> 63 else number


def narrowed(number, bits, signed, truncate):
    """Return an integer as one of `bits`: clamped, or its low bits."""
    least, most = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    if not truncate:
        return min(max(number, least), most)
    number &= (1 << bits) - 1
    return number - (1 << bits) if signed and number > most else number


def flushed(words, name):
    """Return patterns with subnormals as zeros of their sign."""
    precision, _, _ = FORMATS[name]
    sign = words & words.dtype.type(1 << 8 * words.itemsize - 1)
    smallest = 1 << precision - 1
    return np.where((words ^ sign) < smallest, sign, words)


def round_fraction(x, name):
    """Round an exact Fraction (not zero) to nearest even in a format, as a float64 number."""
    precision, low, _ = FORMATS[name]
    exponent = x.numerator.bit_length() - x.denominator.bit_length()
    if abs(x) < Fraction(2) ** exponent:
        exponent -= 1
    quantum = Fraction(2) ** (max(exponent, low) - (precision - 1))
    return np.copysign(float(abs(round(x / quantum)) * quantum), float(x > 0) - 0.5)


def fused(x, y, z, name):
    """Return x * y + z rounded once to a format, from float64 numbers of formats."""
    with np.errstate(all="ignore"):
        found = x * y + z
    for k in np.flatnonzero(np.isfinite(x) & np.isfinite(y) & np.isfinite(z)):
        exact = Fraction(float(x[k])) * Fraction(float(y[k])) + Fraction(float(z[k]))
        if exact:
            found[k] = round_fraction(exact, name)
    return found


class Floats:
    """Instructions on one float format, on patterns."""

    def __init__(self, name, env):
        self.name, self.env = name, env
        self.word = np.dtype(f"u{2 if FORMATS[name][0] < 24 else 4}")

    def out(self, x, flush=False):
        saturate = self.env["saturate"] and self.name != "float32"
        flush = flush or self.env["flush"]
        return to_float(x, self.name, "R", saturate, self.env["nan"], flush)

    def read(self, words, flush=False):
        if flush or self.env["flush"]:
            words = flushed(words, self.name)
        return decoded(words, self.name)

    def operate(self, function, *operands, flush=False):
        """One float32 operation for float32 and bfloat16, an exact one in float64 for half."""
        wide = [self.read(words, flush) for words in operands]
        with np.errstate(all="ignore"):
            if self.name == "float16":
                return self.out(function(*wide), flush)
            single = function(*(x.astype(np.float32) for x in wide))
        return self.out(single.astype(np.float64), flush)

    def choose(self, a, b, larger):
        x, y = self.read(a), self.read(b)
        negative = np.signbit(x) if larger else ~np.signbit(x)
        with np.errstate(all="ignore"):
            take_y = (y > x) if larger else (y < x)
        take_y |= (x == y) & negative
        found = np.where(take_y, y, x)
        return self.out(np.where(np.isnan(x) | np.isnan(y), np.nan, found))

    def relu(self, words):
        x = self.read(words)
        with np.errstate(all="ignore"):
            return self.out(np.where(np.isnan(x) | (x > 0), x, 0.0))

    def leaky(self, words, slope):
        x = self.read(words)
        scaled = self.operate(np.multiply, words, slope)
        with np.errstate(all="ignore"):
            return np.where(x >= 0, self.out(x), scaled)

    def multiply_add(self, a, b, c, source=None):
        """Return a * b + c in this format; a and b may be of another one."""
        kind = source or self
        x, y, z = kind.read(a), kind.read(b), self.read(c)
        with np.errstate(all="ignore"):
            if not self.env["once"]:
                product = Floats.plain(self, x * y) if self.name == "float16" else None
                if product is None:
                    single = (x.astype(np.float32) * y.astype(np.float32)).astype(np.float64)
                    product = Floats.plain(self, single)
                if self.name == "float16":
                    return self.out(product + z)
                total = product.astype(np.float32) + z.astype(np.float32)
                return self.out(total.astype(np.float64))
        way = "float32" if self.name == "bfloat16" else self.name
        return self.out(fused(x, y, z, way))

    def plain(self, x):
        """Round to the format, without saturation or flushing."""
        return decoded(to_float(x, self.name, "R", False, self.env["nan"]), self.name)

    def compare(self, mode, a, b):
        x, y = decoded(a, self.name), decoded(b, self.name)
        with np.errstate(all="ignore"):
            found = {
                "LT": x < y, "GT": x > y, "EQ": x == y, "LE": x <= y, "GE": x >= y, "NE": x != y,
            }[mode]  # fmt: skip
        unordered = np.isnan(x) | np.isnan(y)
        return found & ~unordered if mode == "NE" and self.env["ne_ordered"] else found


class Integers:
    """Instructions on one integer type, on patterns."""

    def __init__(self, dtype):
        self.dtype = np.dtype(dtype)
        self.bits = 8 * self.dtype.itemsize
        self.word = np.dtype(f"u{self.dtype.itemsize}")

    def read(self, words):
        return [int(x) for x in words.view(self.dtype)]

    def out(self, numbers):
        return np.array([n & (1 << self.bits) - 1 for n in numbers], np.uint64).astype(self.word)

    def operate(self, function, *operands):
        return self.out(function(*each) for each in zip(*map(self.read, operands), strict=True))
