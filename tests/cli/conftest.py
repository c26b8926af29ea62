"""A command line run in this process, with what it printed."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ascendsim.cli import execute


@dataclass(frozen=True)
class Answer:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one document on standard output."""
        assert self.out.count("\n") == 1, self.out
        return json.loads(self.out)

    @property
    def line(self) -> str:
        """The one line on standard error."""
        assert self.err.count("\n") == 1, self.err
        assert "Traceback" not in self.err
        return self.err.strip()


Ask = Callable[..., Answer]


@pytest.fixture
def ask(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Ask:
    monkeypatch.delenv("ASCENDSIM_DEBUG", raising=False)

    def run(*arguments: object) -> Answer:
        capsys.readouterr()
        code = execute([str(argument) for argument in arguments])
        return Answer(code, *capsys.readouterr())

    return run


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    """Write an npz file with 21 float32 values in grad and x."""
    generator = np.random.default_rng(1)
    path = tmp_path / "in.npz"
    arrays = {name: generator.standard_normal(21, np.float32) for name in ("grad", "x")}
    np.savez(path, **arrays)
    return path
