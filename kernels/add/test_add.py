from fractions import Fraction
from math import inf, isnan, nan

import numpy as np
import pytest

import ascendsim as asim
from ascendsim.errors import RequestError, ShapeError, TilingError
from ascendsim.host import parse_attr
from kernels.add import add, demo
from kernels.add.op_ref import definition, naive

IEEE = asim.Options.of("ieee")
OP = asim.load("add")
DTYPES = ("float16", "float32")
STUDY = (8192, 8192)  # of the published measurements


def values(dtype, n, seed=0):
    """Return two arrays of `n` random words without NaN, special ones in front."""
    rng = np.random.default_rng(seed)
    numpy = np.dtype(dtype)
    words = rng.integers(0, 1 << 8 * numpy.itemsize, (2, n), np.uint64)
    x, y = words.astype(f"u{numpy.itemsize}").view(numpy)
    tiny, huge = np.finfo(numpy).smallest_subnormal, np.finfo(numpy).max
    special = np.array([0.0, -0.0, 1, -1, tiny, -tiny, huge, -huge, np.inf], numpy)
    pairs = np.array(np.meshgrid(special, special)).reshape(2, -1)[:, :n]
    x[: pairs.shape[1]], y[: pairs.shape[1]] = pairs
    lost = np.isnan(x) | np.isnan(y) | np.isnan(naive(np, x, y))
    x[lost] = y[lost] = 0
    return x, y


def run(x, y, op=OP, **request):
    record = request.pop("record", "none")
    til = op.tiling(x.shape, x.dtype, **request)
    return asim.launch(op, {"x": x, "y": y}, til, options=IEEE, record=record)


def test_definition():
    one, two = Fraction(1), Fraction(2)
    assert definition(one, Fraction(1, 3)) == Fraction(4, 3)
    assert definition(inf, two) == definition(two, inf) == definition(inf, inf) == inf
    assert isnan(definition(inf, -inf))
    assert isnan(definition(nan, one))
    assert isnan(definition(inf, nan))


@pytest.mark.parametrize("dtype", DTYPES)
def test_bits(dtype):
    x, y = values(dtype, 200_000)
    got = run(x, y, cores=3)
    assert got.warnings == []
    assert got.out.tobytes() == naive(np, x, y).tobytes()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("soc", ["ascend910b1", "ascend910_93", "ascend950"])
@pytest.mark.parametrize("buffers", [1, 2])
def test_lengths(dtype, soc, buffers):
    op = OP.variant(constants={"BUFFER_NUM": buffers})
    tile = 128
    for n in (0, 1, 15, 16, 17, 63, 64, 65, tile - 1, tile, tile + 1, 3 * tile + 5, 20 * tile):
        x, y = values(dtype, n)
        for cores in (1, 3, 48):
            got = run(x, y, op, soc=soc, cores=cores, tile=tile)
            assert got.warnings == []
            assert got.out.tobytes() == naive(np, x, y).tobytes()


@pytest.mark.parametrize("l2", ["allocate", "bypass-inputs", "bypass-all"])
@pytest.mark.parametrize("placement", ["conflict", "clean"])
@pytest.mark.parametrize("buffers", [1, 2])
def test_knobs_change_no_bit(l2, placement, buffers):
    op = OP.variant(constants={"BUFFER_NUM": buffers})
    x, y = values("float16", 5000)
    for tile in (0, 16, 48, 128, 4096):
        got = run(x, y, op, cores=3, tile=tile, l2=l2, placement=placement)
        assert got.out.tobytes() == naive(np, x, y).tobytes()


@pytest.mark.parametrize(
    ("l2", "bypassing"), [("allocate", ""), ("bypass-inputs", "xy"), ("bypass-all", "xyz")]
)
def test_hints_travel_on_the_copies(l2, bypassing):
    x, y = values("float16", 64)
    copies = [c for c in run(x, y, l2=l2, record="calls").calls if c["op"] == "DataCopyPad"]
    hints = {c["dst" if "gm" in c["dst"] else "src0"]["gm"]: c["l2"] for c in copies}
    assert {name for name, hint in hints.items() if hint == "CACHE_MODE_DISABLE"} == set(bypassing)


