"""A kernel with tensor lists: results, modes, names, and what is refused."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

import ascendsim as asim
from ascendsim.errors import BoundsError, ContractError, RequestError
from tests.helpers import assert_same_bits
from tests.kit import fails

OP = asim.load(Path(__file__).parent / "foreach_scale")
SHAPES = [(300,), (7, 9), (1,), (2, 3, 50)]


def arrays(dtype):
    rng = np.random.default_rng(5)
    return {f"x_{k}": rng.normal(size=shape).astype(dtype) for k, shape in enumerate(SHAPES)}


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_every_mode_gives_every_tensor(dtype):
    op, x = OP.with_lists(x=4, y=4), arrays(dtype)
    til = op.tiling({name: a.shape for name, a in x.items()}, dtype, factor=0.3)
    for mode in ("step", "replay", "fused"):
        run = asim.launch(op, x, til, mode=mode)
        assert [w for w in run.warnings if "coverage" in w] == []
        for k in range(4):
            got = run.outputs[f"y_{k}"]
            assert got.shape == SHAPES[k]
            assert_same_bits(got, x[f"x_{k}"] * np.array(0.3, dtype))


def test_the_op_is_kept_and_travels():
    op = OP.with_lists(x=2, y=2)
    assert op is OP.with_lists(y=2, x=2)
    assert op is not OP.with_lists(x=3, y=3)
    assert pickle.loads(pickle.dumps(op)).definition.inputs == ("x_0", "x_1")
    assert op.definition.to_json()["outputs"] == ["y_0", "y_1"]


@pytest.mark.parametrize(
    "counts", [{"x": 2}, {"x": 2, "y": 0}, {"x": 2, "y": 2, "z": 1}, {"x": 1.0, "y": 1}]
)
def test_counts_that_fit_no_list(counts):
    with pytest.raises(RequestError, match=r"tensor lists: x, y|1\.\.256 tensors"):
        OP.with_lists(**counts)


def test_without_numbers_the_kernel_says_what_to_do():
    til = OP.tiling((8,), "float32")
    with pytest.raises(
        ContractError, match=r"no tensor list: name it in OpDef\(lists=\.\.\.\).*--list NAME"
    ):
        asim.launch(OP, {"x": np.zeros(8, np.float32)}, til)


def test_descriptions():
    from ascendsim.ascendc import ListTensorDesc, TensorDesc, float32
    from ascendsim.tensor import GmAddressList

    found = []

    def body(a, b):
        tensors = ListTensorDesc(GmAddressList([a, b]))
        desc, shape = TensorDesc(float32), [0] * 3
        for call in (desc.GetDim, lambda: tensors.GetDesc(desc, 0)):
            with pytest.raises(ContractError):
                call()
        desc.SetShapeAddr(shape)
        tensors.GetDesc(desc, 1)
        found.append(
            (desc.GetDim(), shape, desc.GetShape(1), desc.GetIndex(), repr(desc.GetDataPtr()))
        )
        with pytest.raises(BoundsError, match="the tensor has 2 dimensions"):
            desc.GetShape(2)
        tensors.GetDataPtr(float32, 2)

    x = {"a": np.zeros(3, np.float32), "b": np.zeros((2, 5), np.float32)}
    fails(BoundsError, "index is 2: the list has 2 tensors", body, x)
    assert found == [(2, [2, 5, 0], 5, 1, "GM b+0x0")]
