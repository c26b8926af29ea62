"""Run one job in several modes and hold the bytes against step mode."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ascendsim.launch import Job, Readers
from ascendsim.launch.engines import Ran, run
from tests.helpers import assert_same_bits
from tests.kit import make_job


def ran(job: Job, mode: str, **readers: Any) -> Ran:
    """Run a job in a mode."""
    return run(job, Readers(**readers), mode)


def job_of(
    body: Callable[..., None],
    inputs: Mapping[str, np.ndarray],
    outputs: Mapping[str, tuple[tuple[int, ...], str]],
    **request: Any,
) -> Job:
    """Return the job of a kernel body written in a test."""
    return make_job(body, inputs, outputs, **request)


def assert_same(got: Ran, want: Ran) -> None:
    """Fail unless two runs left the same bytes and say the same about them."""
    assert list(got.result.outputs) == list(want.result.outputs)
    for name, array in want.result.outputs.items():
        assert_same_bits(bits(got.result.outputs[name]), bits(array))
    assert got.result.warnings == want.result.warnings
    assert got.result.evidence == want.result.evidence


def bits(array: np.ndarray) -> np.ndarray:
    """Return the raw patterns, NaN payloads and all."""
    return np.ascontiguousarray(array).reshape(-1).view(f"u{array.dtype.itemsize}")


def random_bits(T: Any, count: int, seed: int) -> np.ndarray:
    """Return every kind of pattern: NaNs with payloads, infinities, subnormals, plain numbers."""
    rng = np.random.default_rng(seed)
    words = rng.integers(0, 1 << 8 * T.nbytes, count, np.uint64).astype(T.bits)
    values = words.view(T.numpy)
    if T.kind == "float":
        with np.errstate(all="ignore"):
            values[::3] = (3 * rng.standard_normal(values[::3].size)).astype(T.numpy)
            values[1::7] = np.array([0.0, -0.0, np.inf, -np.inf, 3, -3]).astype(T.numpy)[
                rng.integers(0, 6, values[1::7].size)
            ]
    return values
