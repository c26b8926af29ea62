"""The wheel holds chips and kernels, and works where there is no checkout."""

from __future__ import annotations

import json
import os
import zipfile

import pytest

from tests.house.tree import ROOT, relative, run_python, sources

RUN = "import sys; from ascendsim.cli import main; sys.exit(main())"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    run_python("-m", "pip", "wheel", "-q", str(ROOT), "--no-deps", "-w", str(folder))
    (path,) = folder.glob("ascendsim-*.whl")
    return path


@pytest.mark.slow
def test_wheel_holds_all_modules_chips_and_kernels(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    wanted = {relative(path) for path in sources("ascendsim")}
    wanted |= {relative(path) for path in (ROOT / "ascendsim").rglob("*.toml")}
    wanted |= {relative(path) for path in (ROOT / "ascendsim").rglob("*.md")}
    for kind in ("js", "css", "html"):
        files = {relative(path) for path in (ROOT / "ascendsim").rglob(f"*.{kind}")}
        assert files, f"no .{kind} file: the capsule's page has some"
        wanted |= files
    wanted |= {f"ascendsim/_{relative(path)}" for path in sources("kernels") if not _test(path)}
    assert wanted <= names
    tops = {name.split("/")[0] for name in names}
    assert tops == {"ascendsim", next(top for top in tops if top.endswith(".dist-info"))}
    assert not [name for name in names if "test_" in name]


@pytest.mark.slow
def test_wheel_works_outside_a_checkout(wheel, tmp_path):
    site = tmp_path / "site"
    zipfile.ZipFile(wheel).extractall(site)
    environment = {k: v for k, v in os.environ.items() if k != "ASCENDSIM_KERNELS"}
    environment["PYTHONPATH"] = str(site)

    def ask(*arguments):
        printed = run_python("-c", RUN, *arguments, "--json", cwd=tmp_path, env=environment)
        return json.loads(printed.splitlines()[-1])  # progress may come before

    where = "import ascendsim; print(ascendsim.__file__)"
    assert run_python("-c", where, cwd=tmp_path, env=environment).startswith(str(site))
    ops = [each["name"] for each in ask("ops")["ops"]]
    assert ops == sorted(path.parent.name for path in sources("kernels") if _definition(path))
    (case,) = ask("museum", "D1")["cases"]
    assert case["caught"]
    run = ask("run", ops[0], "--n", "100", "--random")
    assert run["n"] == 100


def _test(path):
    return path.name.startswith("test_")


def _definition(path):
    """Tell whether this defines an operator; the cases of the museum are none of their own."""
    return path.name == "op_def.py" and "museum" not in path.parts
