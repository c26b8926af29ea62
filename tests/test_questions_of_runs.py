"""Questions about runs whose answers are easily wrong: atomic stores, logs, odd arguments."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import ascendsim as asim
from ascendsim.errors import RequestError
from tests.blocks_sum import total
from tests.test_stepper import recorded


@pytest.fixture(scope="module")
def summed(tmp_path_factory):
    return total(tmp_path_factory.mktemp("total"))


@pytest.fixture(scope="module")
def run():
    return recorded("hard_sigmoid_grad", n=600)


def test_a_run_whose_blocks_wait_is_saved_and_opened(summed, tmp_path):
    summed.save(tmp_path / "run")
    summed.save_capsule(tmp_path / "run.html")
    for name in ("run", "run.html"):
        again = asim.open(tmp_path / name)
        assert again.calls == summed.calls
        assert str(again.why("out", 0)) == str(summed.why("out", 0))
        assert str(summed.diff(again)) == "the runs are the same"


def test_why_of_an_atomic_store_shows_what_memory_holds(summed):
    cause = summed.why("out", 0)
    assert cause.bits == int(summed.out.view(np.uint32)[0]) == 0x44800000  # 1024.0
    assert "atomic add to what was there" in cause.name
    addend, before = cause.causes
    assert (addend.bits, before.bits) == (0x43800000, 0x44400000)  # 256.0 and 768.0
    assert [(c.name, c.bits) for c in before.causes] == [
        ("block 0 InitGlobalMemory", 0),
        ("block 0 DataCopyPad", 0x43800000),
        ("block 1 DataCopyPad", 0x44000000),
        ("block 2 DataCopyPad", 0x44400000),
    ]
    one = summed.why("out", 0, block=1)
    assert (one.bits, one.causes[1].bits) == (0x44000000, 0x43800000)


def test_the_log_of_recorded_bytes_is_the_log_of_calls(tmp_path):
    one, two = (total(tmp_path, record=kind) for kind in ("calls", "bytes"))

    def by_block(calls):
        return sorted(calls, key=lambda call: (call["core"], call["seq"]))

    assert two.calls == by_block(one.calls)
    assert any("dst_crc" in call for call in two.calls)
    for soc in ("ascend910b1", "ascend950"):
        how = [recorded_on(soc, kind) for kind in ("calls", "bytes")]
        assert how[1].calls == by_block(how[0].calls)
    dry = [recorded_on("ascend910b1", kind, execute=False) for kind in ("calls", "bytes")]
    assert dry[1].calls == dry[0].calls


def recorded_on(soc, kind, **how):
    op = asim.load("hard_swish_grad")
    x = np.linspace(-4, 4, 500, dtype=np.float32)
    tiling = op.tiling(x.shape, "float32", soc=soc, cores=2)
    return asim.launch(op, {"grad": x, "x": x}, tiling, record=kind, **how)


@pytest.mark.parametrize(
    ("ask", "text"),
    [
        (lambda run: run.why("out", 1.5), "element 1.5: a whole number is needed"),
        (lambda run: run.why("out", 600), r"out has elements 0\.\.599, not 600"),
        (lambda run: run.watch("out", "a"), "element 'a': a whole number is needed"),
        (lambda run: run.explain_lane((1, 2, 3)), r"shape \(600,\): element \(1, 2, 3\) needs"),
        (lambda run: run.explain_lane((600,)), "is outside"),
        (lambda run: run.who_wrote("out", "a"), "byte 'a': a whole number"),
        (lambda run: run.who_wrote("UB", 1.5, block=0), "byte 1.5: a whole number"),
        (lambda run: run.why("tmpBuf", 1.5, block=0), "lane 1.5: a whole number"),
        (lambda run: run.stepper(0).goto(1.5), "position 1.5: a whole number"),
        (lambda run: run.diff(None), "diff needs another run, not None"),
        (lambda run: run.save(None), "None is no path"),
        (lambda run: run.save_capsule(None), "None is no path"),
        (lambda run: asim.Options(zz=1), "option 'zz' is unknown; use one of overflow"),
        (lambda run: asim.Options(ub_fill=5), "option ub_fill=5"),
    ],
)
def test_odd_arguments_are_refused_with_a_text(run, ask, text):
    with pytest.raises(RequestError, match=text):
        ask(run)


def test_an_index_may_have_a_number_per_axis():
    op = asim.load("add")
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    run = asim.launch(op, {"x": x, "y": x}, op.tiling(x.shape), record="bytes")
    (name,) = run.outputs
    assert run.why(name, (1, 2, 3)) == run.why(name, 23)
    assert run.watch(name, (1, 0, 2)) == run.watch(name, 14)
    with pytest.raises(RequestError, match="outside"):
        run.why(name, (0, 3, 0))


def test_options_are_still_copied_and_pickled():
    options = asim.Options(nan="qnan")
    assert pickle.loads(pickle.dumps(options)) == options


def test_diff_names_the_two_types(run):
    with pytest.raises(RequestError, match="float32 against float16"):
        run.diff(recorded("hard_sigmoid_grad", "float16", n=600))


def test_integers_hold_no_minus_zero(run):
    at = run.stepper(0)
    while at.until(holds="-0.0"):
        assert at.hit.dtype.kind == "float"
        assert at.hit.bits == 0x80000000
    with pytest.raises(RequestError, match="maskBuf is of type uint8, which cannot hold it"):
        at.until(holds=-0.0, buffer="maskBuf")
    with pytest.raises(RequestError, match="of type float32, uint8, which cannot hold it"):
        at.until(holds="0xffffffffff")


def test_a_stepper_and_tensors_in_gm(run):
    at = run.stepper(0)
    assert "before tile 0" in str(at)
    assert "tile -1" not in str(at)
    assert at.until(writes="out")
    assert at.instr.call.name.startswith("DataCopy")
    for ask in (at.view, at.bits, lambda name: at.why(name, 0)):
        with pytest.raises(RequestError, match="out is in GM, a stepper shows UB: go to a call"):
            ask("out")
