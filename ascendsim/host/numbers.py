"""Numbers as people write them on a command line: integers, decimals, raw bits."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from ascendsim.errors import RequestError

_MAX_DIGITS = 400
_OVERFLOW = Fraction(2) ** 128 - Fraction(2) ** 103


def parse_int(value: Any, what: str) -> int:
    """Return an integer given as a number or as decimal or 0x... text.

    Raises
    ------
    RequestError
        When it is none; `what` names the thing in the text.
    """
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, str) and len(value) < _MAX_DIGITS:
        try:
            return int(value.strip(), 0) if _is_hex(value) else int(value)
        except ValueError:
            pass
    raise RequestError(f"{what}={value}: an integer is needed")


def parse_float32(value: Any, what: str) -> np.float32:
    """Return the fp32 value of a number, a decimal text (nearest even) or raw bits 0x....

    Raises
    ------
    RequestError
        When it is none of these.
    """
    if isinstance(value, str):
        text = value.strip()
        if _is_hex(text):
            bits = parse_int(text, what)
            if not 0 <= bits <= 0xFFFFFFFF:
                raise RequestError(f"{what}={value}: raw bits of fp32 lie in 0..0xffffffff")
            return np.uint32(bits).view(np.float32)
        try:
            return round_float32(text)
        except ValueError:
            pass
    elif isinstance(value, (int, float, Fraction, np.integer, np.floating)):
        with np.errstate(over="ignore"):
            return np.float32(value)
    raise RequestError(f"{what}={value}: a decimal number or raw bits like 0x3f000000 are needed")


def round_float32(text: str) -> np.float32:
    """Round a decimal text to fp32, nearest even, in one step (not by way of fp64)."""
    if len(text) > _MAX_DIGITS:
        raise ValueError(f"more than {_MAX_DIGITS} digits")
    near = float(text)
    with np.errstate(over="ignore"):
        guess = np.float32(near)
    if near == 0 or not math.isfinite(near):
        return guess
    exact = Fraction(text)
    if np.isinf(guess):
        limit = np.finfo(np.float32).max
        return guess if abs(exact) >= _OVERFLOW else np.copysign(limit, guess)
    around = (np.nextafter(guess, np.float32(side)) for side in (-np.inf, np.inf))

    def distance(candidate: np.float32) -> tuple[Fraction, int]:
        return abs(Fraction(float(candidate)) - exact), int(candidate.view(np.uint32)) & 1

    return min((c for c in (guess, *around) if np.isfinite(c)), key=distance)


def _is_hex(text: str) -> bool:
    return text.strip().lower().startswith("0x")
