"""Every case of the museum: the broken kernel is caught as it says, the repaired one clean."""

from __future__ import annotations

import dataclasses
import shutil

import numpy as np
import pytest

from ascendsim.errors import RequestError
from ascendsim.explore.museum import find_cases, load_case, run_case, run_museum
from ascendsim.host import find_ops

CASES = find_cases()
#: those that the list of public reports asks for first
FIRST = ["A1", "A4", "A7", "B1", "B5", "B7", "B8", "C1", "C10", "D1", "D3", "D4", "D6", "E4"]


def test_there_are_enough_and_the_first_ones():
    assert len(CASES) >= 20
    assert set(FIRST) <= set(CASES)


def test_cases_are_no_operators():
    names = {load_case(folder).title for folder in CASES.values()}
    assert len(names) == len(CASES)
    assert not set(find_ops()) & {"broken", "fixed", "museum", *CASES}


@pytest.mark.parametrize("name", CASES)
def test_case(name):
    told = run_case(name, CASES[name])
    assert told.caught, told.got
    assert told.clean, told.fixed


@pytest.mark.parametrize("name", CASES)
def test_reported_and_right_values_differ(name):
    case = load_case(CASES[name])
    assert case.right
    for output, wrong in case.wrong.items():
        right = case.right[output]
        assert (wrong.dtype, wrong.shape) == (right.dtype, right.shape)
    if case.wrong:
        assert any(case.wrong[n].tobytes() != case.right[n].tobytes() for n in case.wrong)


@pytest.mark.parametrize("name", CASES)
def test_the_repaired_kernel_is_not_caught_and_the_broken_one_not_clean(name, tmp_path):
    """Exchange the two: a judge that says yes to everything fails here."""
    folder = tmp_path / name
    shutil.copytree(CASES[name], folder, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "broken").rename(folder / "aside")
    (folder / "fixed").rename(folder / "broken")
    (folder / "aside").rename(folder / "fixed")
    told = run_case(name, folder)
    assert not told.caught
    assert not told.clean


def test_one_case_by_name_and_unknown_ones(tmp_path):
    (told,) = run_museum("B1")
    assert told.id == "B1"
    assert told.to_json()["got"].startswith("out[0] = -5.0 = 0xc0a00000, right is -4.0")
    with pytest.raises(RequestError, match="no case 'Z9'"):
        run_museum("Z9")
    (tmp_path / "museum" / "X1").mkdir(parents=True)
    (tmp_path / "museum" / "X1" / "case.py").write_text('"""Nothing."""\n')
    with pytest.raises(RequestError, match="does not set CASE"):
        run_museum("X1", [tmp_path])


def test_a_claim_that_is_wrong_is_not_believed(tmp_path):
    folder = CASES["C11"]
    case = load_case(folder)
    other = {name: np.zeros_like(array) for name, array in case.wrong.items()}
    lie = dataclasses.replace(case, wrong=other)
    from ascendsim.explore import museum

    broken = museum._run(lie, folder / "broken")
    assert museum._caught(lie, broken)[0] is False
    assert museum._caught(case, broken)[0] is True
