"""The layers of pyproject.toml hold, and leave no module out."""

from __future__ import annotations

import re
import tomllib

from tests.house.tree import ROOT, run_python

CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"][
    "importlinter"
]["contracts"]
LINT = "from importlinter.cli import lint_imports_command as lint; lint(['--no-cache'])"
MODULES = {
    path.stem
    for path in (ROOT / "ascendsim").iterdir()
    if path.suffix == ".py" or (path / "__init__.py").is_file()
} - {"__init__"}


def test_no_import_points_upwards():
    run_python("-c", LINT)


def test_every_module_has_a_layer():
    (layers,) = (c["layers"] for c in CONTRACTS if c["type"] == "layers")
    assert set(re.findall(r"ascendsim\.(\w+)", " ".join(layers))) >= MODULES


def test_every_module_but_two_is_kept_from_numba():
    (contract,) = (c for c in CONTRACTS if c.get("forbidden_modules") == ["numba"])
    named = {name.removeprefix("ascendsim.") for name in contract["source_modules"]}
    assert named == MODULES - {"numerics", "engine"}
