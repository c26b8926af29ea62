"""Contiguous, ViewCopy and Cast on the core: any strides, any size, every byte."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ascendsim.dtypes import float32
from ascendsim.host import acl
from ascendsim.host.aclnn.layout import Layout, row_major
from ascendsim.host.aclnn.movers import plan_move
from tests.helpers import assert_same_bits
from tests.host import oracle
from tests.host.calls import T, Tensor, first_phase, second_phase, start


def result(stream, specs, name="HardsigmoidBackward"):
    tensors = [Tensor(spec, seed) for seed, spec in enumerate(specs)]
    status, size, executor = first_phase(name, *(each.handle for each in tensors))
    assert status == 0, acl.get_recent_err_msg()
    assert second_phase(name, size, executor, stream) == 0, acl.get_recent_err_msg()
    return tensors, executor


BIG = {
    "rows longer than a tile": T((3, 40000), strides=(40003, 1)),
    "more rows than one copy takes": T((9000, 2), strides=(3, 1)),
    "transposed": T((300, 70), strides=(1, 301)),
    "four dimensions": T((5, 6, 7, 8), strides=(1, 2700, 5, 43), offset=11),
    "wide gaps": T((40, 3), strides=(20001, 5)),
}


@pytest.mark.parametrize("spec", BIG.values(), ids=BIG.keys())
@pytest.mark.parametrize("types", [("float32",) * 3, ("float16", "bfloat16", "float16")])
def test_large_views(spec, types):
    stream = start("ascend950")
    specs = [T(spec.shape, t, spec.strides, spec.offset) for t in types]
    (grad, x, out), _ = result(stream, specs)
    want = out.before.copy()
    values = oracle.hard_sigmoid(grad.view(grad.before), x.view(x.before), want.dtype)
    out.view(want)[...] = values
    assert_same_bits(out.after(), want)


def test_strided_gives_the_bits_of_contiguous():
    stream = start("ascend910b1")
    spec = T((50, 20), "float16", (1, 53), 3)
    (grad, x, out), _ = result(stream, (spec, spec, spec), "HardswishBackward")
    dense = T((50, 20), "float16")
    plain = [Tensor(dense, seed) for seed in range(3)]
    for there, here in ((grad, plain[0]), (x, plain[1])):
        here.before[...] = there.view(there.before).reshape(-1)
        host = acl.util.numpy_to_ptr(here.before)
        assert acl.rt.memcpy(here.address, 2000, host, 2000, acl.ACL_MEMCPY_HOST_TO_DEVICE) == 0
    status, size, executor = first_phase("HardswishBackward", *(t.handle for t in plain))
    assert (status, size) == (0, 0)
    assert second_phase("HardswishBackward", 0, executor, stream) == 0
    after = out.after()
    assert_same_bits(out.view(after).reshape(-1), plain[2].after())
    gaps = np.ones(after.size, bool)
    out.view(gaps)[...] = False
    assert gaps.sum() > 50
    assert_same_bits(after[gaps], out.before[gaps])


def test_casts_around_the_kernel_round_as_numpy():
    for soc in ("ascend950", "ascend910b1"):
        stream = start(soc)
        for grad, out in (("float16", "bfloat16"), ("bfloat16", "float16"), ("float32", "float16")):
            specs = [T((5000,), grad), T((5000,), "float32"), T((5000,), out)]
            (g, x, y), executor = result(stream, specs)
            casts = [node.op for node in executor.graph.nodes].count("Cast")
            assert casts == (1 if grad == "float32" else 2)
            want = oracle.hard_sigmoid(g.before, x.before, y.before.dtype)
            assert_same_bits(y.after(), want)


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_a_plan_reaches_every_element_once(data):
    rank = data.draw(st.integers(0, 4))
    shape = tuple(data.draw(st.integers(1, 4)) for _ in range(rank))
    source = tuple(data.draw(st.integers(0, 9)) for _ in range(rank))
    order = data.draw(st.permutations(range(rank)))
    plain = row_major(tuple(shape[axis] for axis in order))
    gap = data.draw(st.integers(1, 3))
    target = tuple(plain[order.index(axis)] * gap for axis in range(rank))
    plan = plan_move(Layout(float32, shape, source), Layout(float32, shape, target))
    moved = []
    for row in range(plan.rows):
        s, d = plan.place(row)
        for block in range(plan.blocks[0]):
            for step in range(plan.run):
                at = s + block * plan.blocks[1] + step
                moved.append((d + block * plan.blocks[2] + step, at))
    want = [
        (
            sum(i * t for i, t in zip(index, target, strict=True)),
            sum(i * f for i, f in zip(index, source, strict=True)),
        )
        for index in np.ndindex(*shape)
    ]
    assert sorted(moved) == sorted(want)


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_overlap_and_repeats_against_enumeration(data):
    def layout():
        rank = data.draw(st.integers(0, 3))
        shape = tuple(data.draw(st.integers(0, 4)) for _ in range(rank))
        strides = tuple(data.draw(st.integers(0, 7)) for _ in range(rank))
        return Layout(float32, shape, strides, data.draw(st.integers(0, 6)))

    def places(each):
        return [
            each.offset + sum(i * s for i, s in zip(index, each.strides, strict=True))
            for index in np.ndindex(*each.shape)
        ]

    one, two = layout(), layout()
    first, second = places(one), places(two)
    assert one.repeats == (len(set(first)) != len(first))
    dense = list(range(one.offset, one.offset + len(first)))
    assert one.contiguous == (first == dense or len(first) <= 1)
    assert one.span == (max(first) - one.offset + 1 if first else 0)
    if one.shape == two.shape:
        assert one.same_elements(two) == (first == second) or not first
    shared = bool(set(first) & set(second))
    assert one.collides(two) == (shared and not one.same_elements(two))
