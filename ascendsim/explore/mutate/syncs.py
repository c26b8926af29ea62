"""Faults of order: a barrier, a flag, a queue call or a meeting of blocks is left out."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ascendsim.explore.mutate.source import Mutant, Scope, Source, called

KIND = "drop-sync"
SYNCS = (
    *("PipeBarrier", "SetFlag", "WaitFlag", "SyncAll", "IBSet", "IBWait"),
    *("EnQue", "DeQue", "FreeTensor", "DataCacheCleanAndInvalid"),
)
_PARTNERS = {"SetFlag": "WaitFlag", "IBSet": "IBWait"}
_NOTHING = "pass"


def dropped_syncs(source: Source) -> Iterator[Mutant]:
    """Leave out each call that orders, and each pair of flag calls with the same arguments.

    A function of the file that holds such calls alone counts as one. DeQue gives a tensor that
    the kernel needs, so AllocTensor takes its place: a buffer, without waiting for what it holds.
    """
    calls = list(source.calls("|".join((*SYNCS, *_helpers(source)))))
    for call in calls:
        statement = source.parents[call]
        if isinstance(statement, ast.Expr):
            yield source.mutant(KIND, (statement, _NOTHING))
        elif called(call) == "DeQue" and isinstance(call.func, ast.Attribute):
            owner = source.text(call.func.value)
            yield source.mutant(KIND, (call.func, f"{owner}.AllocTensor"))
    for first in calls:
        second = _partner(source, first, calls)
        if second is not None:
            edits = [(source.parents[each], _NOTHING) for each in (first, second)]
            yield source.mutant(KIND, *edits)


def _partner(source: Source, first: ast.Call, calls: list[ast.Call]) -> ast.Call | None:
    """Return the next call of the same function that waits for `first`, or the file's only one."""
    pairs = [each for each in calls if _is_pair(source, first, each)]
    inside = [each for each in pairs if source.scope(each) is source.scope(first)]
    behind = [each for each in inside if each.lineno >= first.lineno]
    return behind[0] if behind else pairs[0] if len(pairs) == 1 else None


def _is_pair(source: Source, first: ast.Call, second: ast.Call) -> bool:
    """Say whether the second waits for what the first sets, both as statements of one file."""
    if _PARTNERS.get(called(first), "") != called(second):
        return False
    same = [*map(ast.dump, first.args)] == [*map(ast.dump, second.args)]
    return same and all(isinstance(source.parents[each], ast.Expr) for each in (first, second))


def _helpers(source: Source) -> list[str]:
    """Return the functions of the file whose body is nothing but calls that order."""
    return [
        node.name
        for node in source.nodes
        if isinstance(node, Scope) and _orders_only(node) and node.name.isidentifier()
    ]


def _orders_only(function: Scope) -> bool:
    body = function.body[1:] if ast.get_docstring(function) else function.body
    return bool(body) and all(
        isinstance(each, ast.Expr)
        and isinstance(each.value, ast.Call)
        and called(each.value) in SYNCS
        for each in body
    )
