"""Errors at the kernel's own line, and cores that survive them."""

from __future__ import annotations

import inspect

import pytest

from ascendsim.ascendc import *
from ascendsim.errors import (
    AlignmentError,
    KernelError,
    QueueError,
    RequestError,
    UnsupportedError,
)
from ascendsim.launch import Readers, launch
from ascendsim.launch.blocks import _CORES
from ascendsim.record import CURRENT
from tests.kit import Ub, gm, make_job, run_block
from tests.machine.test_launch import OUT, store


def line_of(function, text):
    lines, first = inspect.getsourcelines(function)
    return first + next(k for k, line in enumerate(lines) if text in line)


def test_errors_carry_file_line_and_block():
    def body(out):
        u = Ub(a=(float32, 64))
        if GetBlockIdx() == 2:
            Duplicate(
                u["a"][1:],  # here
                1.0,
                8,
            )

    with pytest.raises(AlignmentError) as caught:
        run_block(body, {}, OUT, block_dim=4)
    error = caught.value
    assert error.block == 2
    assert error.where[0].endswith("tests/machine/test_errors.py")
    assert line_of(body, "Duplicate(") <= error.where[1] <= line_of(body, "8,")
    assert str(error).startswith(f"{error.where[0]}:{error.where[1]}: Duplicate: dst starts at")
    assert str(error).endswith("[block 2]")


def test_calls_carry_file_and_line():
    def body(out):
        store(out, 0, 64)
        PipeBarrier(PIPE_V)

    calls = run_block(body, {}, OUT).calls
    assert calls[-1]["line"] == line_of(body, "PipeBarrier")
    assert calls[-1]["file"] == __file__
    (duplicate,) = (c for c in calls if c["op"] == "Duplicate")
    assert duplicate["line"] == line_of(store, "Duplicate")


def test_a_mistake_in_the_kernels_python():
    def body(out):
        values = [1, 2]
        return values[GetBlockIdx()] + values[7]  # wrong

    with pytest.raises(
        KernelError, match=r"IndexError: list index out of range \[block 0\]"
    ) as caught:
        run_block(body, {}, OUT)
    assert caught.value.where[1] == line_of(body, "# wrong")
    assert isinstance(caught.value.__cause__, IndexError)


def test_a_name_that_is_not_modelled():
    def body(out):
        Scatter(out)

    with pytest.raises(UnsupportedError, match=r"Scatter is neither defined .* nor modelled"):
        run_block(body, {}, OUT)


def test_a_core_is_used_again_only_after_success():
    cores, broken = [], [False]

    def body(out):
        pipe = TPipe()
        cores.append(pipe.core)
        a = TBuf()
        pipe.InitBuffer(a, 256)
        Duplicate(a.Get(float32), 1.0, 64)
        if broken[0]:
            raise ValueError("no")
        DataCopy(gm(out), a.Get(float32), 64)

    run_block(body, {}, OUT)
    run_block(body, {}, OUT)
    assert cores[0] is cores[1]
    broken[0] = True
    with pytest.raises(KernelError, match="ValueError: no"):
        run_block(body, {}, OUT)
    broken[0] = False
    block = run_block(body, {}, OUT)
    assert cores[3] is not cores[2]
    assert set(block.outputs["out"]) == {1}
    assert not block.warnings


def test_idle_cores_are_bounded():
    for _ in range(12):
        run_block(lambda: TPipe())
    assert len(_CORES.idle) <= 8


def test_no_current_core_after_a_launch():
    def body():
        raise RuntimeError

    run_block(lambda: TPipe())
    assert CURRENT.get(None) is None
    with pytest.raises(KernelError):
        run_block(body)
    assert CURRENT.get(None) is None
    with pytest.raises(RequestError, match="no kernel is running"):
        TPipe()


def test_a_launch_within_a_kernel():
    def inner():
        TPipe()

    def body():
        outer = TPipe().core
        launch(make_job(inner, {}, {}), Readers())
        assert CURRENT.get() is outer
        with pytest.raises(QueueError):
            launch(make_job(lambda: (TPipe(), TPipe()), {}, {}), Readers())
        assert CURRENT.get() is outer

    run_block(body)


def test_an_enumeration_typo_names_what_there_is():
    def body():
        TBuf(TPosition.VECCLAC)

    with pytest.raises(KernelError, match=r"test_errors.py:\d+: TPosition has no VECCLAC: .*VECIN"):
        run_block(body)


def test_a_kernel_that_exits_is_an_error_at_its_line():
    def body():
        raise SystemExit(3)

    with pytest.raises(KernelError, match=r"test_errors.py:\d+: SystemExit: 3"):
        run_block(body)


def test_a_wide_mask_is_clamped_and_says_so():
    def body():
        u = Ub(a=(float32, 128), b=(float32, 128))
        Muls(u["b"], u["a"], 2.0, 65, 2, UnaryRepeatParams())
        Muls(u["b"], u["a"], 2.0, [0xFF, 1], 2, UnaryRepeatParams())

    (warning,) = run_block(body).warnings
    assert warning.startswith("mask-lanes: Muls: mask 65 names more than the 64 lanes")
