"""The compiled scan against a slow one, and parts that join to the same totals however cut."""

from __future__ import annotations

import sys
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from ascendsim.explore.atlas import totals
from ascendsim.explore.atlas.space import FORMATS, Space
from ascendsim.explore.atlas.totals import Totals, compared
from ascendsim.numerics.differences import CLASSES, KEPT_RUNS
from ascendsim.numerics.rounding import decode

SIZE, BASE = 1 << 13, (1 << 15) - (1 << 12)  # around the first pattern with a sign
GENERATOR = np.random.default_rng(5)
SPECIAL = {
    "float32": (0, 0x80000000, 1, 0x7FFFFF, 0x800000, 0x7F7FFFFF, 0x7F800000, 0xFF800000),
    "float16": (0, 0x8000, 1, 0x3FF, 0x400, 0x7BFF, 0x7C00, 0xFC00),
    "bfloat16": (0, 0x8000, 1, 0x7F, 0x80, 0x7F7F, 0x7F80, 0xFF80),
}


class Fixed:
    """A source that holds its results, those of the indices from BASE on."""

    exact = 0
    signed_zero = True

    def __init__(self, results: np.ndarray) -> None:
        self.results = results

    def bits(self, start: int, count: int) -> np.ndarray:
        return self.results[start - BASE : start - BASE + count].copy()

    def checksum(self, start: int, count: int) -> None:
        return None


def pair(name: str, share: float) -> tuple[np.ndarray, np.ndarray]:
    """Return two streams of SIZE patterns that differ here and there, in runs too."""
    fmt = FORMATS[name]
    one = GENERATOR.integers(0, 1 << fmt.width, SIZE, np.uint32)
    one[: SIZE // 4] = one[0] & ~np.uint32(fmt.inf_bits) | np.uint32(fmt.min_normal_bits << 3)
    two = one.copy()
    for start, stop in ((3000, 3700), (4000, 4500), (5000, 5064)):
        two[start:stop] ^= np.uint32(1)
    for place in np.flatnonzero(GENERATOR.random(SIZE) < share):
        length = int(GENERATOR.integers(1, 6))
        kind = GENERATOR.integers(0, 4)
        if kind == 0:
            two[place : place + length] ^= np.uint32(GENERATOR.integers(1, 8))
        elif kind == 1:
            two[place : place + length] = GENERATOR.choice(SPECIAL[name])
        elif kind == 2:
            two[place] = GENERATOR.integers(0, 1 << fmt.width)
        else:
            one[place], two[place] = GENERATOR.choice(SPECIAL[name], 2)
    return one, two


def slow(one: np.ndarray, two: np.ndarray, space: Space) -> list[tuple[str, int, int]]:
    """Return (class, first, last) of every run, element by element as the docstring says."""
    fmt = space.out
    first, second = ([decode(int(bits), fmt) for bits in each] for each in (one, two))
    runs: list[tuple[str, int, int]] = []
    largest_of: dict[int, Any] = {}
    for i, (a, b) in enumerate(zip(first, second, strict=True)):
        if one[i] == two[i] or (a.kind == b.kind == "nan"):
            continue
        if "nan" in (a.kind, b.kind):
            name = "nan"
        elif "inf" in (a.kind, b.kind):
            name = "overflow"
        elif (
            a.is_zero != b.is_zero
            and max(a.magnitude, b.magnitude) < decode(fmt.min_normal_bits, fmt).number
        ):
            name = "flush"
        else:
            block = i // space.near * space.near
            if block not in largest_of:
                near = [*first[block : block + space.near], *second[block : block + space.near]]
                largest_of[block] = max(v.magnitude for v in near if v.kind == "finite")
            largest = largest_of[block]
            far = abs(order(int(one[i]), fmt) - order(int(two[i]), fmt)) > 3
            name = "boundary" if far and 16 * abs(a.number - b.number) > largest else "rounding"
        goes_on = (
            runs and runs[-1][0] == name and runs[-1][2] == i - 1 and (BASE + i) % (space.row // 2)
        )
        runs[-1:] = [(name, runs[-1][1], i)] if goes_on else [*runs[-1:], (name, i, i)]
    return runs


def order(bits: int, fmt) -> int:
    return fmt.sign_bits - bits if bits >= fmt.sign_bits else bits


@pytest.mark.parametrize("share", [0.0, 0.002, 0.3])
@pytest.mark.parametrize(("x", "name"), [*((("bfloat16", n)) for n in FORMATS), ("float32",) * 2])
def test_runs_and_classes(x, name, share, monkeypatch):
    """With a float32 x whole steps of a run are counted at once."""
    space = Space("x", {"x": x, "out": name}, {}, "", "out")
    monkeypatch.setattr(sys.modules[__name__], "BASE", space.row // 2 - SIZE // 2)
    one, two = pair(name, share)
    runs = slow(one, two, space)
    aligned = [0, 8, 1 << 12, (1 << 12) + 8, SIZE] if space.near == 8 else [0, SIZE]
    for cuts in ([0, SIZE], aligned):  # chunks are multiples of the neighbours of a boundary
        found = Totals.fresh(BASE)
        for start, stop in pairwise(BASE + cut for cut in cuts):
            part = compared(space, Fixed(one), Fixed(two), start, stop - start)
            found.add(part, space.row // 2)
        for kind, label in enumerate(CLASSES):
            wanted = [(BASE + a, BASE + b) for each, a, b in runs if each == label]
            assert found.run_counts[kind] == len(wanted)
            assert found.counts[kind] == sum(b - a + 1 for a, b in wanted)
            kept = [(run.start, run.stop) for run in found.runs[kind]]
            assert kept == wanted[:KEPT_RUNS]
        assert sum(found.differing.values()) == sum(found.counts)


@pytest.mark.parametrize("name", FORMATS)
def test_checksum_is_the_sum_that_is_promised(name):
    one, _ = pair(name, 0.0)
    fmt = FORMATS[name]
    space = Space("x", {"x": "float16", "out": name}, {}, "", "out")
    found = Totals.fresh(BASE)
    for start in range(BASE, BASE + SIZE, SIZE // 4):
        found.add(compared(space, Fixed(one), None, start, SIZE // 4), space.row // 2)
    wanted = 0
    for index, bits in enumerate(one.tolist(), BASE):
        is_nan = decode(bits, fmt).kind == "nan"
        canonical = fmt.nan_bits(False) if is_nan else bits
        wanted += canonical * (index * 2654435761 + 1)
    assert found.checksum == wanted % (1 << 64)


def test_a_state_comes_back_as_it_was():
    one, two = pair("float16", 0.3)
    space = Space("x", {"x": "float16", "out": "float16"}, {}, "", "out")
    found = Totals.fresh(BASE)
    found.add(compared(space, Fixed(one), Fixed(two), BASE, 4096), space.row // 2)
    again = Totals.from_state(found.to_state())
    for each in (found, again):
        each.add(compared(space, Fixed(one), Fixed(two), BASE + 4096, 4096), space.row // 2)
    assert again == found
    assert totals.FACTOR == 2654435761
