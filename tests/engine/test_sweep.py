"""The loop over patterns gives the bits of a launch on the same patterns, and their checksum."""

from __future__ import annotations

import numpy as np
import pytest

import ascendsim as asim
from ascendsim.ascendc import *
from ascendsim.errors import UnsupportedError
from ascendsim.host.job import make_job
from ascendsim.launch.plans import sweep_loop
from ascendsim.options import Options
from tests.engine.kit import job_of
from tests.kit import Ub, gm

FACTOR = 2654435761
NAN = {
    "float32": (0x7F800000, 0x7FC00000),
    "float16": (0x7C00, 0x7E00),
    "bfloat16": (0x7F80, 0x7FC0),
}


def loop_of(op, dtype, swept):
    numpy = op.definition.choose_dtypes(dtype)["out"].numpy
    few = np.ones(100, numpy)
    job = make_job(op, {"grad": few, "x": few}, op.tiling(few.shape, dtype), None, 0, Options())
    return sweep_loop(job, swept), numpy


def launched(op, dtype, grad, x):
    tiling = op.tiling(x.shape, dtype)
    return asim.launch(op, {"grad": grad, "x": x}, tiling, mode="replay").out.view(
        f"u{x.dtype.itemsize}"
    )


def checksum(dtype, out, index):
    infinity, quiet = NAN[dtype]
    words = out.astype(np.uint64)
    words[(words & (infinity | infinity - 1)) > infinity] = quiet
    return int((words * (index.astype(np.uint64) * FACTOR + 1)).sum(dtype=np.uint64))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", ["hard_swish_grad", "swish_grad"])
def test_every_pattern_of_16_bits(name, dtype):
    op = asim.load(name)
    loop, numpy = loop_of(op, dtype, {"x": 0})
    index = np.arange(65536, dtype=np.uint16)
    one = np.ones(65536, numpy)
    want = launched(op, dtype, one, index.view(numpy))
    constants = {"grad": int(one.view(np.uint16)[0])}
    got = np.empty(65000, np.uint16)
    loop.fill(33, got, constants)
    assert (got == want[33:65033]).all()
    whole = checksum(dtype, want, index)
    assert loop.checksum(0, 65536, constants) == whole
    parts = loop.checksum(0, 1001, constants) + loop.checksum(1001, 64535, constants)
    assert parts % 2**64 == whole


def test_32_bits_from_any_start():
    op = asim.load("hard_sigmoid_grad")
    loop, numpy = loop_of(op, "float32", {"x": 0})
    starts = (0, 0x40400000 - 500, 0x7F800000 - 500, 0xC0400000 - 500, 2**32 - 1000)
    index = np.concatenate([np.arange(s, s + 1000, dtype=np.uint64) for s in starts])
    index = index.astype(np.uint32)
    want = launched(op, "float32", np.ones(index.size, numpy), index.view(numpy))
    constants, total = {"grad": 0x3F800000}, 0
    for number, start in enumerate(starts):
        got = np.empty(1000, np.uint32)
        loop.fill(start, got, constants)
        assert (got == want[1000 * number : 1000 * number + 1000]).all()
        total += loop.checksum(start, 1000, constants)
    assert total % 2**64 == checksum("float32", want, index)


def test_pairs_of_patterns():
    op = asim.load("hard_swish_grad")
    loop, numpy = loop_of(op, "float16", {"x": 0, "grad": 16})
    index = np.arange(0xC1FFFF80, 0xC2000080, dtype=np.uint32)
    grad, x = (index >> 16).astype(np.uint16).view(numpy), index.astype(np.uint16).view(numpy)
    want = launched(op, "float16", grad, x)
    assert loop.checksum(int(index[0]), index.size, {}) == checksum("float16", want, index)


def test_what_is_not_elementwise_is_refused():
    def shifted(x, out):
        u = Ub(a=(float32, 128))
        DataCopy(u["a"], gm(x), 128)
        Add(u["a"], u["a"], u["a"][64:], 64)
        DataCopy(gm(out), u["a"], 64)

    job = job_of(shifted, {"x": np.ones(128, np.float32)}, {"out": ((64,), "float32")})
    with pytest.raises(UnsupportedError, match=r"Add: src0 a and src1 a are shifted"):
        sweep_loop(job, {"x": 0})
