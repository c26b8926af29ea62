"""The copy kernel: what it reads, in which copies, and that it leaves 32 bytes per block."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ascendsim as asim
from ascendsim.errors import TilingError

OP = asim.load(Path(__file__).parent / "gm_copy")
SHAPE = (96, 512)


def run(dtype="float16", shape=SHAPE, soc="ascend910b1", cores=3, **attrs):
    """Run and return output, x and the copies from x."""
    til = OP.tiling(shape, dtype, soc=soc, cores=cores, **attrs)
    x = np.arange(np.prod(shape)).reshape(shape)
    x = (x % 2003).astype(til.dtype.numpy)
    made = asim.launch(OP, {"x": x}, til, record="calls")
    assert made.warnings == []
    return made.out, x, [c for c in made.calls if c.get("src0", {}).get("gm") == "x"]


def counts(copies, shape=SHAPE, nbytes=2):
    """How often each element of x was read."""
    seen = np.zeros(np.prod(shape), int)
    for copy in copies:
        unit = 32 if copy["op"] == "DataCopy" else 1
        length, gap = copy["blockLen"] * unit, copy["srcStride"] * unit
        for burst in range(copy["blockCount"]):
            start = (copy["src0"]["off"] + burst * (length + gap)) // nbytes
            seen[start : start + length // nbytes] += 1
    return seen.reshape(shape)


@pytest.mark.parametrize(
    ("soc", "dtype"),
    [
        ("ascend910b1", "float16"),
        ("ascend950", "float32"),
        pytest.param("ascend910b1", "float32", marks=pytest.mark.slow),
        pytest.param("ascend950", "float16", marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("passes", [1, 4])
@pytest.mark.parametrize("slices", [1, 4])
@pytest.mark.parametrize(("bursts", "burst_bytes"), [(1, 128), (8, 128), (32, 256), (7, 1024)])
def test_everything_is_read(soc, dtype, passes, slices, bursts, burst_bytes):
    knobs = {"passes": passes, "slices": slices, "bursts": bursts, "burst_bytes": burst_bytes}
    out, x, copies = run(dtype, soc=soc, **knobs)
    nbytes = x.itemsize
    assert {c["op"] for c in copies} == {"DataCopy"}
    assert (counts(copies, nbytes=nbytes) == passes).all()
    assert out.shape == (3, 32 // nbytes)
    # each block's last piece starts in its last band of rows, at the last columns
    row = 32 * np.arange(1, 4) - (32 % bursts or bursts)
    width = min(burst_bytes // nbytes, SHAPE[1] // slices)
    last = SHAPE[1] - width
    assert (out == x[row, last : last + 32 // nbytes]).all()


def test_slices_come_one_after_the_other():
    _, _, copies = run(passes=2, slices=2, bursts=32, burst_bytes=512, cores=1, shape=(32, 512))
    assert [c["src0"]["off"] for c in copies] == [0, 0, 512, 512]


def test_copies_rotate_and_only_the_end_waits():
    out, _, copies = run(bursts=4, burst_bytes=64, cores=1, shape=(4, 512))
    assert len(out) == 1
    starts = [c["dst"]["ub"] for c in copies]
    assert starts == [256 * (i % 8) for i in range(16)]


@pytest.mark.parametrize("shape", [SHAPE, (96, 511)])
def test_unaligned(shape):
    unaligned = shape == SHAPE
    out, x, copies = run(shape=shape, unaligned=unaligned, bursts=8, burst_bytes=256)
    assert {c["op"] for c in copies} == {"DataCopyPad"}
    first = int(unaligned)
    assert (counts(copies, shape)[:, first:] == 1).all()
    assert (counts(copies, shape)[:, :first] == 0).all()
    lengths = [c["blockLen"] for c in copies[:4]]
    assert lengths == [256, 256, 256, 254]
    start = first + 3 * 128
    assert (out == x[[24, 56, 88], start : start + 16]).all()


def test_two_bytes_off():
    _, _, copies = run(unaligned=1, bursts=8, burst_bytes=256)
    assert {c["src0"]["off"] % 32 for c in copies} == {2}


@pytest.mark.parametrize(("l2", "hint"), [("allocate", "NORMAL"), ("bypass", "DISABLE")])
def test_hint(l2, hint):
    assert {c["l2"] for c in run(l2=l2, burst_bytes=1024)[2]} == {f"CACHE_MODE_{hint}"}


@pytest.mark.parametrize("order", ["same", "staggered"])
def test_all_read_all(order):
    _, _, copies = run(order=order, bursts=8, burst_bytes=1024)
    assert (counts(copies) == 3).all()
    firsts = [next(c for c in copies if c["core"] == k)["src0"]["off"] for k in range(3)]
    assert firsts == ([0, 0, 0] if order == "same" else [0, 32 * 1024, 64 * 1024])


def test_ragged_rows():
    out, _, copies = run(shape=(10, 64), cores=4, bursts=2, burst_bytes=128)
    assert (counts(copies, (10, 64)) == 1).all()
    assert len(out) == 4
    assert len(run(shape=(5, 64), cores=4)[0]) == 3  # 2 + 2 + 1 rows


@pytest.mark.parametrize(
    ("shape", "attrs", "match"),
    [
        ((64,), {}, "two dimensions"),
        ((0, 4), {}, "not empty"),
        (SHAPE, {"bursts": 0}, "bursts = 0: use 1..4095"),
        (SHAPE, {"burst_bytes": 40}, "burst_bytes = 40: a multiple of 32"),
        (SHAPE, {"passes": 0}, "passes = 0: use 1 or more"),
        (SHAPE, {"unaligned": 2}, "unaligned = 2: use 0..1"),
        (SHAPE, {"l2": "off"}, "l2 = 'off': use one of allocate, bypass"),
        (SHAPE, {"order": "any"}, "order = 'any'"),
        (SHAPE, {"bursts": 64, "burst_bytes": 4096}, "does not fit into UB of 196352 bytes"),
        ((4, 130), {"burst_bytes": 256}, "would have 2 elements"),
    ],
)
def test_tiling_says_no(shape, attrs, match):
    with pytest.raises(TilingError, match=match):
        OP.tiling(shape, "float16", **attrs)
