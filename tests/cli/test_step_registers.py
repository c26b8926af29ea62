"""`ascendsim step`: what registers hold, as text and as JSON, forwards and back."""

from __future__ import annotations

import numpy as np
import pytest

from tests.test_registers import SCALED


@pytest.fixture
def launch(tmp_path):
    np.savez(tmp_path / "in.npz", x=np.arange(128, dtype=np.int32))
    return (SCALED, "--dtype", "int32", "--input", tmp_path / "in.npz")


def test_as_text(ask, launch):
    lines = ask("step", *launch, "--do", "registers; u name=Adds; r").out.splitlines()
    told = [line for line in lines if line.startswith("│ mask") or "deq scale" in line]
    words = [[cell.strip() for cell in line.strip("│").split("│")] for line in told]
    assert words == [
        ["mask mode", "normal"],
        ["mask", "not set: each call brings its own"],
        ["deq scale", "not set"],
        ["mask mode", "counter"],
        ["mask", "100 elements"],
        ["deq scale", "0.75"],
    ]


def test_as_json(ask, launch):
    found = ask("step", *launch, "--json", "--do", "u name=ResetMask; n; r; b 9; r").json
    want = {"mask_mode": "normal", "mask": "0x" + "f" * 32, "deq_scale": 0.75, "atomic": ""}
    assert found["answers"][2]["registers"] == want | {"pad_value": "0x7"}
    assert found["registers"] == found["answers"][4]["registers"]
    assert found["registers"]["mask"] is None
