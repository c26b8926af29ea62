"""Every notebook runs from top to bottom, is short, and keeps small outputs without local paths."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests import warm

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))
MAX_CELLS = 25
MAX_BYTES = 200_000
WITH_WIDGETS = [path for path in NOTEBOOKS if "widget" in path.read_text(encoding="utf-8")]
CELLS = """
import json
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
for cell in json.load(open({!r}, encoding="utf-8"))["cells"]:
    if cell["cell_type"] == "code":
        shell.run_cell("".join(cell["source"])).raise_error()
"""
SECONDS = 120  # generous: a loaded machine


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_shape(path):
    text = path.read_text(encoding="utf-8")
    cells = json.loads(text)["cells"]
    code = "".join(line for c in cells if c["cell_type"] == "code" for line in c["source"])
    assert len(cells) < MAX_CELLS
    assert len(text) < MAX_BYTES
    assert "assert " in code
    assert str(path.parents[1]) not in text


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_cells_run(path):
    """In a shell without a kernel around it, which takes a second less."""
    pytest.importorskip("IPython")
    code, printed = warm.python(CELLS.format(str(path)), path.parent)
    assert code == 0, printed


@pytest.mark.parametrize(
    "path",
    [pytest.param(p, marks=[] if p in WITH_WIDGETS else pytest.mark.slow) for p in NOTEBOOKS],
    ids=lambda p: p.stem,
)
def test_runs_in_a_kernel(path):
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    notebook = nbformat.read(path, as_version=4)
    resources = {"metadata": {"path": str(path.parent)}}
    nbclient.NotebookClient(
        notebook, timeout=SECONDS, kernel_name="python3", resources=resources
    ).execute()
