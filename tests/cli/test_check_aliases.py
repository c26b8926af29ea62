"""Every name that other tools give a fault has a page, however it is written."""

from __future__ import annotations

import pytest

from ascendsim.observe.checks import CODES
from ascendsim.view import explain

#: what it is called elsewhere, and the code here
NPUCHK = {
    "ErrorRead1": "memcheck:use-after-free",
    "ErrorRead2": "initcheck:uninitialized-to-gm",
    "ErrorRead3": "memcheck:out-of-bounds",
    "ErrorRead4": "memcheck:misaligned",
    "ErrorWrite1": "memcheck:use-after-free",
    "ErrorWrite2": "memcheck:out-of-bounds",
    "ErrorWrite3": "memcheck:double-write",
    "ErrorWrite4": "memcheck:misaligned",
    "ErrorSync1": "racecheck:war-inter-pipe",
    "ErrorSync2": "racecheck:raw-inter-pipe",
    "ErrorSync3": "synccheck:set-without-wait",
    "ErrorSync4": "synccheck:set-twice",
    "ErrorLeak": "memcheck:leak",
    "ErrorFree": "memcheck:double-free",
    "ErrorBuffer0": "memcheck:no-memory",
    "ErrorBuffer1": "memcheck:wrong-queue",
    "ErrorBuffer2": "memcheck:queued-access",
    "ErrorBuffer3": "memcheck:unallocated",
    "ErrorBuffer4": "memcheck:pool-in-use",
}
SANITIZER = {
    "illegal read": "memcheck:use-after-free",
    "illegal write": "memcheck:use-after-free",
    "trampling": "memcheck:gm-trample",
    "misaligned access": "memcheck:misaligned",
    "leak-check": "memcheck:leak",
    "illegal free": "memcheck:double-free",
    "check-unused-memory": "memcheck:unused-memory",
    "unpaired": "synccheck:set-without-wait",
}
CLASSES = """
    TensorScope BufferSize AddrAlign TensorOverflow Mask Range DataType Overlap NotSupported
    UNALLOC_READ UNALLOC_WRITE FREED_ACCESS UNINIT_READ PAD_READ OOB_LOCAL OOB_UB OOB_GM
    OOB_GM_WINDOW MISALIGN COUNT_ROUNDED COMPARE_COUNT_256 DOUBLE_WRITE RACE_RAW RACE_WAR RACE_WAW
    SET_WITHOUT_WAIT WAIT_WITHOUT_SET DOUBLE_SET EVENT_EXHAUSTED MUTEX_EXHAUSTED QUE_FULL QUE_EMPTY
    WRONG_QUEUE WRONG_STATE NO_IDLE_BUFFER DOUBLE_FREE LEAK UB_OVERFLOW BUF_LIMIT_64
    RESERVED_UB_USED MASK_ZERO MASK_HIGH REPEAT_RANGE STRIDE_RANGE DST_BLK_STRIDE_0 OVERLAP
    DTYPE_UNSUPPORTED ARCH_UNSUPPORTED NOP GM_TRAMPLE SCALAR_CACHE_LINE_SHARE ATOMIC_LEFT_ON
    MASK_MODE_LEFT TWO_TPIPES memcheck initcheck racecheck synccheck mssanitizer npuchk cpudebug
    BufIdTracker CheckSyncState GmAlloc
"""
SPELLINGS = (str, str.lower, str.upper, lambda name: name.replace("_", "-"))


@pytest.mark.parametrize(("name", "code"), (NPUCHK | SANITIZER).items())
def test_a_name_leads_to_its_code(name, code):
    for spelled in SPELLINGS:
        page = explain.find(spelled(name))
        assert page is not None, spelled(name)
        assert page.name == code


@pytest.mark.parametrize("name", CLASSES.split())
def test_a_class_has_a_page(name):
    assert all(explain.find(spelled(name)) is not None for spelled in SPELLINGS)


@pytest.mark.parametrize("code", CODES)
def test_a_code_has_its_own_page(code):
    assert all(explain.find(spelled(code)).name == code for spelled in (str, str.upper))
