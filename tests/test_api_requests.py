"""Requests from Python that are not as they should be: one clear error each."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import ascendsim as asim
from ascendsim.errors import RequestError, ShapeError
from tests.helpers import assert_same_bits

HARD = "hard_sigmoid_grad"
N = 100


@pytest.fixture(scope="module")
def tiling():
    return asim.load(HARD).tiling((N,), "float32")


@pytest.fixture(scope="module")
def arrays():
    generator = np.random.default_rng(1)
    return {name: generator.standard_normal(N, np.float32) for name in ("grad", "x")}


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"options": "ieee"}, r"Options.of\('ieee'\)"),
        ({"options": {"nan": "qnan"}}, "Options.of"),
        ({"arrays": None}, "NoneType.*by name: {'grad': ..., 'x': ...}"),
        ({"arrays": [1, 2]}, "list.*by name"),
        ({"arrays": {"grad": [[1], [1, 2]], "x": 0}}, "grad is no array"),
        ({"tiling": None}, r"the tiling is None; make it with op.tiling"),
        ({"last": -3}, "last=-3"),
        ({"last": "3"}, "last='3'"),
    ],
)
def test_refused(tiling, arrays, wrong, text):
    given = {"arrays": arrays, "tiling": tiling} | wrong
    with pytest.raises(RequestError, match=text):
        asim.launch(HARD, **given)


def test_time_refuses_too(tiling):
    with pytest.raises(RequestError, match="the tiling is None"):
        asim.time(HARD, None)
    with pytest.raises(RequestError, match=r"Options\.of"):
        asim.time(HARD, tiling, options="ieee")


def test_the_tiling_of_another_operator(tiling, arrays):
    with pytest.raises(RequestError, match="made by hard_sigmoid_grad, not by hard_swish_grad"):
        asim.launch("hard_swish_grad", arrays, tiling)
    with pytest.raises(RequestError, match="made by hard_sigmoid_grad, not by hard_swish_grad"):
        asim.time("hard_swish_grad", tiling)


def test_double_precision_says_what_to_do(tiling, arrays):
    wide = arrays | {"x": arrays["x"].astype(np.float64)}
    with pytest.raises(ShapeError, match=r"input x is float64.*\.astype\(np.float32\)"):
        asim.launch(HARD, wide, tiling)
    half = asim.load(HARD).tiling((N,), "bfloat16")
    with pytest.raises(ShapeError, match=r"\.astype\(ml_dtypes.bfloat16\)"):
        asim.launch(HARD, wide, half)
    narrow = {name: array.astype(ml_dtypes.bfloat16) for name, array in arrays.items()}
    assert asim.launch(HARD, narrow, half).dtype == "bfloat16"


def test_other_byte_order(tiling, arrays):
    swapped = {name: array.astype(">f4") for name, array in arrays.items()}
    want, got = asim.launch(HARD, arrays, tiling), asim.launch(HARD, swapped, tiling)
    assert_same_bits(got.out, want.out)


def test_which_images_there_are(tiling, arrays):
    run = asim.launch(HARD, arrays, tiling.replace({}, block_dim=3), record="calls", last=1)
    assert len(run.calls) == 1
    with pytest.raises(RequestError, match="core 99: there are those of cores 0 to 2"):
        run.ub(99)


def test_another_chip_than_the_tiling_was_made_for(tiling, arrays):
    other = asim.load(HARD).tiling((N,), "float32", soc="ascend910b1")
    run = asim.launch(HARD, arrays, other, soc="ascend910b3")
    assert "soc: tiling was made for ascend910b1, run on ascend910b3" in run.warnings
    assert not [w for w in asim.launch(HARD, arrays, tiling).warnings if w.startswith("soc:")]


def test_a_sink_that_fails(tiling, arrays):
    def full(_):
        raise OSError("no space")

    with pytest.raises(RequestError, match=r"sink fails: OSError: no space$") as caught:
        asim.launch(HARD, arrays, tiling, call_sink=full)
    assert (caught.value.where, caught.value.block) == (None, None)
