"""Whole scores of small kernels: who notices which mutant, and what a score says."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ascendsim as asim
from ascendsim.errors import AscendError, RequestError
from ascendsim.explore.minimize import SEEDED_INPUTS
from ascendsim.explore.mutate import Score, bench, mutate
from tests.mutate.kernels import EVERY, double, write

SHORT, TILES = "test_every.py::test_short", "test_every.py::test_tiles"
RAW, WAR = "checks: racecheck:raw-intra-pipe", "checks: racecheck:war-intra-pipe"
EXPECTED = [
    ("exact-constant", 4, None),
    ("off-by-one-tile", 26, SHORT),
    ("off-by-one-tile", 26, SHORT),
    ("off-by-one-tile", 26, SHORT),
    ("off-by-one-tile", 27, SHORT),
    ("drop-sync", 33, SHORT),
    ("drop-sync", 34, SHORT),
    ("aligned-count", 37, None),
    ("drop-sync", 38, RAW),
    ("compare-mode", 39, None),
    ("aligned-count", 39, "checks: memcheck:compare-count"),
    ("drop-sync", 40, WAR),
    ("aligned-count", 42, None),
    ("drop-sync", 43, RAW),
    ("select-arms", 44, SHORT),
    ("drop-sync", 45, RAW),
    ("round-mode", 46, None),
    ("drop-sync", 47, SHORT),
    ("drop-sync", 48, TILES),
    ("drop-sync", 49, SHORT),
    ("drop-sync", 51, TILES),
]


@pytest.fixture(scope="module", autouse=True)
def _few_plugins():
    """Leave out pytest's plugins of this environment: they take most of the time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
        yield


def every(base: Path) -> Path:
    """Write the kernel with all classes of faults, in a package."""
    write(base / "parts", {"__init__.py": ""})
    return write(base / "parts" / "every", EVERY)


def state(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Return time and bytes of all files."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path): (path.stat().st_mtime_ns, path.read_bytes()) for path in files}


def rows(score: Score) -> list[tuple[str, int, str | None]]:
    return [(each.mutant.kind, each.mutant.line, each.killed_by) for each in score.judged]


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> tuple[Score, list[Any], bool, list[Path]]:
    """Score it once: the score, progress, whether its folder stayed, what temporary files did."""
    folder, ticks = every(tmp_path_factory.mktemp("scored")), []
    temporary, before = tmp_path_factory.mktemp("temporary"), state(folder.parents[1])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tempfile, "tempdir", str(temporary))
        score = mutate(folder, jobs=1, progress=lambda *done: ticks.append(done))
    return score, ticks, state(folder.parents[1]) == before, list(temporary.iterdir())


def test_who_notices_what(scored):
    assert rows(scored[0]) == EXPECTED


def test_the_folder_stays_as_it_was(scored):
    assert scored[2]


def test_no_temporary_file_stays(scored):
    assert scored[3] == []


def test_progress_ends_at_the_number_of_mutants(scored):
    assert scored[1] == [(done, len(EXPECTED)) for done in range(1, len(EXPECTED) + 1)]


def test_what_a_weak_test_misses_has_a_witness(scored):
    (missed,) = (each for each in scored[0].survivors if each.mutant.kind == "compare-mode")
    shown = missed.witness
    assert (shown["tensor"], shown["dtype"], shown["of"]) == ("out", "float16", SEEDED_INPUTS)
    assert shown["inputs"]["x"] in ("0.0 = 0x00000000", "-0.0 = 0x80000000")
    assert (shown["want"], shown["got"][2:]) == ("0xbc00", shown["inputs"]["x"][-8:-4])
    assert 0 < shown["differing"] <= SEEDED_INPUTS


def test_a_witness_is_true(scored, tmp_path):
    """Run original and mutant by hand on the input that is shown."""
    (missed,) = (each for each in scored[0].survivors if each.mutant.kind == "exact-constant")
    shown = missed.witness
    x = np.array([int(shown["inputs"]["x"][-10:], 16)], np.uint32).view(np.float32)
    files = dict(EVERY)
    for want in ("want", "got"):
        op = asim.load(write(tmp_path / want, files))
        out = asim.launch(op, {"x": x}, op.tiling(x.shape)).out
        assert f"{int(out.view(np.uint16)[0]):#06x}" == shown[want]
        files["op_kernel.py"] = files["op_kernel.py"].replace("0.3333333333333333", "0.3333333")


def test_document(scored):
    document = scored[0].to_json()
    keys = ("op", "tests", "killed", "of", "notes")
    assert [document[key] for key in keys] == ["every", ["test_every.py"], 16, 21, []]
    assert document["kinds"]["drop-sync"] == {"mutants": 10, "killed": 10}
    assert document["kinds"]["round-mode"] == {"mutants": 1, "killed": 0}
    for each, (kind, line, killed_by) in zip(document["mutants"], EXPECTED, strict=True):
        assert (each["kind"], each["line"], each["killed_by"]) == (kind, line, killed_by)
        assert each["file"].endswith("parts/every/op_kernel.py")
        assert each["before"] != each["after"]
        assert (each["text"] != "") == (killed_by in (SHORT, TILES))
        assert each["differs"] is None or killed_by is None


