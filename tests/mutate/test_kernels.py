"""The kernels of this repository: what their tests let pass, and the literal at the boundary."""

from __future__ import annotations

import shutil

import pytest

from ascendsim.explore.mutate import mutate
from ascendsim.host import find_ops

pytestmark = pytest.mark.slow
#: class and file of the mutants that nobody notices: none of them changes a bit
LEFT = {
    "hard_sigmoid_grad": 3 * ["aligned-count"],
    "hard_swish_grad": 3 * ["aligned-count"] + ["drop-sync"],
}


@pytest.mark.parametrize("name", LEFT)
def test_own_tests_notice_all_that_changes_a_bit(name):
    score = mutate(name)
    assert [each.mutant.kind for each in score.survivors] == LEFT[name]
    assert not any(each.witness for each in score.survivors)
    assert score.notes == ()
    assert all(each.by != "checks" for each in score.judged)


def test_the_literal_for_one_sixth_differs_at_the_boundary(tmp_path):
    """Without tests the bits show it: at -3 the gradient leaks."""
    copy = tmp_path / "hard_sigmoid_grad"
    left_out = shutil.ignore_patterns("test_*.py", "__pycache__")
    shutil.copytree(find_ops()[copy.name], copy, ignore=left_out)
    told = {each.mutant.file: each for each in mutate(copy, kinds=("exact-constant",)).judged}
    assert [told[name].compared for name in ("op_api.py", "op_aclnn.py")] == [False, False]
    definition = told["op_def.py"]
    assert definition.mutant.changes == (("1 / 6", "0.16666666"),)
    assert definition.killed_by == "bits"
    assert definition.witness["inputs"]["x"] == "-3.0 = 0xc0400000"
    assert int(definition.witness["want"], 16) << 1 & 0xFFFFFFFF == 0
    assert int(definition.witness["got"], 16) << 1 & 0xFFFFFFFF != 0
