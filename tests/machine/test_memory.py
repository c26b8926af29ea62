"""What memory holds before a kernel writes to it, and where tensors end."""

from __future__ import annotations

import numpy as np
import pytest

from ascendsim.ascendc import *
from ascendsim.core import AivCore
from ascendsim.dtypes import uint8
from ascendsim.errors import BoundsError, RequestError
from ascendsim.memory import GlobalMemory, SpareMemory, UnifiedBuffer
from ascendsim.options import Options
from ascendsim.record import current_core
from tests.kit import Ub, fails, gm, run_block

POISON = np.frombuffer(b"\xef\xbe\xad\xde", np.uint8)


def touch_a_little():
    Duplicate(Ub(a=(half, 64))["a"], 1.0, 64)


def image(**request):
    return run_block(touch_a_little, **request).ub[0]


def test_poison():
    ub = image()
    assert ub.size == 196608
    assert (ub[128:] == np.resize(POISON, ub.size - 128)).all()
    assert (ub[:128].view(np.float16) == 1).all()


@pytest.mark.parametrize("byte", [0, 0x5A, 0xFF])
def test_one_byte(byte):
    ub = image(options={"ub_fill": f"{byte:#04x}"}, ub=4096)
    assert (ub.size, set(ub[128:])) == (4096, {byte})


def test_random_fill_follows_the_seed():
    one, same, other = (image(options={"ub_fill": "random"}, seed=s, ub=4096) for s in (1, 1, 2))
    assert (one == same).all()
    assert (one != other).mean() > 0.9
    assert (image(ub=4096, seed=1) == image(ub=4096, seed=2)).all()  # poison takes no seed


def test_every_block_starts_with_fresh_ub():
    def body(out):
        u = Ub(a=(uint32, 8))
        DataCopy(gm(out)[8 * GetBlockIdx() :], u["a"], 8)
        Duplicate(u["a"], 7, 8)

    for fill, word in (("poison", 0xDEADBEEF), ("0x11", 0x11111111)):
        out = run_block(
            body, {}, {"out": ((24,), "uint32")}, block_dim=3, options={"ub_fill": fill}
        )
        assert set(out.outputs["out"].tolist()) == {word}


@pytest.mark.parametrize("value", ["", "0x100", "0xGG", "noise", "12"])
def test_fills_that_do_not_exist(value):
    with pytest.raises(RequestError, match="use poison, random or a byte like 0xa5"):
        Options(ub_fill=value)


@pytest.mark.parametrize("nbytes", [0, 1, 31, 32, 33, 1000])
def test_slack_reaches_the_next_datablock_and_one_more(nbytes):
    memory = GlobalMemory("poison")
    allocation = memory.reserve("out", uint8, (nbytes,))
    assert allocation.slack == -nbytes % 32 + 32
    assert allocation.address % 512 == 0
    assert (allocation.memory[nbytes:] == np.resize(POISON, allocation.slack)).all()


def test_slack_fill_shows_behind_the_tensor():
    def body(x, out):
        u = Ub(a=(uint8, 64))
        DataCopy(u["a"], gm(x), 64)
        DataCopy(gm(out), u["a"], 64)

    x = np.arange(40, dtype=np.uint8)
    block = run_block(body, {"x": x}, {"out": ((64,), "uint8")}, options={"gm_slack_fill": "0x5a"})
    assert block.outputs["out"].tolist() == [*range(40), *[0x5A] * 24]
    assert block.warning("gm-slack").startswith(
        "gm-slack: touched past the end of x (24 bytes read, 0 written)"
    )


def test_outputs_hold_the_fill_before_they_are_written():
    def body(out):
        TPipe()

    for fill, byte in (("0xee", [0xEE] * 6), ("poison", [0xEF, 0xBE, 0xAD, 0xDE, 0xEF, 0xBE])):
        block = run_block(body, {}, {"out": ((6,), "uint8")}, options={"gm_slack_fill": fill})
        assert block.outputs["out"].tolist() == byte