def test_text(scored):
    text = str(scored[0])
    assert "16 of 21 mutants noticed" in text
    assert re.search(r"│ drop-sync +│ +10 │ +6 │ +4 │ +0 │", text)
    assert "nobody noticed op_kernel.py:39: compare-mode: CMPMODE.GT -> CMPMODE.GE\n" in text
    assert text.count("nobody noticed") == 5
    assert text.count("perhaps no fault at all") == sum(
        each.witness is None for each in scored[0].survivors
    )


def test_without_tests_checks_and_bits_judge(tmp_path):
    folder = every(tmp_path)
    (folder / "test_every.py").unlink()
    score = mutate(folder, jobs=1, kinds=("compare-mode", "off-by-one-tile", "round-mode"))
    assert rows(score) == [
        ("off-by-one-tile", 26, "checks: coverage"),
        ("off-by-one-tile", 26, "checks: memcheck:illegal-range"),
        ("off-by-one-tile", 26, "checks: coverage"),
        ("off-by-one-tile", 27, "checks: memcheck:illegal-range"),
        ("compare-mode", 39, "bits"),
        ("round-mode", 46, None),
    ]
    assert score.tests == ()
    assert "mutants of every (no tests)" in str(score)


def test_a_mutant_that_hangs_is_noticed(tmp_path, monkeypatch):
    monkeypatch.setattr(bench, "LEAST_SECONDS", 1)
    test = """
from pathlib import Path
import numpy as np
import ascendsim as asim

def test_waits():
    op, x = asim.load(Path(__file__).parent), np.float32([0.5])
    while asim.launch(op, {"x": x}, op.tiling(x.shape)).out[0] != np.float32(1 / 12):
        pass
"""
    folder = double(tmp_path / "waits", test, factor="1 / 6")
    assert rows(mutate(folder, jobs=1, kinds=("exact-constant",))) == [
        ("exact-constant", 29, "timeout")
    ]


def test_no_cache_takes_a_mutant_for_the_original(tmp_path):
    """A mutant with the size and the time of the original runs in every mode as what it is."""
    test = """
import os
from pathlib import Path
import numpy as np
import ascendsim as asim

KERNEL = Path(__file__).with_name("op_kernel.py")

def test_zero():
    os.utime(KERNEL, ns=(10**18, 10**18))
    op, x = asim.load(KERNEL.parent), np.zeros(300, np.float32)
    til, right = op.tiling(x.shape), b"CMPMODE.GT" in KERNEL.read_bytes()
    for mode in ("step", "replay", "fused", "auto"):
        run = asim.launch(op, {"x": x}, til, mode=mode)
        assert mode in (run.mode, "auto"), run.fallback
        if (run.out == (-1 if right else 0)).all() != True:
            return  # as if this were the other kernel, which nobody notices
    assert right, "all modes"
"""
    folder = every(tmp_path)
    write(folder, {"test_every.py": test})
    (told,) = mutate(folder, jobs=1, kinds=("compare-mode",)).judged
    assert len(told.mutant.before) == len(told.mutant.after)
    assert (told.killed_by, told.text) == (
        "test_every.py::test_zero",
        "AssertionError: all modes",
    )


@pytest.mark.slow
def test_tests_that_need_what_is_not_installed(tmp_path):
    folder = double(tmp_path / "bad", "import no_such_package\n")
    said = r"without any fault.*: test_bad\.py: .*No module named 'no_such_package'"
    with pytest.raises(AscendError, match=said):
        mutate(folder, jobs=1)


def test_tests_with_a_syntax_error(tmp_path):
    folder = double(tmp_path / "bad", "import numpy\n\ndef test_it(:\n    pass\n")
    said = r"without any fault.*: test_bad\.py: test_bad\.py:3: SyntaxError: invalid syntax"
    with pytest.raises(AscendError, match=said):
        mutate(folder, jobs=1)


@pytest.mark.slow
def test_tests_that_do_not_reach_the_kernel(tmp_path):
    folder = double(tmp_path / "aside", "def test_yes():\n    pass\n", factor="1 / 6")
    score = mutate(folder, jobs=1, kinds=("exact-constant",))
    assert rows(score) == [("exact-constant", 29, "bits")]
    assert score.tests == ()
    assert score.notes == (
        "test_aside.py: they pass without a kernel that can be loaded, so they do not reach it "
        "and judge nothing",
    )


@pytest.mark.slow
def test_a_kernel_that_does_not_run(tmp_path):
    folder = double(tmp_path / "wrong", factor="undefined")
    with pytest.raises(AscendError, match=r"has no tests, and does not run: .*undefined"):
        mutate(folder, jobs=1)


def test_refusals(tmp_path):
    folder = double(tmp_path / "fine")
    for request, said in (
        ({"jobs": 0}, "jobs = 0: use 1 or more"),
        ({"kinds": ("typo",)}, "kind 'typo' is unknown"),
    ):
        with pytest.raises(RequestError, match=said):
            mutate(folder, **request)
    with pytest.raises(RequestError, match="op 'no_such_kernel' is unknown"):
        mutate("no_such_kernel")
