"""What UB and GM hold beforehand never reaches an output, and no law of the tiling is broken."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ascendsim as asim
from ascendsim.dtypes import dtype as as_dtype
from tests.helpers import assert_same_bits
from tests.kit import interesting

OPS = ("hard_sigmoid_grad", "hard_swish_grad", "swish_grad")
DTYPES = ("float32", "float16", "bfloat16")
SEEDS = 100
RANDOM = asim.Options(ub_fill="random")
each = pytest.mark.parametrize(("name", "dtype"), [(n, d) for n in OPS for d in DTYPES])


def arrays(dtype, n, seed=0):
    T = as_dtype(dtype)
    return {"grad": interesting(T, n, seed), "x": interesting(T, n, seed + 1)}


def tiled(name, dtype, n, **request):
    return asim.load(name).tiling((n,), dtype, **{"cores": 3, "ub": 16384} | request)


@each
def test_random_ub_never_shows(name, dtype):
    """Two lengths with tails, each over many contents of UB."""
    op = asim.load(name)
    for n, cores in ((65, 1), (1061, 3)):
        data, til = arrays(dtype, n), tiled(name, dtype, n, cores=cores)
        want = asim.launch(op, data, til).out
        for seed in range(SEEDS):
            got = asim.launch(op, data, til, options=RANDOM, seed=seed).out
            assert_same_bits(got, want, data["grad"], data["x"])


@each
@pytest.mark.parametrize("fill", ["0x00", "0xff", "0x7f", "0x3c"])
def test_fills_of_ub_and_slack_never_show(name, dtype, fill):
    op, data, til = asim.load(name), arrays(dtype, 131), tiled(name, dtype, 131)
    options = asim.Options(ub_fill=fill, gm_slack_fill=fill)
    assert_same_bits(
        asim.launch(op, data, til, options=options).out, asim.launch(op, data, til).out
    )


@cache
def variant(name, buffers):
    """Return the op with another BUFFER_NUM."""
    return asim.load(name).variant(constants={"BUFFER_NUM": buffers})


@each
@settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_tile_size_blocks_and_buffers_never_show(name, dtype, data):
    """An element's result depends on no choice of the tiling: fields kept, or replaced after."""
    n = data.draw(st.integers(1, 900), "n")
    inputs = arrays(dtype, n, seed=7)
    want = asim.launch(name, inputs, tiled(name, dtype, n)).out
    op = variant(name, data.draw(st.sampled_from([1, 2, 3]), "buffers"))
    tile = 64 * data.draw(st.integers(1, 4), "tile / 64")
    cores = data.draw(st.integers(1, 9), "cores")
    field = "tileDataNum" if name == "swish_grad" else "ubFactor"
    til = tiled(name, dtype, n, cores=cores, ub=65536)
    if name == "swish_grad":  # its other fields follow from the tile
        til = op.tiling((n,), dtype, cores=cores, ub=65536, fixed={field: tile})
    else:
        extra = data.draw(st.integers(0, 2), "idle blocks")
        til = til.replace({field: tile}, til.block_dim + extra)
    run = asim.launch(op, inputs, til)
    assert_same_bits(run.out, want, inputs["grad"], inputs["x"])
    assert not [w for w in run.warnings if w.startswith("coverage")]
