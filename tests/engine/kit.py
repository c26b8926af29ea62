"""Run one job in several modes and hold the bytes against step mode."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ascendsim.explore.inputs import random_bits
from ascendsim.launch import Job, Ran, Readers, run
from tests.helpers import assert_same_bits
from tests.kit import make_job

__all__ = ["assert_same", "bits", "job_of", "ran", "random_bits"]


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
