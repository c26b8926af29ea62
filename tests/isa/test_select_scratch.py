"""Select's hidden scratch near the end of UB: where, what, and when it is an error."""

from __future__ import annotations

import numpy as np
import pytest

from ascendsim.ascendc import *
from ascendsim.errors import UbOverflow
from tests.kit import Ub, fails, put, run_block

TENSOR, SCALAR, SPR = (
    SELMODE.VSEL_TENSOR_TENSOR_MODE,
    SELMODE.VSEL_TENSOR_SCALAR_MODE,
    SELMODE.VSEL_CMPMASK_SPR,
)
START = {"ascend910b1": 188416, "ascend910_93": 188416, "ascend310p": 253952}


def scratch(soc, mode, T=float32, value=3.0, **request):
    """Return the UB after a Select, its part behind the buffers only."""

    def body():
        u = Ub(pad=(uint8, 64), m=(uint8, 32), a=(T, 128))
        put(u["a"], np.ones(128, T.numpy))
        Select(u["a"], u["m"], u["a"], value if mode is SCALAR else u["a"], mode, 64)

    request.setdefault("options", {"ub_fill": "0xa5"})
    return run_block(body, soc=soc, **request)


@pytest.mark.parametrize("soc", sorted(START))
def test_mode_2_writes_the_address_of_the_mask(soc):
    block = scratch(soc, TENSOR)
    start = START[soc]
    assert set(block.ub[0][start : start + 128].view(np.uint32)) == {64}
    rest = np.delete(block.ub[0], np.s_[start : start + 128])[1024:]
    assert set(rest) == {0xA5}
    assert block.rules["select-scratch"] == "assumed"


@pytest.mark.parametrize("soc", sorted(START))
@pytest.mark.parametrize("T", [float32, half], ids=str)
def test_mode_1_writes_the_scalar(soc, T):
    block = scratch(soc, SCALAR, T)
    start, nbytes = START[soc], 32 * T.nbytes
    assert set(block.ub[0][start : start + nbytes].view(T.numpy)) == {3}
    assert set(block.ub[0][start + nbytes :]) == {0xA5}


@pytest.mark.parametrize(
    ("soc", "mode", "options"),
    [
        ("ascend910b1", SPR, {}),
        ("ascend950", TENSOR, {}),
        ("ascend950", SCALAR, {}),
        ("ascend910b1", TENSOR, {"select_scratch": "off"}),
        ("ascend310p", SCALAR, {"select_scratch": "off"}),
    ],
)
def test_nothing_is_written(soc, mode, options):
    block = scratch(soc, mode, options={"ub_fill": "0xa5"} | options)
    assert set(block.ub[0][1024:]) == {0xA5}
    assert "select-scratch" not in block.rules


def test_a_smaller_ub_has_no_scratch():
    block = scratch("ascend910b1", TENSOR, ub=188416 + 64)
    assert set(block.ub[0][1024:]) == {0xA5}


def test_the_next_block_does_not_see_it():
    def body():
        u = Ub(m=(uint8, 32), a=(float32, 64))
        if GetBlockIdx() == 0:
            Select(u["a"], u["m"], u["a"], 1.0, SCALAR, 64)

    block = run_block(body, block_dim=2, options={"ub_fill": "0xa5"})
    start = START["ascend910b1"]
    assert set(block.ub[0][start : start + 4]) == {0, 0x80, 0x3F}
    assert set(block.ub[1]) == {0xA5}


def test_a_buffer_in_its_way():
    def body(nbytes):
        u = Ub(m=(uint8, 32), a=(float32, 64), big=(uint8, nbytes))
        Select(u["a"], u["m"], u["a"], 1.0, SCALAR, 64)

    room = START["ascend910b1"] - 32 - 256
    run_block(lambda: body(room))
    text = fails(
        UbOverflow, "Select writes scratch at UB.0x2e000, 0x2e080.", lambda: body(room + 32)
    )
    assert "which a buffer holds; keep the buffers below 0x2e000" in text
    run_block(lambda: body(room + 32), options={"select_scratch": "off"})
    run_block(lambda: body(room + 32), soc="ascend950")
