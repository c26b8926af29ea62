"""A copy stands where the tests of a kernel expect it, and holds what they need."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ascendsim.explore.mutate.copies import Layout
from ascendsim.host import find_ops
from tests.mutate.kernels import write

LOOK = """
import json, os, sys
import pkg.one, pkg.one.op_kernel, pkg.two
import ascendsim as asim
op = asim.load("one")
print(json.dumps([pkg.one.__file__, pkg.one.op_kernel.X, pkg.two.X, str(op.folder), asim.__file__,
                  str(asim.load("three").folder)]))
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Write a project with a package of kernels, and what lies around in one."""
    base = tmp_path / "project"
    write(base, {"pyproject.toml": "[tool.pytest.ini_options]\npythonpath = '.'\n"})
    write(base / "data", {"big.npz": "data"})
    write(base / "pkg", {"__init__.py": "", "conftest.py": "here = 1\n"})
    definition = "from ascendsim.host import OpDef\nOP = OpDef('{}')\n"
    for name in ("one", "two", "three"):
        files = {"__init__.py": "X = 2\n", "op_def.py": definition.replace("{}", name)}
        write(base / "pkg" / name, files | {"op_kernel.py": "X = 1\n", "test_x.py": "import x\n"})
    write(base / "pkg" / "one" / "__pycache__", {"op_kernel.cpython-311.pyc": "stale"})
    write(base / "pkg" / "one" / "data", {"more.txt": "text"})
    return base


def look(layout: Layout, place: Path) -> list[str]:
    """Return what Python and load find with the environment of a copy."""
    path = os.pathsep.join([*layout.path(place), *sys.path])
    done = subprocess.run(
        [sys.executable, "-Bc", LOOK],
        env=os.environ | layout.environment(place) | {"PYTHONPATH": path},
        cwd=layout.inside(place, layout.here),
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    return json.loads(done.stdout)


def test_names_lead_to_the_copy(project, tmp_path):
    folder, place = project / "pkg" / "one", tmp_path / "place"
    layout = Layout.of(folder)
    assert (layout.root, layout.importable, layout.here) == (project, project, project)
    copy = layout.made(place, {"op_kernel.py": b"X = 5\n"})
    assert copy == place / "pkg" / "one"
    import ascendsim

    found = look(layout, place)
    assert found[:4] == [str(copy / "__init__.py"), 5, 2, str(copy)]
    assert found[4:] == [ascendsim.__file__, str(project / "pkg" / "three")]
    assert (folder / "op_kernel.py").read_text() == "X = 1\n"


def test_what_is_copied_and_what_is_linked(project, tmp_path):
    layout = Layout.of(project / "pkg" / "one")
    place = tmp_path / "place"
    copy = layout.made(place, {})
    assert (place / "data").is_symlink()
    assert (place / "pkg" / "two").is_symlink()
    for name in ("pyproject.toml", "pkg/conftest.py", "pkg/one/data", "pkg/one/data/more.txt"):
        assert (place / name).exists()
        assert not (place / name).is_symlink(), name
    assert not (copy / "__pycache__").exists()
    assert sorted(path.name for path in copy.iterdir()) == [
        "__init__.py",
        "data",
        "op_def.py",
        "op_kernel.py",
        "test_x.py",
    ]


def test_the_simulator_is_no_part_of_a_copy(tmp_path):
    folder = find_ops()["add"]
    layout = Layout.of(folder)
    layout.made(tmp_path / "place", {})
    assert not (tmp_path / "place" / "ascendsim").exists()
    assert (tmp_path / "place" / "kernels" / "__init__.py").is_file()


def test_a_plain_folder(tmp_path, monkeypatch):
    folder = write(tmp_path / "deep" / "plain", {"op_def.py": "", "test_it.py": ""})
    layout = Layout.of(folder)
    assert (layout.root, layout.importable, layout.here) == (folder.parent,) * 3
    monkeypatch.chdir(tmp_path)  # its tests may name files from here
    layout = Layout.of(folder)
    assert (layout.root, layout.importable, layout.here) == (tmp_path, folder.parent, tmp_path)
    monkeypatch.chdir(folder)
    assert Layout.of(folder).here == folder
    assert Layout.of(folder).root == folder.parent


def test_directories_of_kernels_stay_on_the_path(tmp_path, monkeypatch):
    monkeypatch.setenv("ASCENDSIM_KERNELS", "/elsewhere")
    folder = write(tmp_path / "mine" / "plain", {"op_def.py": "", "test_it.py": ""})
    layout = Layout.of(folder, [tmp_path / "other"])
    found = layout.environment(Path("/copy"))["ASCENDSIM_KERNELS"].split(os.pathsep)
    assert found == ["/copy", str(tmp_path / "other"), "/elsewhere"]
