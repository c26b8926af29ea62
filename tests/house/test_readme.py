"""What README.md shows is true: its files, snippets and commands are used as a reader would.

In the order of the text and in one folder: a block marked `<!-- file: PATH -->` is written there, a
`python` block runs and prints the `text` block that follows, a `console` block runs line by line
and prints what is shown (`...` stands for anything), exiting as `<!-- exits N -->` says.
"""

from __future__ import annotations

import doctest
import io
import os
import re
import shlex
import subprocess
import sys
from contextlib import redirect_stdout
from itertools import pairwise
from pathlib import Path

import pytest

from ascendsim.cli import execute
from tests import warm
from tests.house.tree import ROOT

TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"(?:^<!-- ([^\n]*) -->\n)?^```(\w*)\n(.*?)^```$", re.M | re.S)
BLOCKS = [(note, kind, body) for note, kind, body in BLOCK.findall(TEXT)]
MATCH = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
PROGRESS = re.compile(r"^ascendsim: [^:\n]+: \d+ of \d+\n", re.M)  # of a run that takes seconds
CHECKER = doctest.OutputChecker()


def test_snippets_and_commands_do_what_is_shown(tmp_path):
    for (note, kind, body), (_, next_kind, next_body) in pairwise([*BLOCKS, ("", "", "")]):
        if note.startswith("file: "):
            path = tmp_path / note.removeprefix("file: ")
            path.parent.mkdir(exist_ok=True)
            path.write_text(body, encoding="utf-8")
        elif kind == "python":
            code, printed = warm.python(body, tmp_path)
            assert code == 0, printed
            same(next_body if next_kind == "text" else "", printed, body)
        elif kind == "console":
            console(body, int(note.removeprefix("exits ") or 0), tmp_path)


@pytest.mark.parametrize("size", [("--n", "0"), ("--shape", "0,3"), ("--n", "1")])
def test_the_kernel_shown_takes_every_size(size, tmp_path, capsys):
    for note, _, body in BLOCKS:
        if note.startswith("file: leaky_relu/op_"):
            path = tmp_path / note.removeprefix("file: ")
            path.parent.mkdir(exist_ok=True)
            path.write_text(body, encoding="utf-8")
    for command in ("run", "check", "time"):
        more = () if command == "time" else ("--random",)
        code = execute([command, str(tmp_path / "leaky_relu"), *size, *more])
        assert code == 0, capsys.readouterr().err


def console(body: str, code: int, folder: Path) -> None:
    """Run the `$` lines of `body`: all exit 0 but the last, which exits with `code`."""
    commands = re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", body, re.M)
    for number, (command, shown) in enumerate(commands, 1):
        ended, printed = at_a_prompt(command, folder)
        assert ended == (code if number == len(commands) else 0), printed
        same(shown, PROGRESS.sub("", printed), command)


def at_a_prompt(command: str, folder: Path) -> tuple[int, str]:
    """Run a command; return its exit code and what it printed. What needs a shell gets one."""
    if command.startswith("ascendsim ") and not re.search(r"[|<>$]", command):
        return warm.ascendsim(shlex.split(command)[1:], folder)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=warm.HERE | {"PATH": path},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


def same(shown: str, printed: str, what: str) -> None:
    """Fail unless `printed` is what the README shows."""
    fits = CHECKER.check_output(shown, printed, MATCH)
    assert fits, f"{what}\n--- README shows\n{shown}\n--- printed\n{printed}"


def test_every_command_named_exists(capsys):
    assert execute(["--help"]) == 0
    listed = set(re.findall(r"^│ (\w+) ", capsys.readouterr().out, re.M))
    named = set(re.findall(r"(?:`|\$ |bin/)ascendsim (\w+)", TEXT))
    assert named == listed, "the README's commands and those of --help differ"


TAKING_OPTIONS = [
    "run",
    "tiling",
    "time",
    "tile",
    "step",
    "check",
    "mutate",
    "atlas",
    "bench",
    "compare",
    "capsule",
]


@pytest.fixture(scope="module")
def help_pages() -> str:
    """Return what `--help` of all commands that take options prints."""
    with redirect_stdout(io.StringIO()) as printed:
        assert [execute([command, "--help"]) for command in TAKING_OPTIONS] == [0] * len(
            TAKING_OPTIONS
        )
    return printed.getvalue()


@pytest.mark.parametrize("option", sorted(set(re.findall(r"(?<![\w-])--[a-z][\w-]+", TEXT))))
def test_every_option_named_exists(option, help_pages):
    assert re.search(rf"{option}\b", help_pages)


def test_links_lead_to_headings():
    outside = re.sub(r"^```.*?^```$", "", TEXT, flags=re.M | re.S)
    titles = re.findall(r"^#+ (.*)$", outside, re.M)
    anchors = {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}
    assert set(re.findall(r"\]\(#([^)]*)\)", outside)) <= anchors


def test_test_command_is_marked_for_ci():
    (command,) = (body for note, _, body in BLOCKS if note == "test command")
    assert "-m pytest" in command


def test_map_shows_what_there_is():
    shown = next(body for _, _, body in BLOCKS if body.startswith("ascendsim/ "))
    lines = [re.split(r"  +", line) for line in shown.splitlines()]
    missing = [
        name
        for top, *rest in lines
        for name in (top or f"ascendsim/{rest[0].replace(' ', ' ascendsim/')}").split()
        if not (ROOT / name).exists()
    ]
    assert not missing


def test_layers_are_those_that_are_checked():
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    layers = re.findall(r'"(.*)",', project.partition("layers = [")[2].partition("\n]")[0])
    plain = [re.sub(r"ascendsim\.|[()]", "", line) for line in layers]
    shown = next(body for _, _, body in BLOCKS if body.startswith("kernels\n"))
    assert [re.split(r"  +", line)[0] for line in shown.splitlines()] == plain
