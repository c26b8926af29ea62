"""Skipping periods never changes a schedule: random programs, walked and skipped."""

from __future__ import annotations

import numpy as np
import pytest

from ascendsim.observe.timeline.schedule import Program, find_periods, walk
from ascendsim.observe.timeline.steps import (
    BARRIER,
    ISSUE,
    MTE2,
    MTE3,
    READ,
    SCALAR,
    SIGNAL,
    VECTOR,
    WAIT,
    WRITE,
    S,
    V,
    fingerprints,
)

PIPES = {READ: MTE2, VECTOR: V, WRITE: MTE3}


def random_program(seed):
    """Return a random tile, repeated, with tokens inside a tile and to the tile after next."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(6, 18))
    kinds = rng.choice([READ, VECTOR, WRITE, VECTOR, ISSUE, SIGNAL, WAIT, BARRIER, SCALAR], size)
    pipes = [PIPES.get(int(k), int(rng.integers(0, 3))) for k in kinds]
    pipes = [S if k in (ISSUE, SCALAR) else p for k, p in zip(kinds, pipes, strict=True)]
    if rng.integers(0, 6) == 0:
        pipes = [S if k == WAIT else p for k, p in zip(kinds, pipes, strict=True)]
    signals = [i for i, k in enumerate(kinds) if k == SIGNAL]
    waits = [0] * size
    for i, kind in enumerate(kinds):
        if kind == WAIT:
            before = [s for s in signals if s < i]
            later = size * int(rng.integers(1, 3))
            waits[i] = i - before[-1] if before else (later + i - signals[-1] if signals else 0)
    repeats = int(rng.integers(8, 40))
    busy = [float(rng.integers(0, 400)) / 8 if k in PIPES else 0.0 for k in kinds]
    latency = [float(rng.integers(0, 600)) if k == READ else 0.0 for k in kinds]
    count = range(repeats)
    whole = [list(column) * repeats for column in (kinds, pipes, busy, latency, waits)]
    steps = len(count) * size
    whole[4] = [w if i - w >= 0 else 0 for i, w in enumerate(whole[4])]
    prints = fingerprints(whole[0], whole[1], [int(b * 8) for b in whole[2]], whole[4])
    periods = find_periods(prints, 0, steps)
    issue = float(rng.choice([0.5, 2.5, 20.0, 200.0]))
    return Program(*whole, periods, issue, 11.0, 450.0)


@pytest.mark.parametrize("chunk", range(12))
def test_skipping_changes_nothing(chunk):
    skipped = 0
    for seed in range(chunk * 60, chunk * 60 + 60):
        program = random_program(seed)
        fast, _ = walk(program)
        slow, _ = walk(program, emit=lambda *_: None)
        assert fast == slow, seed
        skipped += bool(program.periods)
    assert skipped > 20
