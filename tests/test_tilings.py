"""Tilings of the three kernels, held against values of the real tiling sources."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ascendsim.host import CeilAlign, CeilDiv, FloorAlign, FloorDiv, TilingError, load

DATA = Path(__file__).parent / "data" / "tilings"
OPS = ("hard_sigmoid_grad", "hard_swish_grad", "swish_grad")
ATTRS = {"alpha_bits": "alpha", "beta_bits": "beta", "scale_bits": "sconf"}


def result(op, case):
    attrs = {name: hex(case[key]) for key, name in ATTRS.items() if key in case}
    shape, dtype, cores, ub = (case[key] for key in ("shape", "dtype", "cores", "ub"))
    try:
        return op.tiling(shape, dtype, cores=cores, ub=ub, **attrs).to_json()
    except TilingError as error:
        return {"status": "FAILED" if error.reason else "no reason"}


@pytest.mark.parametrize("name", OPS)
def test_every_field(name):
    op = load(name)
    for case in json.loads((DATA / f"{name}.json").read_text()):
        got, want = result(op, case), case["expect"]
        assert {key: got.get(key) for key in want} == want, case


@pytest.mark.parametrize(("dtype", "key"), [("float16", 0), ("float32", 1), ("bfloat16", 2)])
def test_hard_swish_unit_test_values(dtype, key):
    til = load("hard_swish_grad").tiling((7, 3), dtype, cores=64, ub=262144)
    assert (list(til.fields.values()), til.key, til.block_dim) == ([21, 1, 5440], key, 21)


def test_hard_swish_shapes_must_agree():
    with pytest.raises(TilingError, match="agree in rank"):
        load("hard_swish_grad").tiling({"grad": (7, 3), "x": (21,)}, "float32")


@pytest.mark.parametrize("soc_ub", [("ascend910b1", 4032), ("ascend910_93", 4032)])
def test_chip_decides_without_ub_and_cores(soc_ub):
    soc, factor = soc_ub
    til = load("hard_swish_grad").tiling((100003,), "float32", soc=soc)
    assert til.fields["ubFactor"] == factor
    assert til.block_dim == til.fields["totalNum"] // til.fields["blockFactor"] + 1


def test_a_kept_field_moves_the_rest():
    til = load("swish_grad").tiling((100003,), "float32", fixed={"tileDataNum": 1024})
    fields = til.fields
    assert fields["tileDataNum"] == 1024
    tiles, tail = fields["finalSmallTileNum"], fields["smallTailDataNum"]
    assert (tiles - 1) * 1024 + tail == fields["smallCoreDataNum"]
    til = load("hard_sigmoid_grad").tiling((5000,), "float32", fixed={"blockFactor": 1000})
    assert (til.block_dim, til.fields["ubFactor"]) == (5, 7936)
    til = load("hard_sigmoid_grad").tiling((5000,), "float32", fixed={"block_dim": 2})
    assert (til.block_dim, til.fields["blockFactor"]) == (2, 2500)


@pytest.mark.parametrize("kept", [{"tileDataNum": 12}, {"tileDataNum": 0}])
def test_a_kept_tile_that_is_no_multiple_of_32_bytes(kept):
    with pytest.raises(TilingError, match="multiple of 8"):
        load("swish_grad").tiling((100,), "float32", fixed=kept)


@pytest.mark.parametrize("name", OPS)
def test_no_room_in_ub(name):
    with pytest.raises(TilingError, match="no room"):
        load(name).tiling((4096,), "float32", ub=128)


def test_rounding_helpers():
    values = [(f(7, 4), f(8, 4)) for f in (CeilDiv, FloorDiv, CeilAlign, FloorAlign)]
    assert values == [(2, 2), (1, 2), (8, 8), (4, 8)]
