"""DataCopy and DataCopyPad: what moves, what padding leaves, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from ascendsim.ascendc import *
from ascendsim.errors import (
    ContractError,
    RepeatError,
    UnsupportedError,
)
from tests.helpers import assert_same_bits
from tests.isa.test_geometry import VECTORS
from tests.kit import Ub, gm, peek, put, run_block

BOTH = pytest.mark.parametrize("soc", ["ascend910b1", "ascend950"])
FILL = {"ub_fill": "0xa5"}
POISON = (0xDEADBEEF).to_bytes(4, "little")
HALVES = np.arange(1, 21, dtype=np.float16)  # 40 bytes: 12 elements to the next datablock


def filled(values, T, untouched):
    """Turn a vector's output into bytes; null elements hold the byte `untouched`."""
    out = np.full(len(values) * T.nbytes, untouched, np.uint8)
    for k, value in enumerate(values):
        if value is not None:
            out[k * T.nbytes : (k + 1) * T.nbytes] = np.array([value], T.numpy).view(np.uint8)
    return out


def into_ub(soc, x, params, pad=None, T=None, options=FILL, nbytes=4096):
    """Copy a GM array with DataCopyPad (or DataCopy when pad is None); return all of UB."""
    T = T or {2: half, 4: float32, 1: uint8}[x.itemsize]

    def body(x):
        u = Ub(a=(T, nbytes // T.nbytes))
        if pad is None:
            DataCopy(u["a"], gm(x), params)
        else:
            DataCopyPad(u["a"], gm(x), params, pad)

    return run_block(body, {"x": x}, soc=soc, ub=nbytes, options=options)


@BOTH
def test_published_counts(soc):
    for name in ("datacopy_count_gm2ub", "datacopy_params_512", "datacopy_params_gap"):
        vector = VECTORS[name]
        p, x = vector["params"], np.array(vector["input"]["gm"], np.float16)
        form = p.get("count")
        if form is None:
            form = DataCopyParams(p["blockCount"], p["blockLen"], p["srcGap"], p["dstGap"])
        want = filled(vector["output"]["ub"], half, 0xA5)
        assert_same_bits(into_ub(soc, x, form).ub[0][: want.size], want)
    vector = VECTORS["datacopy_count_ub2gm"]
    x = np.array(vector["input"]["ub"], np.float16)

    def body(out):
        u = Ub(a=(half, x.size))
        put(u["a"], x)
        DataCopy(gm(out), u["a"], vector["params"]["count"])

    out = run_block(body, {}, {"out": (x.shape, "float16")}, soc=soc).outputs["out"]
    assert_same_bits(out, np.array(vector["output"]["gm"], np.float16))


def test_a_count_that_is_no_multiple_of_32_bytes():
    vector = VECTORS["datacopy_count_round_down"]
    x = np.array(vector["input"]["gm"], np.float16)
    with pytest.raises(ContractError) as caught:
        into_ub("ascend910b1", x, vector["params"]["count"])
    text = str(caught.value)
    whole = sum(v != -1 for v in vector["output"]["ub"])
    assert "DataCopy: count 20 of float16 is 40 bytes, no multiple of 32" in text
    assert f"hardware would copy {whole} elements only" in text
    assert "use DataCopyPad or a multiple of 16 elements" in text


@BOTH
def test_published_padding(soc):
    vector = VECTORS["pad_scene2"]
    rows, columns = vector["input"]["shape"]
    x = np.arange(rows * columns, dtype=np.float32).reshape(rows, columns)
    p = vector["params"]
    params = DataCopyExtParams(p["blockCount"], p["blockLen"], 0, 0, 0)
    block = into_ub(soc, x, params, DataCopyPadParams(True, 0, 5, 0), nbytes=16384)
    got = block.ub[0][: rows * 64 * 4].view(np.float32).reshape(vector["output"]["shape"])
    assert_same_bits(got[:, :columns], x)
    assert not got[:, columns:].any()


@BOTH
def test_published_right_padding_by_the_register(soc):
    """The register keeps what an earlier copy with isPad set."""
    vector = VECTORS["pad_scene1"]
    x = np.array(vector["input"]["gm"], np.float16)

    def body(x):
        u = Ub(a=(half, 32), b=(half, 32))
        params = DataCopyParams(1, vector["params"]["blockLen"], 0, 0)
        DataCopyPad(
            u["b"], gm(x), params, DataCopyPadParams(True, 0, 0, vector["params"]["SetPadValue"])
        )
        DataCopyPad(u["a"], gm(x), params, DataCopyPadParams(False, 0, 12, 0))

    block = run_block(body, {"x": x}, soc=soc)
    assert_same_bits(
        block.ub[0][:64].view(np.float16), np.array(vector["output"]["ub"], np.float16)
    )
    assert "pad-register-start" not in block.rules


@BOTH
def test_right_padding_of_a_register_that_nobody_set(soc):
    x = np.arange(20, dtype=np.float16)
    block = into_ub(soc, x, DataCopyParams(1, 40, 0, 0), DataCopyPadParams(False, 0, 12, 0))
    assert block.ub[0][40:64].tobytes() == POISON[:2] * 12
    assert block.rules["pad-register-start"] == "assumed"


@BOTH
@pytest.mark.parametrize("name", ["pad_gm2ub_blockLen64", "pad_gm2ub_blockLen47"])
def test_published_blocks_into_ub(soc, name):
    vector = VECTORS[name]
    p, x = vector["params"], np.array(vector["input"]["gm"], np.uint8)
    params = DataCopyParams(p["blockCount"], p["blockLen"], p["srcStride"], p["dstStride"])
    want = filled(vector["output"]["ub"], uint8, 0xA5)
    assert_same_bits(into_ub(soc, x, params, DataCopyPadParams()).ub[0][: want.size], want)


@BOTH
@pytest.mark.parametrize("name", ["pad_ub2gm_blockLen64", "pad_ub2gm_blockLen47"])
def test_published_blocks_out_of_ub(soc, name):
    vector = VECTORS[name]
    p, source = vector["params"], np.array(vector["input"]["ub"], np.uint8)
    want = filled(vector["output"]["gm"], uint8, 0xEE)

    def body(out):
        u = Ub(a=(uint8, source.size))
        put(u["a"], source)
        params = DataCopyParams(p["blockCount"], p["blockLen"], p["srcStride"], p["dstStride"])
        DataCopyPad(gm(out), u["a"], params)

    outputs = {"out": (want.shape, "uint8")}
    for observe in (True, False):
        block = run_block(
            body, {}, outputs, soc=soc, options={"gm_slack_fill": "0xee"}, observe=observe
        )
        assert_same_bits(block.outputs["out"], want)


def test_reading_a_block_again_on_950():
    vector = VECTORS["pad_neg_stride"]
    p, x = vector["params"], np.array(vector["input"]["gm"], np.uint8)
    params = DataCopyExtParams(p["blockCount"], p["blockLen"], p["srcStride"], p["dstStride"], 0)
    want = filled(vector["output"]["ub"], uint8, 0xA5)
    got = into_ub("ascend950", x, params, DataCopyPadParams()).ub[0][: want.size]
    assert_same_bits(got, want)
    for soc, stride in (("ascend910b1", -48), ("ascend950", -49)):
        with pytest.raises(RepeatError, match=f"DataCopyPad: srcStride {stride}"):
            into_ub(soc, x, DataCopyExtParams(2, 48, stride, 1, 0), DataCopyPadParams())
    with pytest.raises(RepeatError, match="dstStride -1"):
        into_ub("ascend950", x, DataCopyExtParams(2, 16, 0, -1, 0), DataCopyPadParams())


def test_published_size_of_padded_blocks():
    vector = VECTORS["pad_normal_R16"]
    p, total = vector["params"], vector["output"]["total_dst_bytes"]
    x = np.zeros(p["blocks"] * p["blockLen"], np.uint8)
    params = DataCopyParams(p["blocks"], p["blockLen"], 0, 0)
    ub = into_ub("ascend950", x, params, DataCopyPadParams(True, 0, 16, 7)).ub[0]
    assert np.flatnonzero(ub != 0xA5).max() == total - 1
    assert ub[:total].reshape(3, 64)[:, 48:].tolist() == [[7] * 16] * 3


def test_nothing_to_copy():
    for params in (DataCopyParams(0, 32, 0, 0), DataCopyParams(3, 0, 0, 0)):
        for pad in (None, DataCopyPadParams()):
            block = into_ub("ascend910b1", HALVES, params, pad)
            assert set(block.ub[0]) == {0xA5}
    assert set(into_ub("ascend910b1", HALVES, 0).ub[0]) == {0xA5}


@BOTH
def test_within_ub(soc):
    def body():
        u = Ub(a=(half, 64), b=(half, 64))
        put(u["a"], np.arange(64, dtype=np.float16))
        put(u["b"], np.zeros(64, np.float16))
        DataCopy(u["b"], u["a"], DataCopyParams(2, 1, 1, 0))
        assert peek(u["b"])[:33].tolist() == [*range(16), *range(32, 48), 0]

    (record,) = (r for r in run_block(body, soc=soc).records if r.call.name == "DataCopy")
    assert record.call.pipe is PIPE.PIPE_V


@pytest.mark.parametrize("soc", ["ascend910", "ascend310p"])
def test_no_datacopypad_on_older_chips(soc):
    with pytest.raises(
        UnsupportedError, match=f"{soc} has no DataCopyPad: use DataCopy with whole"
    ):
        into_ub(soc, HALVES, DataCopyParams(1, 40, 0, 0), DataCopyPadParams())
