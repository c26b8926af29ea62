"""Arguments that an instruction does not take, as findings; stale tensors of a TBufPool."""

from __future__ import annotations

import pytest

from ascendsim.ascendc import *
from tests.checks.kit import BOTH, DATA, OUT, N, faults, findings_of, pipe_with, verify
from tests.kit import gm

TABLE, fault = faults()
ON_950 = {"soc": "ascend950"}


@pytest.mark.parametrize("each", TABLE, ids=lambda each: each.name)
def test_found_alone_at_its_line_and_twin_clean(each):
    verify(each)


@fault("memcheck:illegal-range")
def too_many_repeats(k, x, out):
    p = pipe_with(a=32)
    Duplicate(p.a.Get(float32), 1.0, 8, 256 if k.broken else 255, 1, 0)  # fault


@fault("memcheck:illegal-range", request=ON_950)
def mask_without_lanes(k, x, out):
    p = pipe_with(a=256)
    Duplicate(p.a.Get(float32), 1.0, [0 if k.broken else 1, 0], 1, 1, 8)  # fault


@fault("memcheck:illegal-range", request=ON_950)
def mask_with_a_high_word(k, x, out):
    p = pipe_with(a=256)
    Duplicate(p.a.Get(float32), 1.0, [1, int(k.broken)], 1, 1, 8)  # fault


@fault("memcheck:illegal-range")
def no_block_stride(k, x, out):
    p = pipe_with(a=256)
    Duplicate(p.a.Get(float32), 1.0, 8, 1, 0 if k.broken else 1, 8)  # fault


@fault("memcheck:illegal-range", BOTH)
def stride_beyond_its_field(k, x, out):
    p = pipe_with(a=256)
    a = p.a.Get(float32)
    if k.form == "count":
        DataCopy(a, gm(x), DataCopyParams(1, 1, 65536 if k.broken else 65535, 0))  # fault
    else:
        Duplicate(a, 1.0, 8, 1, 1, 256 if k.broken else 255)  # fault


@fault("memcheck:illegal-type")
def type_that_the_chip_lacks(k, x, out):
    p = pipe_with(a=256, b=256)
    T = int32_t if k.broken else float32
    a, b = p.a.Get(T), p.b.Get(T)
    Duplicate(a, 1, 64)
    Exp(b, a, 64)  # fault


@fault("memcheck:illegal-operand")
def operand_in_gm(k, x, out):
    p = pipe_with(a=256)
    a = p.a.Get(float32)
    Duplicate(a, 1.0, 64)
    Muls(a, gm(x) if k.broken else a, 2.0, 64)  # fault


@fault("memcheck:unallocated", BOTH)
def tensor_of_a_pool_that_was_reset(k, x, out):
    pipe, pool = TPipe(), TBufPool()
    one, other = TBuf(TPosition.VECCALC), TBuf(TPosition.VECCALC)
    pipe.InitBufPool(pool, 1024)
    pool.InitBuffer(one, 4 * N)
    a = one.Get(float32)
    if k.broken:
        pool.Reset()
    pool.InitBuffer(other, 4 * N)
    Duplicate(other.Get(float32), 1.0, N)
    if k.form == "count":
        Duplicate(a, 2.0, N)  # fault
    else:
        Duplicate(a, 2.0, 64, 2, 1, 8)  # fault


def test_what_was_found_before_is_kept():
    def body(x, out):
        p = pipe_with(a=4 * N)
        a = p.a.Get(float32)
        DataCopy(a, gm(x), N)
        Muls(a, a, 2.0, N)
        Muls(a, a, 2.0, 64, 999, UnaryRepeatParams(1, 1, 8, 8))

    codes = [each.code for each in findings_of(body, DATA, OUT)]
    assert codes == ["racecheck:raw-inter-pipe", "memcheck:illegal-range"]


def test_a_way_out_where_the_text_has_none():
    (found,) = next(e for e in TABLE if e.name == "type_that_the_chip_lacks").run(True)
    assert found.way_out
    assert found.way_out != found.message
