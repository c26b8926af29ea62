"""What DataCopyPad leaves around its blocks, on both architectures and by options."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ascendsim.ascendc import *
from ascendsim.isa.padding import PadBlocks
from ascendsim.numerics.vexec import mover
from tests.helpers import assert_same_bits
from tests.isa.test_copy import BOTH, FILL, HALVES, into_ub

A5 = float(np.uint16(0xA5A5).view(np.float16))
BEEF = float(np.uint16(0xBEEF).view(np.float16))


def around(soc, pad, **options):
    """Return what stands left of, and behind, 20 halves after a copy with `pad`."""
    block = into_ub(
        soc,
        HALVES,
        DataCopyParams(1, 40, 0, 0),
        DataCopyPadParams(*pad),
        options={**FILL, **options},
    )
    got, left = block.ub[0].view(np.float16), pad[1] if pad else 0
    assert_same_bits(got[left : left + 20], HALVES)
    return got[:left].tolist(), got[left + 20 : 64].tolist()


@pytest.mark.parametrize(
    ("soc", "pad", "left", "behind"),
    [
        ("ascend910b1", (), [], [1] * 12),  # the block's first element
        ("ascend950", (), [], [1] * 12),
        ("ascend910b1", (True, 0, 0, 9), [], [1] * 12),
        ("ascend950", (True, 0, 0, 9), [], [9] * 12),
        ("ascend910b1", (True, 2, 3, 9), [9] * 2, [9] * 10),
        ("ascend950", (True, 2, 3, 9), [9] * 2, [9] * 10),
        ("ascend910b1", (False, 2, 3, 9), [BEEF] * 2, [BEEF] * 10),
        ("ascend950", (False, 2, 3, 9), [BEEF] * 2, [BEEF] * 3 + [1] * 7),
        ("ascend950", (True, 0, 16, 9), [], [9] * 28),
    ],
)
def test_padding_rules(soc, pad, left, behind):
    before, after = around(soc, pad)
    assert before == left
    assert after == behind + [A5] * (len(after) - len(behind))


@BOTH
def test_padding_options(soc):
    assert around(soc, (), pad_bytes="none")[1] == [A5] * 44
    assert around(soc, (), pad_bytes="poison")[1] == [BEEF] * 12 + [A5] * 32
    assert around(soc, (True, 2, 3, 9), pad_bytes="none")[1] == [9] * 3 + [A5] * 39


def test_grades_of_padding():
    for soc, grade in (("ascend910b1", "assumed"), ("ascend950", "documented")):
        block = into_ub(soc, HALVES, DataCopyParams(1, 40, 0, 0), DataCopyPadParams())
        assert block.rules["pad-bytes"] == grade
    whole = into_ub("ascend950", HALVES, DataCopyParams(1, 32, 0, 0), DataCopyPadParams())
    assert "pad-bytes" not in whole.rules


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_all_blocks_at_once_store_what_one_by_one_stores(data):
    dtype = data.draw(st.sampled_from([uint8_t, half, float32]))
    most = 32 // dtype.nbytes
    left, right, tail = (data.draw(st.integers(0, most)) * dtype.nbytes for _ in range(3))
    length, blocks = data.draw(st.integers(1, 9)) * dtype.nbytes, data.draw(st.integers(1, 20))
    pitch = -(-(left + length + right + tail) // 32) * 32 + 32 * data.draw(st.integers(0, 2))
    start = 32 * data.draw(st.integers(0, 3))
    repeats_first = data.draw(st.booleans())
    words = np.array([9, 7], dtype.bits)
    images = []
    for store in (PadBlocks._store_each, PadBlocks._store_many):
        ub = np.arange(20 * 400, dtype=np.uint8)
        core = SimpleNamespace(ub=SimpleNamespace(array=ub), move=mover())
        address = ub.ctypes.data + start
        dst = SimpleNamespace(core=core, start=start, address=address, dtype=dtype)
        shape = (blocks, length, pitch, left, right, right + tail)
        store(PadBlocks(dst, *shape, words, repeats_first))
        images.append(ub)
    assert_same_bits(images[1], images[0])
