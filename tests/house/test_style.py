"""The house style that tools and plain text can check."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.house.tree import relative, run_python, sources, texts

FILE_LINES, FUNCTION_LINES = 300, 40
#: functions that may be longer, each with the reason
LONG_FUNCTIONS: dict[str, str] = {}
OPERATORS = r"hard_?sigmoid|hard_?swish|swish_grad|swishbackward"
#: directories of one machine; anything below them is no path for a repository
MACHINE = re.compile(r"(?<![\w.)}\]*-])/(?:home|root|work|Users|mnt)/\w")
BANNED = "all" + "close"


def test_ruff():
    run_python("-m", "ruff", "check", "--output-format=concise")


def test_ruff_format():
    run_python("-m", "ruff", "format", "--check", "--output-format=concise")


@pytest.mark.slow
def test_mypy():
    run_python("-m", "mypy")


def test_files_begin_with_their_purpose():
    bare = [
        relative(path)
        for path in sources()
        if not path.name.startswith("test_") or path.is_relative_to("tests")
        if path.stat().st_size and not ast.get_docstring(parsed(path))
    ]
    assert not bare, f"no docstring: {bare}"


def test_files_are_short():
    lengths = {relative(p): p.read_text(encoding="utf-8").count("\n") for p in sources()}
    long = {name: lines for name, lines in lengths.items() if lines >= FILE_LINES}
    assert not long, f"split these, the limit is {FILE_LINES} lines: {long}"


def test_functions_are_short():
    long = {
        f"{relative(path)}:{function.name}": lines
        for path in sources()
        for function, lines in functions(path)
        if lines >= FUNCTION_LINES
    }
    fresh = {name: lines for name, lines in long.items() if name not in LONG_FUNCTIONS}
    assert not fresh, f"split these, the limit is {FUNCTION_LINES} lines: {fresh}"
    assert set(LONG_FUNCTIONS) <= set(long), "these are short by now: drop them from the list"


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def functions(path: Path) -> Iterator[tuple[ast.FunctionDef, int]]:
    """Yield each function with its lines; docstrings and functions inside count apart."""
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.FunctionDef):
            apart: list[ast.stmt] = [
                each for each in node.body if isinstance(each, ast.FunctionDef)
            ]
            apart += node.body[:1] if ast.get_docstring(node) else []
            yield node, _lines(node) - sum(map(_lines, apart))


def _lines(node: ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def test_the_simulator_names_no_operator():
    found = [
        f"{name}: {match[0]}"
        for name, text in texts()
        if name.startswith("ascendsim/")
        for match in re.finditer(OPERATORS, name + text, re.I)
    ]
    assert not found


def test_no_path_of_a_machine():
    found = [f"{name}: {match[0]}" for name, text in texts() for match in MACHINE.finditer(text)]
    assert not found


def test_bits_are_compared_not_tolerances():
    assert not [name for name, text in texts() if BANNED in text]
