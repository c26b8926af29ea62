"""The reductions and moved elements on arrays: slow, readable twins of the compiled programs.

`mask` is a boolean array over the lanes of one repeat; other arguments as in numerics/arith.py.
Source: asc-devkit docs, reduction pages (trees documented; masked lanes and NaN assumed).
"""

from __future__ import annotations

import numpy as np

from ascendsim.numerics import arith
from ascendsim.numerics.words import format_of, words


def tree(values: np.ndarray, groups: int = 1, env: int = 0) -> np.ndarray:
    """Return one sum per group: neighbours are added until `groups` elements are left."""
    while values.size > groups:
        values = arith.add(values[0::2], values[1::2], env=env)
    return values


def masked(values: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Return `values` with +0 where `mask` is False."""
    return np.where(mask, words(values), 0).astype(words(values).dtype).view(values.dtype)


def total(values: np.ndarray, lanes: int, way: str, env: int = 0) -> np.ndarray:
    """Return the sum of all `values` (whole repeats of `lanes`) as an array of one element.

    Parameters
    ----------
    way : "sequence", "tree" or "vectors": how the repeats are put together
    """
    repeats = values.reshape(-1, lanes)
    if way == "vectors":
        sums = repeats[0]
        for repeat in repeats[1:]:
            sums = arith.add(sums, repeat, env=env)
        return tree(sums, env=env)
    sums = np.concatenate([tree(repeat, env=env) for repeat in repeats])
    if way == "sequence":
        found = sums[:1]
        for place in range(1, sums.size):
            found = arith.add(found, sums[place : place + 1], env=env)
        return found
    while True:
        filled = np.zeros(-(-sums.size // lanes) * lanes, sums.dtype)
        filled[: sums.size] = sums
        sums = np.concatenate([tree(part, env=env) for part in filled.reshape(-1, lanes)])
        if sums.size == 1:
            return sums


def best(values: np.ndarray, minimum: bool, env: int = 0) -> tuple[np.ndarray, int]:
    """Return the largest (smallest) element as an array of one, and the first index it has."""
    if values.dtype.kind in "iu":
        place = int(np.argmin(values) if minimum else np.argmax(values))
        return values[place : place + 1], place
    fmt, patterns = format_of(values.dtype), words(values).astype(np.int64)
    size = patterns & (fmt.sign_bits - 1)
    nan = np.flatnonzero(size > fmt.inf_bits)
    order = np.where(patterns >= fmt.sign_bits, -1 - size, size)
    place = int(nan[0] if nan.size else np.argmin(order) if minimum else np.argmax(order))
    found = values[place : place + 1]
    return (arith.minimum if minimum else arith.maximum)(found, found, env=env), place