def test_beyond_the_slack():
    def body(x, count, store):
        u = Ub(a=(uint8, 256))
        DataCopy(*((gm(x), u["a"]) if store else (u["a"], gm(x))), count)

    x = {"x": np.zeros(40, np.uint8)}  # 24 bytes to the next datablock, and 32
    text = run_block(lambda x: body(x, 96, True), x).warning("gm-slack")
    assert "x (0 bytes read, 56 written); inside the slack" in text
    for store, role in ((True, "dst"), (False, "src")):
        text = fails(
            BoundsError,
            rf"DataCopy: {role} reaches x\[0x0, 0x80\) but the tensor has 0x28 bytes",
            lambda x, store=store: body(x, 128, store),
            x,
        )
        assert "and 56 of slack" in text
        assert "check offset, count and tiling" in text


def test_inputs_are_copies():
    def body(x):
        u = Ub(a=(float32, 8))
        DataCopy(gm(x), u["a"], 8)

    x = np.arange(16, dtype=np.float32)[::2]
    before = x.copy()
    run_block(body, {"x": x})
    assert (x == before).all()


def test_ub_is_aligned_and_filled_when_the_fill_changes():
    ub = UnifiedBuffer(8192)
    assert ub.base % 4096 == 0
    assert ub.stale
    ub.set_fill("0x22", 0)
    ub.refill()
    assert (ub.array == 0x22).all()
    assert not ub.stale
    ub.set_fill("0x22", 0)
    assert not ub.stale
    ub.set_fill("random", 1)
    assert ub.stale


def test_a_block_finds_ub_as_the_first_one_did():
    """Whatever an instruction wrote, the next block on the core sees the fill there."""
    images = []

    def body(x):
        core = current_core()
        images.append(core.ub.array.copy())
        u = Ub(a=(float32, 256), b=(float32, 256), m=(uint8, 64))
        pad = DataCopyPadParams(True, 1, 3, 7)
        DataCopyPad(u["a"], gm(x), DataCopyParams(2, 4, 0, 1), pad)
        DataCopyPad(u["b"][64:], gm(x), DataCopyParams(1, 5 * 4, 0, 0), DataCopyPadParams())
        Adds(u["a"][128:], u["b"], 1.0, 70)
        Adds(u["b"], u["b"], 1.0, [1 << 40, 0], 2, UnaryRepeatParams(1, 1, 12, 8))
        CompareScalar(u["m"], u["a"], 0.0, CMPMODE.GT, 64)
        mode = SELMODE.VSEL_TENSOR_SCALAR_MODE
        Select(u["a"], u["m"], u["a"], 2.0, mode, 64)  # writes its scratch on this chip
        u["b"].SetValue(255, 3.0)
        assert (core.ub.array != images[-1]).any()

    run_block(body, {"x": np.arange(64, dtype=np.float32)}, block_dim=3)
    assert (images[1] == images[0]).all()
    assert (images[2] == images[0]).all()


def test_spare_memory_is_bounded_and_reused():
    spare = SpareMemory()
    first = spare.take(1000)
    spare.give(first)
    assert spare.take(1000) is first
    for _ in range(4):
        spare.give(np.empty(SpareMemory.LIMIT // 2, np.uint8))
    assert sum(m.nbytes for m in spare.kept) <= SpareMemory.LIMIT


def test_a_core_knows_its_environment():
    from ascendsim import soc as socs
    from ascendsim.numerics import opcodes

    def env(name, **options):
        return AivCore(socs.load(name), 1024, Options(**options)).env

    assert env("ascend910b1") == opcodes.ENV_NAN_ONES | opcodes.ENV_NE_ORDERED
    assert env("ascend910") & opcodes.ENV_SATURATE
    assert not env("ascend910", overflow="inf_nan") & opcodes.ENV_SATURATE
    assert env("ascend950", overflow="saturate", nan="qnan") & 15 == opcodes.ENV_SATURATE
    assert env("ascend950") == opcodes.ENV_NAN_ONES | opcodes.ENV_REGISTER
    assert env("ascend910b1", int_overflow="truncate") & opcodes.ENV_TRUNCATE
