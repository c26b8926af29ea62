"""The classes of faults, and all mutants of a kernel folder.

Each class is a function from a source file to mutants; which files it looks at stands beside it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from ascendsim.errors import RequestError
from ascendsim.explore.mutate.counts import aligned_counts, tiles_off_by_one
from ascendsim.explore.mutate.instructions import arms, comparisons, roundings
from ascendsim.explore.mutate.literals import literals
from ascendsim.explore.mutate.source import (
    HOST,
    KERNEL,
    OTHER,
    Mutant,
    Source,
    sources,
    spliced,
)
from ascendsim.explore.mutate.syncs import dropped_syncs


class Fault(NamedTuple):
    """A class of faults: in which files it is looked for, and its mutants of one file."""

    roles: tuple[str, ...]
    mutants: Callable[[Source], Iterator[Mutant]]


KINDS = {
    "drop-sync": Fault((KERNEL,), dropped_syncs),
    "compare-mode": Fault((KERNEL,), comparisons),
    "round-mode": Fault((KERNEL,), roundings),
    "aligned-count": Fault((KERNEL, HOST), aligned_counts),
    "select-arms": Fault((KERNEL,), arms),
    "exact-constant": Fault((KERNEL, HOST, OTHER), literals),
    "off-by-one-tile": Fault((KERNEL, HOST), tiles_off_by_one),
}


def mutants(folder: Path, kinds: Iterable[str] = ()) -> list[Mutant]:
    """Return the mutants of a kernel folder, by file and line; `kinds` () is all classes.

    None is a syntax error, none is the same program as the original or as another mutant.

    Raises
    ------
    RequestError
        When a kind is unknown or a file cannot be parsed.
    """
    asked = check_kinds(kinds)
    found: list[Mutant] = []
    for source in sources(folder):
        seen = {ast.dump(source.tree)}
        made = [
            mutant
            for kind in asked
            if source.role in KINDS[kind].roles
            for mutant in KINDS[kind].mutants(source)
        ]
        for mutant in sorted(made, key=lambda each: each.line):
            program = _program(spliced(source.data, mutant.edits))
            if program is not None and program not in seen:
                seen.add(program)
                found.append(mutant)
    return found


def check_kinds(kinds: Iterable[str]) -> tuple[str, ...]:
    """Return the kinds asked for, in their order; all of them when none is named."""
    asked = tuple(kinds)
    for kind in asked:
        if kind not in KINDS:
            raise RequestError(f"kind {kind!r} is unknown; use one of {', '.join(KINDS)}")
    return tuple(kind for kind in KINDS if kind in asked or not asked)


def _program(text: bytes) -> str | None:
    try:
        return ast.dump(ast.parse(text))
    except SyntaxError:
        return None
