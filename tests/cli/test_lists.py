"""Kernels with tensor lists on the command line: --list, and one tensor where nothing is said."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ascendsim as asim

FOLDER = Path(__file__).parents[1] / "ports" / "foreach_scale"
LAUNCHES = {
    "run": ("--random",),
    "tiling": (),
    "check": (),
    "step": ("--random", "--do", "n"),
    "time": (),
    "compare": ("--profile", "documented", "--profile", "ieee"),
    "tile": ("--sweep", "tensors=1"),
}


@pytest.mark.parametrize("command", LAUNCHES)
@pytest.mark.parametrize("lists", [(), ("--list", "x=3"), ("--list", "x=2", "--list", "y=2")])
def test_every_command_takes_lists(command, lists, ask):
    answer = ask(command, FOLDER, "--n", 300, *LAUNCHES[command], *lists, "--json")
    assert (answer.code, answer.err) == (0, "")


def test_a_capsule_of_lists(ask, tmp_path):
    page = tmp_path / "page.html"
    assert ask("capsule", FOLDER, "--n", 9, "--random", "--list", "x=2", "-o", page).code == 0
    run = asim.open(page)
    assert list(run.outputs) == ["y_0", "y_1"]


def test_an_atlas_of_lists(ask):
    words = ("--dtype", "float16", "--against", "factor=0.5", "--json", "--cores", 1)
    for lists in ((), ("--list", "x=2")):
        found = ask("atlas", FOLDER, *words, *lists).json
        assert (found["inputs"], found["mismatches"]) == (65536, 0)
    answer = ask("atlas", FOLDER, "--dtype", "float16", "--against", "hard_sigmoid_grad")
    assert answer.code == 2
    assert "kernels whose inputs and outputs have the same names" in answer.err


def test_the_tensors_of_a_list_are_read_and_written(ask, tmp_path):
    x = {f"x_{k}": np.arange(40, dtype=np.float32) + k for k in range(3)}
    np.savez(tmp_path / "in.npz", **x)
    files = ("--input", tmp_path / "in.npz", "--output", tmp_path / "out.npz")
    assert ask("run", FOLDER, *files, "--list", "x=3", "--attr", "factor=2").code == 0
    with np.load(tmp_path / "out.npz") as out:
        assert sorted(out) == ["y_0", "y_1", "y_2"]
        for k in range(3):
            assert (out[f"y_{k}"] == (2 * x[f"x_{k}"]).view(np.uint32)).all()


@pytest.mark.parametrize(
    ("op", "words", "told"),
    [
        (FOLDER, "z=2", "tensor lists: x, y"),
        (FOLDER, "x=0", "1..256 tensors"),
        (FOLDER, "x=many", "whole number"),
        (FOLDER, "3", "write it as NAME=VALUE"),
        ("add", "x=2", "tensor lists: none"),
    ],
)
def test_lists_that_are_none(op, words, told, ask):
    answer = ask("run", op, "--n", 8, "--random", "--list", words)
    assert answer.code == 2
    assert told in answer.line


def test_mutants_of_a_kernel_with_lists(ask):
    kind = ("--kind", "off-by-one-tile", "--jobs", 1)
    found = ask("mutate", FOLDER, *kind, "--list", "x=2", "--json").json
    assert found["mutants"]
    assert ask("mutate", FOLDER, *kind, "--list", "z=2").code == 2


def test_a_variant_keeps_its_lists():
    op = asim.load(FOLDER).with_lists(x=2, y=2)
    changed = op.variant(constants={"TILE": 64})
    assert changed.definition.inputs == op.definition.inputs == ("x_0", "x_1")
    assert changed.kernel_module.TILE == 64
