"""Random inputs of an operator: the same for the same seed, wherever they are needed."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ascendsim.dtypes import DType
from ascendsim.explore.boundary import boundary_values

Shape = tuple[int, ...]

_CHUNK = 1 << 20
_STANDARD_NORMAL = "grad"  # the input that is not widened
_SPREAD = np.float32(4)
_BOUNDARY_SHARE = 4  # one in so many elements is a boundary value, in every other seeded input


def random_inputs(
    wanted: Mapping[str, DType], shape: Shape | Mapping[str, Shape], seed: int
) -> dict[str, np.ndarray]:
    """Return random inputs, drawn in the order of `wanted` from one generator.

    `grad` is standard normal, other float inputs 4 x standard normal, integers uniform over
    their type. Made in pieces, so that nothing much larger than the result is ever held.
    shape : one for all, or by name
    """
    generator = np.random.default_rng(seed)
    made = {}
    for name, dtype in wanted.items():
        values = np.empty(shape[name] if isinstance(shape, Mapping) else shape, dtype.numpy)
        flat = values.reshape(-1)
        for start in range(0, flat.size, _CHUNK):
            piece = flat[start : start + _CHUNK]
            if dtype.kind == "float":
                drawn = generator.standard_normal(piece.size, np.float32)
                piece[:] = drawn if name == _STANDARD_NORMAL else drawn * _SPREAD
            else:
                limits = np.iinfo(dtype.numpy)
                piece[:] = generator.integers(
                    limits.min, limits.max, piece.size, dtype.numpy, endpoint=True
                )
        made[name] = values
    return made


def seeded_inputs(
    wanted: Mapping[str, DType], shape: Shape | Mapping[str, Shape], seed: int, count: int
) -> list[dict[str, np.ndarray]]:
    """Return `count` sets of random inputs, of the seeds seed + 1 and on.

    Every other one has boundary values (NaN, infinities, ties; explore/boundary.py) among them.
    """
    found = []
    for number in range(1, count + 1):
        made = random_inputs(wanted, shape, seed + number)
        if number % 2 == 0:
            generator = np.random.default_rng([seed + number, 1])
            for name, dtype in wanted.items():
                flat = made[name].reshape(-1)
                places = generator.random(flat.size) < 1 / _BOUNDARY_SHARE
                flat[places] = generator.choice(boundary_values(dtype), int(places.sum()))
        found.append(made)
    return found


def random_bits(dtype: DType, count: int, seed: int) -> np.ndarray:
    """Return every kind of pattern: NaNs with payloads, infinities, subnormals, plain numbers."""
    rng = np.random.default_rng(seed)
    words = rng.integers(0, 1 << 8 * dtype.nbytes, count, np.uint64).astype(dtype.bits)
    values = words.view(dtype.numpy)
    if dtype.kind == "float":
        with np.errstate(all="ignore"):
            values[::3] = (3 * rng.standard_normal(values[::3].size)).astype(dtype.numpy)
            values[1::7] = np.array([0.0, -0.0, np.inf, -np.inf, 3, -3]).astype(dtype.numpy)[
                rng.integers(0, 6, values[1::7].size)
            ]
    return values
