"""The source files that mutants are made of, and the edit of one place in such a file.

A mutant is a text edit: bytes of the file are replaced, all others stay, and no line moves.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from ascendsim.errors import RequestError

KERNEL, HOST, OTHER = "kernel", "host", "other"
ONLY_TESTED = ("op_api.py", "op_aclnn.py")  # a launch of the kernel alone does not use them
_ATOMS = (ast.Name, ast.Attribute, ast.Call, ast.Constant, ast.Subscript)
Scope = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Mutant:
    """One fault, put into one place.

    file : name of the file in the kernel's folder; line : of the first edit
    edits : (start, stop, text) in bytes of the file
    before, after : the source line(s) of the edits, without and with the fault
    changes : (old, new) text of each edit, in one line
    narrows : line of a Cast: the fault is none where that loses no bits, as a run tells (0: no)
    """

    kind: str
    file: str
    line: int
    edits: tuple[tuple[int, int, str], ...]
    before: str
    after: str
    changes: tuple[tuple[str, str], ...]
    narrows: int = 0


class Source:
    """A file, its bytes and its tree. `role` is what it is for: KERNEL, HOST or OTHER."""

    def __init__(self, path: Path, role: str) -> None:
        self.path, self.role, self.data = path, role, path.read_bytes()
        try:
            self.tree = ast.parse(self.data.decode(), str(path))
        except (SyntaxError, ValueError) as error:
            raise RequestError(f"{path} cannot be parsed: {error}") from error
        lengths = [len(line) for line in self.data.splitlines(keepends=True)]
        self._starts = [0]
        for length in lengths:
            self._starts.append(self._starts[-1] + length)

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        """The node above each node."""
        return {c: node for node in ast.walk(self.tree) for c in ast.iter_child_nodes(node)}

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """All nodes in the order of their places."""
        placed = (node for node in ast.walk(self.tree) if hasattr(node, "lineno"))
        return sorted(placed, key=lambda node: (node.lineno, node.col_offset))  # type: ignore[attr-defined]

    def calls(self, names: str) -> Iterator[ast.Call]:
        """Yield the calls of functions or methods whose name matches the pattern, in order."""
        for node in self.nodes:
            if isinstance(node, ast.Call) and re.fullmatch(names, called(node)):
                yield node

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Return the bytes of a node."""
        first, last = node.lineno, node.end_lineno  # type: ignore[attr-defined]
        start = self._starts[first - 1] + node.col_offset  # type: ignore[attr-defined]
        return start, self._starts[last - 1] + node.end_col_offset  # type: ignore[attr-defined]

    def text(self, node: ast.AST) -> str:
        """Return the text of a node."""
        start, stop = self.span(node)
        return self.data[start:stop].decode()

    def operand(self, node: ast.AST) -> str:
        """Return the text of a node so that an operator may stand beside it."""
        return self.text(node) if isinstance(node, _ATOMS) else f"({self.text(node)})"

    def scope(self, node: ast.AST) -> Scope | None:
        """Return the function that a node stands in, or None."""
        while node in self.parents:
            node = self.parents[node]
            if isinstance(node, Scope):
                return node
        return None

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        """Yield the nodes above a node up to its statement's function, nearest first."""
        while node in self.parents:
            node = self.parents[node]
            yield node

    def mutant(self, kind: str, *edits: tuple[ast.AST, str], narrows: int = 0) -> Mutant:
        """Return the mutant that replaces each node by a text."""
        spans = []
        for node, text in edits:
            start, stop = self.span(node)
            lost = self.data.count(b"\n", start, stop) - text.count("\n")
            spans.append((start, stop, text + "\n" * lost))
        spans.sort()
        line = self.data.count(b"\n", 0, spans[0][0]) + 1
        changed = spliced(self.data, tuple(spans))
        before, after = _differing(self.data, changed)
        changes = tuple(
            (_line(self.data[start:stop].decode()), _line(text)) for start, stop, text in spans
        )
        return Mutant(kind, self.path.name, line, tuple(spans), before, after, changes, narrows)


def called(call: ast.Call) -> str:
    """Return the last word of what is called ("" when it has no name)."""
    function = call.func
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def spliced(data: bytes, edits: tuple[tuple[int, int, str], ...]) -> bytes:
    """Return the file with the edits made."""
    for start, stop, text in reversed(edits):
        data = data[:start] + text.encode() + data[stop:]
    return data


def _line(text: str) -> str:
    return " ".join(text.split())


def _differing(old: bytes, new: bytes) -> tuple[str, str]:
    """Return the lines that differ, each side without the space around them."""
    pairs = zip(old.decode().splitlines(), new.decode().splitlines(), strict=False)
    changed = [(a.strip(), b.strip()) for a, b in pairs if a != b]
    lost, made = ("\n".join(each[side] for each in changed) for side in (0, 1))
    return lost, made.rstrip("\n")


@dataclass(frozen=True, slots=True)
class _Found:
    roles: dict[Path, str] = field(default_factory=dict)

    def add(self, path: Path, role: str) -> None:
        """Take a file and, first found first, what it imports from its folder."""
        if not path.is_file() or path in self.roles:
            return
        self.roles[path] = role
        for node in ast.walk(Source(path, role).tree):
            if isinstance(node, ast.ImportFrom) and node.level == 1:
                names = [node.module] if node.module else [each.name for each in node.names]
                for name in names:
                    self.add(path.with_name(f"{name.partition('.')[0]}.py"), role)


def sources(folder: Path) -> list[Source]:
    """Return the files of a kernel folder that faults are put into.

    Raises
    ------
    RequestError
        When one of them cannot be parsed.
    """
    found = _Found()
    found.add(folder / "op_kernel.py", KERNEL)
    found.add(folder / "op_host.py", HOST)
    for name in ("op_def.py", *ONLY_TESTED):  # they hold constants, too
        if (folder / name).is_file():
            found.roles.setdefault(folder / name, OTHER)
    return [Source(path, role) for path, role in found.roles.items()]
