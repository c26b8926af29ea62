"""Blocks that write different bytes of one line of the scalar unit's data cache."""

from __future__ import annotations

import pytest

from ascendsim.ascendc import *
from tests.checks.kit import DATA, OUT, N, faults, findings_of, pipe_with, verify
from tests.kit import gm

TABLE, fault = faults()
SHARED = "memcheck:cache-line"
BLOCKS = {"block_dim": 3}


@pytest.mark.parametrize("each", TABLE, ids=lambda each: each.name)
def test_found_alone_at_its_line_and_twin_clean(each):
    verify(each)


def copied_out(out, first, number):
    p = pipe_with(a=4 * N)
    a = p.a.Get(float32)
    Duplicate(a, 1.0, N)
    SetFlag(HardEvent.V_MTE3, 0)
    WaitFlag(HardEvent.V_MTE3, 0)
    DataCopyPad(gm(out)[first:], a, DataCopyParams(1, 4 * number, 0, 0))


@fault(SHARED, request=BLOCKS)
def elements_side_by_side(k, x, out):
    gm(out).SetValue((1 if k.broken else 16) * GetBlockIdx(), 1.0)  # fault


@fault(SHARED, request=BLOCKS)
def element_beside_a_copy(k, x, out):
    if GetBlockIdx() == 0:
        copied_out(out, 0, 15)
    elif GetBlockIdx() == 1:
        gm(out).SetValue(15 if k.broken else 16, 1.0)  # fault


@fault(SHARED, request=BLOCKS)
def elements_without_order(k, x, out):
    for turn in range(3):
        if GetBlockIdx() == turn:
            gm(out).SetValue(turn, 1.0)  # fault
        if not k.broken:
            SyncAll()


def test_copies_share_lines_at_will():
    def body(x, out):
        copied_out(out, 3 * GetBlockIdx(), 3)

    assert findings_of(body, DATA, OUT, **BLOCKS) == []


def test_the_same_bytes_are_trampled_and_no_more():
    found = findings_of(lambda x, out: gm(out).SetValue(3, 1.0), DATA, OUT, **BLOCKS)
    assert [each.code for each in found] == ["memcheck:gm-trample"]


def test_the_line_and_its_partner():
    found = verify(TABLE[1])
    assert (found.bytes, found.memory, found.severity) == ((0, 64), "out", "warning")
    assert found.partner.startswith("DataCopyPad on MTE3 at ")
