"""Output bits of the three kernels, held against the unmodified kernels on plain IEEE arithmetic.

The values were produced by compiling the original kernel headers; they contain the boundaries
-3 and 3 with their neighbours, zeros of both signs, infinities and NaN. Every result depends on
its own elements only, so any length is checked by repeating them.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ascendsim as asim
from tests.helpers import assert_same_bits

VECTORS = np.load(Path(__file__).parent / "data" / "vectors_small.npz")
OPS = ("hard_sigmoid_grad", "hard_swish_grad", "swish_grad")
DTYPES = ("float32", "float16", "bfloat16")
IEEE = asim.Options.of("ieee")
SMALL = {"cores": 3, "ub": 16384}
TILES = {  # elements of a full tile with SMALL
    "hard_sigmoid_grad": {4: 512, 2: 576},
    "hard_swish_grad": {4: 320, 2: 320},
    "swish_grad": {4: 584, 2: 672},
}


def vectors(name, dtype, output="out"):
    numpy = asim.load(name).definition.choose_dtypes(dtype)["out"].numpy
    return [VECTORS[f"{name}__{dtype}__{key}"].view(numpy) for key in ("grad", "x", output)]


def repeated(arrays, n):
    return [array[np.arange(n) % len(array)] for array in arrays]


def run(name, dtype, grad, x, block_dim=None, mode="auto", **request):
    op = asim.load(name)
    til = op.tiling(x.shape, dtype, **request).replace({}, block_dim)
    return asim.launch(op, {"grad": grad, "x": x}, til, mode=mode, options=IEEE).out


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", OPS)
@pytest.mark.parametrize("mode", ["auto", "step"])
def test_golden_values(name, dtype, mode):
    grad, x, want = vectors(name, dtype)
    assert_same_bits(run(name, dtype, grad, x, mode=mode), want, grad, x)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("name", "output", "attrs"),
    [
        ("hard_sigmoid_grad", "out_alpha_literal", {"alpha": "0x3e2aaaaa"}),
        ("swish_grad", "out_scale1702", {"sconf": 1.702}),
    ],
)
def test_golden_values_with_attributes(name, output, attrs, dtype):
    grad, x, want = vectors(name, dtype, output)
    assert_same_bits(run(name, dtype, grad, x, **attrs), want, grad, x)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", OPS)
def test_lengths(name, dtype):
    arrays = vectors(name, dtype)
    tile = TILES[name][arrays[0].itemsize]
    for n in (0, 1, 63, 64, 65, tile - 1, tile, tile + 1, 3 * tile + 5, 9 * tile):
        if n == 0 and name == "swish_grad":
            continue
        grad, x, want = repeated(arrays, n)
        for cores in (1, 3):
            got = run(name, dtype, grad, x, **SMALL | {"cores": cores})
            assert_same_bits(got, want, grad, x)


def test_tile_lengths_are_the_tilings():
    for name, sizes in TILES.items():
        for dtype in DTYPES:
            til = asim.load(name).tiling((5000,), dtype, **SMALL)
            factor = til.fields.get("ubFactor") or til.fields.get("tileDataNum")
            assert factor == sizes[til.dtype.nbytes]


def test_an_empty_tensor_that_tiling_refuses():
    with pytest.raises(asim.errors.TilingError, match="empty"):
        asim.load("swish_grad").tiling((0,), "float32")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", OPS[:2])
def test_blocks_without_work(name, dtype):
    grad, x, want = repeated(vectors(name, dtype), 1500)
    blocks = asim.load(name).tiling(x.shape, dtype, **SMALL).block_dim
    assert_same_bits(run(name, dtype, grad, x, blocks + 2, **SMALL), want, grad, x)


@pytest.mark.parametrize("name", OPS)
def test_inputs_are_never_changed(name):
    grad, x, _ = vectors(name, "float32")
    copies = grad.copy(), x.copy()
    run(name, "float32", grad, x)
    assert_same_bits(grad, copies[0])
    assert_same_bits(x, copies[1])


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_leak_at_minus_three(dtype):
    op = asim.load("hard_sigmoid_grad")
    numpy = op.definition.choose_dtypes(dtype)["out"].numpy
    grad, x = (np.full(1, value, numpy) for value in (1, -3))
    leaked = {"float32": 0x3E2AAAAA, "float16": 0x3155, "bfloat16": 0x3E2B}[dtype]
    for alpha, bits in (("0x3e2aaaab", 0), ("0x3e2aaaaa", leaked)):
        out = run("hard_sigmoid_grad", dtype, grad, x, alpha=alpha)
        assert int(out.view(f"u{out.itemsize}")[0]) == bits
