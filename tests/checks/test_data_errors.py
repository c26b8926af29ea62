"""Data that an instruction cannot take: the finding, its call, its value and the way out."""

from __future__ import annotations

import pytest

from ascendsim.ascendc import *
from ascendsim.errors import AscendError
from ascendsim.launch import Readers, launch
from ascendsim.observe.checks import TOOLS, Checks
from tests.checks.kit import DATA, OUT, N, findings_of, pipe_with
from tests.kit import gm, make_job


def gathers(name, offset, base=0):
    """Return a kernel whose fifth offset is `offset`, of Gather or Gatherb on 512 bytes."""

    def body(x, out):
        p = pipe_with(a=4 * N, b=4 * N, o=32)
        a, b, o = p.a.Get(float32), p.b.Get(float32), p.o.Get(uint32_t)
        DataCopy(a, gm(x), N)
        SetFlag(HardEvent.MTE2_V, 0)
        WaitFlag(HardEvent.MTE2_V, 0)
        Duplicate(o, 0, 8)
        SetFlag(HardEvent.V_S, 0)
        WaitFlag(HardEvent.V_S, 0)
        o.SetValue(4, offset)
        SetFlag(HardEvent.S_V, 0)
        WaitFlag(HardEvent.S_V, 0)
        if name == "Gather":
            Gather(b, a, o, base, 8)
        else:
            a, b = a.ReinterpretCast(uint32_t), b.ReinterpretCast(uint32_t)
            Gatherb(b, a, o, 1, GatherRepeatParams(1, 8))

    return body


class Calls:
    """An observer that keeps the number of the last call of a name."""

    def __init__(self, name):
        self.name, self.seq = name, None

    def before(self, instr):
        if instr.call.name == self.name:
            self.seq = instr.seq

    def after(self, instr):
        pass


def found_in(body, name):
    """Return the only finding of a kernel, whose call must be the last `name`."""
    job, calls = make_job(body, DATA, OUT), Calls(name)
    checks = Checks(TOOLS, job.options, defined=("x",))
    launch(job, Readers((calls,), checks=checks))
    (found,) = checks.all()
    assert found.seq == calls.seq
    assert found.instruction == name
    return found


@pytest.mark.parametrize(
    ("name", "offset", "code", "told", "way_out"),
    [
        ("Gatherb", 40, "misaligned", "offset[4] is 40, no multiple of 32 bytes", "at 32 * k"),
        ("Gatherb", 500, "misaligned", "offset[4] is 500, no multiple of 32", "at 32 * k"),
        ("Gatherb", 512, "out-of-bounds", "offset[4] is 512: bytes 0x200 to 0x220", "up to 480"),
        ("Gather", 6, "misaligned", "srcOffset[4] is 6, no multiple of 4 bytes", "at 4 * k"),
        ("Gather", 512, "out-of-bounds", "srcOffset[4] is 512: bytes 0x200 to 0x204", "up to 508"),
        ("Gather", 2**32 - 4, "out-of-bounds", "is 4294967292: bytes 0xfffffffc", "up to 508"),
    ],
)
def test_offsets(name, offset, code, told, way_out):
    found = found_in(gathers(name, offset), name)
    assert found.code == f"memcheck:{code}"
    assert told in found.message
    assert way_out in found.way_out
    assert found.memory == "UB"
    # the offset itself where that is wrong, else src
    assert found.bytes == ((1040, 1044) if code == "misaligned" else (0, 512))


def test_an_offset_behind_a_base():
    found = found_in(gathers("Gather", 500, 12), "Gather")
    assert "srcOffset[4] is 500 from srcBaseAddr 12: bytes 0x200 to 0x204 leave" in found.message
    assert found.way_out.endswith("use offsets up to 496")
    found = found_in(gathers("Gather", 0, 600), "Gather")
    assert found.way_out.endswith("use a larger src")


@pytest.mark.parametrize(("name", "offset"), [("Gatherb", 480), ("Gather", 508)])
def test_the_last_offset_is_none(name, offset):
    assert findings_of(gathers(name, offset), DATA, OUT) == []


def test_a_mask_that_keeps_too_many():
    def body(x, out):
        p = pipe_with(a=4 * N, b=32, m=32)
        a, b, m = p.a.Get(float32), p.b.Get(float32), p.m.Get(uint32_t)
        Duplicate(a, 1.0, N)
        Duplicate(m, 0xFFFF, 8)
        GatherMask(b, a, m, True, 64, GatherMaskParams(1, 1, 8, 0))

    found = found_in(body, "GatherMask")
    assert found.code == "memcheck:out-of-bounds"
    assert "the mask keeps 32 elements" in found.message


def test_scores_that_are_nan_are_an_error_of_the_call():
    def body(x, out):
        p = pipe_with(a=128, b=256, i=128)
        a, b, i = p.a.Get(float32), p.b.Get(float32), p.i.Get(uint32_t)
        Duplicate(a, float("nan"), 32)
        Duplicate(i, 0, 32)
        Sort32(b, a, i, 1)

    with pytest.raises(AscendError, match="Sort32: score 0 is a NaN") as caught:
        findings_of(body, DATA, OUT)
    assert caught.value.executed


def test_undefined_offsets_have_the_name_of_the_manual():
    def body(x, out):
        p = pipe_with(a=4 * N, b=4 * N, o=32)
        a, b, o = p.a.Get(float32), p.b.Get(float32), p.o.Get(uint32_t)
        Duplicate(a, 1.0, N)
        a, b = a.ReinterpretCast(uint32_t), b.ReinterpretCast(uint32_t)
        Gatherb(b, a, o, 1, GatherRepeatParams(1, 8))

    (found,) = findings_of(body, DATA, OUT, options={"ub_fill": "0x00"})
    assert found.message == "Gatherb takes offset from undefined bytes"


def test_numbers_of_calls_that_are_refused_before_their_record():
    def body(x, out):
        p = pipe_with(a=64)
        a = p.a.Get(float32)
        Duplicate(a, 1.0, 16)
        Duplicate(a, 1.0, 32)

    job, calls = make_job(body, DATA, OUT), Calls("Duplicate")
    checks = Checks(TOOLS, job.options, defined=("x",))
    launch(job, Readers((calls,), checks=checks))
    (found,) = checks.all()
    assert found.seq == calls.seq + 1
