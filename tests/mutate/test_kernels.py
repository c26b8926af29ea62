"""The kernels of this repository: what their tests let pass, and the literal at the boundary."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

import ascendsim as asim
from ascendsim.explore.minimize import minimize_sync
from ascendsim.explore.mutate import mutate
from ascendsim.host import find_ops

pytestmark = pytest.mark.slow
#: class and file of the mutants that nobody notices: none of them changes a bit
LEFT = {
    "hard_sigmoid_grad": 3 * ["aligned-count"],
    "hard_swish_grad": 3 * ["aligned-count"] + ["drop-sync"],
}


def without_tests(name: str, base: Path) -> Path:
    """Return a copy of a kernel that has no tests."""
    left_out = shutil.ignore_patterns("test_*.py", "__pycache__")
    return Path(shutil.copytree(find_ops()[name], base / name, ignore=left_out))


@pytest.mark.parametrize("name", LEFT)
def test_own_tests_notice_all_that_changes_a_bit(name):
    score = mutate(name)
    assert [each.mutant.kind for each in score.survivors] == LEFT[name]
    assert not any(each.witness for each in score.survivors)
    assert score.notes == ()
    assert all(each.by != "checks" for each in score.judged)


def test_the_literal_for_one_sixth_differs_at_the_boundary(tmp_path):
    """Without tests the bits show it: at -3 the gradient leaks."""
    copy = without_tests("hard_sigmoid_grad", tmp_path)
    told = {each.mutant.file: each for each in mutate(copy, kinds=("exact-constant",)).judged}
    assert [told[name].compared for name in ("op_api.py", "op_aclnn.py")] == [False, False]
    definition = told["op_def.py"]
    assert definition.mutant.changes == (("1 / 6", "0.16666666"),)
    assert definition.killed_by == "bits"
    assert definition.witness["inputs"]["x"] == "-3.0 = 0xc0400000"
    assert int(definition.witness["want"], 16) << 1 & 0xFFFFFFFF == 0
    assert int(definition.witness["got"], 16) << 1 & 0xFFFFFFFF != 0


def test_barriers_that_carry_weight_are_those_that_are_noticed(tmp_path):
    """`minimize_sync` says the same of each barrier, over the element types."""
    op, load_bearing, all_barriers = asim.load("hard_swish_grad"), set(), set()
    for name in ("float32", "float16"):
        x = np.ones(2011, name)
        tiling = op.tiling(x.shape, name, ub=5408, cores=2)
        for each in minimize_sync(op, {"grad": x, "x": x}, tiling, inputs=1).sync:
            if each.point.what.startswith("PipeBarrier"):
                all_barriers.add(each.point.where.line)
                if each.off.verdict == "load-bearing":
                    load_bearing.add(each.point.where.line)
    score = mutate(without_tests(op.name, tmp_path), kinds=("drop-sync",))
    told = {
        each.mutant.line: each.killed_by
        for each in score.judged
        if each.mutant.before.startswith("PipeBarrier")
    }
    assert set(told) == all_barriers
    assert {line for line, by in told.items() if by is not None} == load_bearing
    assert len(all_barriers) == len(load_bearing) + 1