@pytest.mark.parametrize("buffers", [1, 2])
@pytest.mark.parametrize(("placement", "apart"), [("conflict", 0), ("clean", 8)])
def test_bank_groups_of_the_sources(placement, apart, buffers):
    op = OP.variant(constants={"BUFFER_NUM": buffers})
    x, y = values("float16", 40_000)
    for tile in (0, 4096, 256, 80) if placement == "clean" else (0, 4096, 256 * buffers):
        calls = run(x, y, op, cores=2, tile=tile, placement=placement, record="calls").calls
        adds = [(c["src0"]["ub"], c["src1"]["ub"]) for c in calls if c["op"] == "Add"]
        assert len({a for a, _ in adds}) == min(buffers, len(adds) // 2)
        assert {(b - a) // 32 % 16 for a, b in adds} == {apart}


def test_tiling_of_the_study():
    n = STUDY[0] * STUDY[1]
    til = OP.tiling(STUDY, "float16", tile=4096)
    assert (til.block_dim, til.fields["blockLength"] % 16) == (48, 0)
    assert 0 < til.fields["blockLength"] - n / 48 < 16
    assert OP.tiling(STUDY, "float16", tile=16384).fields["tileLength"] == 16384  # all of UB
    one = OP.variant(constants={"BUFFER_NUM": 1})
    on950 = one.tiling(STUDY, "float16", soc="ascend950", tile=21760)
    assert (on950.block_dim, on950.fields["blockLength"]) == (64, n // 64)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("soc", ["ascend910b1", "ascend950"])
def test_tile_0_fills_ub(dtype, soc):
    for buffers in (1, 2):
        op = OP.variant(constants={"BUFFER_NUM": buffers})
        for placement in ("conflict", "clean"):
            til = op.tiling(STUDY, dtype, soc=soc, placement=placement)
            tileBytes = til.fields["tileLength"] * til.dtype.nbytes
            room = asim.soc.load(soc).tiling_ub_bytes
            assert tileBytes % 512 == 0
            assert 3 * buffers * tileBytes <= room < 3 * buffers * (tileBytes + 512) + 512


def test_fields_that_a_sweep_keeps():
    assert OP.tiling((1000,), "float16", fixed={"blockLength": 100}).block_dim == 10
    assert OP.tiling((1000,), "float16", fixed={"tileLength": 32}).fields["tileLength"] == 32
    with pytest.raises(TilingError, match="tileLength = 100000: 3 queues"):
        OP.tiling((1000,), "float16", fixed={"tileLength": 100_000})


@pytest.mark.parametrize(
    ("attrs", "match"),
    [
        ({"tile": -16}, "tile = -16: a positive multiple of 16 elements"),
        ({"tile": 100}, "tile = 100: a positive multiple of 16 elements"),
        ({"tile": 20_000}, "tile = 20000: 3 queues of BUFFER_NUM = 2 tiles take .* UB has 196608"),
        ({"tile": 16384, "placement": "clean"}, "UB has 196608"),
        ({"l2": "none"}, "l2 = 'none': use one of allocate, bypass-inputs, bypass-all"),
        ({"placement": "3"}, "placement = '3': use one of conflict, clean"),
        ({"tile": 4096, "ub": 8192}, "UB has 8192"),
        ({"ub": 512}, "UB of 512 bytes has no room"),
    ],
)
def test_tiling_says_no(attrs, match):
    with pytest.raises(TilingError, match=match):
        OP.tiling((1000,), "float16", **attrs)


def test_attributes_as_text():
    given = ("tile=4096", "tile=0x1000", "l2=bypass-inputs", "placement=clean")
    parsed = [parse_attr(OP.definition, text) for text in given]
    assert parsed == [("tile", 4096)] * 2 + [("l2", "bypass-inputs"), ("placement", "clean")]
    for wrong in ("tile=many", "tile=1.5", "tile=", "size=3"):
        with pytest.raises(RequestError):
            parse_attr(OP.definition, wrong)


def test_function():
    x, y = (a.reshape(20, 50).T for a in values("float32", 1000))
    want = np.ascontiguousarray(naive(np, x, y))
    assert add(x, y, soc="ascend950").tobytes() == want.tobytes()
    with pytest.raises(TilingError, match="rank"):
        add(x, y.ravel())
    with pytest.raises(ShapeError, match="does not take"):
        add(x, np.ones(x.shape, np.float16))


def test_demo():
    assert [row["z"] for row in demo.example()] == [3, 2048, 2052, inf, 0]
    conflict, clean = demo.banks()
    assert (conflict["x group"], conflict["y group"]) == (0, 0)
    assert (clean["x group"], clean["y group"]) == (0, 8)
