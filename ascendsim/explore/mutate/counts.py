"""Faults in numbers of elements: a count that should have been aligned, a tile too few or many.

Rounding up and down is known by the name of the function (CeilAlign, AlignUp, CeilDiv ...), or by
its arithmetic: `(n + a - 1) // a` and that times `a`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ascendsim.explore.mutate.source import KERNEL, Mutant, Scope, Source, called

ALIGNED, OFF_BY_ONE = "aligned-count", "off-by-one-tile"
_ALIGN = re.compile(r"align", re.I)
_DIVIDE = re.compile(r"(ceil_?div|div_?ceil|div_?round_?up|up_?div)", re.I)
_OFFSET = re.compile(r"offset|start|begin|addr", re.I)
_LOOSER = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">"}


def aligned_counts(source: Source) -> Iterator[Mutant]:
    """Take the count for the aligned count.

    Where a local name holds the aligned one, each call that it is given to is a mutant of its own;
    else its making is.
    """
    for node in source.nodes:
        bare = _bare(source, node)
        if bare is None or _in_helper(source, node):
            continue
        for use in _uses(source, node) or [node]:
            text = bare if isinstance(source.parents[use], ast.Call) or use is node else f"({bare})"
            yield source.mutant(ALIGNED, (use, text))


def _bare(source: Source, node: ast.AST) -> str | None:
    """Return the count that `node` aligns, as text; None when it aligns nothing."""
    if isinstance(node, ast.Call):
        aligns = _ALIGN.search(called(node)) and len(node.args) >= 2
        return _alone(source, node, node.args[0]) if aligns else None
    if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)):
        return None
    for quotient, unit in ((node.left, node.right), (node.right, node.left)):
        division = _division(quotient)
        if division is None and isinstance(quotient, ast.BinOp):
            down = isinstance(quotient.op, ast.FloorDiv)
            division = (quotient.left, quotient.right) if down else None
        if division is not None and ast.dump(division[1]) == ast.dump(unit):
            return _alone(source, node, division[0])
    return None


def _alone(source: Source, old: ast.AST, new: ast.AST) -> str:
    """Return the text of `new` that may stand where `old` stands."""
    inside = isinstance(source.parents[old], (ast.BinOp, ast.UnaryOp, ast.Compare, ast.Attribute))
    return source.operand(new) if inside else source.text(new)


def _rounded_up(quotient: ast.BinOp) -> ast.expr | None:
    """Return n of `(n + a - 1) // a`, also with the number a - 1; None of another division."""
    total, unit = quotient.left, quotient.right
    if not isinstance(total, ast.BinOp):
        return None
    if isinstance(total.op, ast.Sub) and _is_one(total.right) and isinstance(total.left, ast.BinOp):
        inner = total.left
        if isinstance(inner.op, ast.Add) and ast.dump(inner.right) == ast.dump(unit):
            return inner.left
    if isinstance(total.op, ast.Add):
        rest = total.right
        if isinstance(rest, ast.BinOp) and isinstance(rest.op, ast.Sub) and _is_one(rest.right):
            return total.left if ast.dump(rest.left) == ast.dump(unit) else None
        numbers = [each.value for each in (rest, unit) if isinstance(each, ast.Constant)]
        if len(numbers) == 2 and numbers[0] == numbers[1] - 1:  # type: ignore[operator]
            return total.left
    return None


def _is_one(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value == 1


def _in_helper(source: Source, node: ast.AST) -> bool:
    """Say whether `node` stands in a function that aligns or divides for others."""
    scope = source.scope(node)
    return scope is not None and bool(_ALIGN.search(scope.name) or _DIVIDE.search(scope.name))


def _uses(source: Source, node: ast.AST) -> list[ast.AST]:
    """Return where the local name that holds `node` is given to a call, if it is one."""
    statement, scope = source.parents[node], source.scope(node)
    if not (isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name)):
        return []
    name = statement.targets[0].id
    named = [n for n in ast.walk(scope or source.tree) if isinstance(n, ast.Name) and n.id == name]
    if sum(isinstance(each.ctx, ast.Store) for each in named) != 1:
        return []
    loads = [each for each in source.nodes if each in named and isinstance(each.ctx, ast.Load)]  # type: ignore[attr-defined]
    return [each for each in loads if _given(source, each)]


def _given(source: Source, name: ast.AST) -> bool:
    """Say whether a name is part of an argument of a call (of one that does not align it again)."""
    for node in source.above(name):
        if isinstance(node, ast.Call):
            return not (_ALIGN.search(called(node)) or _DIVIDE.search(called(node)))
        if isinstance(node, ast.stmt):
            break
    return False


def tiles_off_by_one(source: Source) -> Iterator[Mutant]:
    """Let loops over tiles, tests for the last one, offsets and numbers of tiles be off by one."""
    for node in source.nodes:
        if _in_helper(source, node):
            continue
        for old, text in _off_by_one(source, node):
            yield source.mutant(OFF_BY_ONE, (old, text))


def _off_by_one(source: Source, node: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    if isinstance(node, ast.For) and source.role == KERNEL:
        yield from _loop_bounds(source, node.iter)
    elif isinstance(node, ast.While):
        yield from _loop_test(source, node.test)
    elif isinstance(node, ast.Compare):
        yield from _last_test(source, node)
    elif isinstance(node, ast.BinOp):
        yield from _products(source, node)
    if (division := _division(node)) is not None and not _is_part_of_align(source, node):
        count, unit = division
        text = f"{source.operand(count)} // {source.operand(unit)}"
        inside = isinstance(source.parents[node], (ast.BinOp, ast.UnaryOp))
        yield node, f"({text})" if inside else text


def _loop_bounds(source: Source, iterated: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    """Yield the ends of a range, one step nearer and one further."""
    if not (isinstance(iterated, ast.Call) and called(iterated) == "range" and iterated.args):
        return
    stop = iterated.args[min(len(iterated.args) - 1, 1)]
    step = source.operand(iterated.args[2]) if len(iterated.args) > 2 else "1"
    for sign in "-+":
        yield stop, f"{source.operand(stop)} {sign} {step}"


def _loop_test(source: Source, test: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    """Yield `i <= n` for `i < n`, and so on."""
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and type(test.ops[0]) in _LOOSER:
        operator = _LOOSER[type(test.ops[0])]
        yield test, f"{source.text(test.left)} {operator} {source.text(test.comparators[0])}"


def _last_test(source: Source, test: ast.Compare) -> Iterator[tuple[ast.AST, str]]:
    """Yield `i == n` for `i == n - 1`, and so on."""
    if len(test.ops) == 1:
        for side in (test.left, test.comparators[0]):
            if (count := _less_one(side)) is not None:
                yield side, source.text(count)


def _less_one(node: ast.AST) -> ast.expr | None:
    """Return n of `n - 1`."""
    less = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub) and _is_one(node.right)
    return node.left if less else None  # type: ignore[attr-defined]


def _products(source: Source, node: ast.BinOp) -> Iterator[tuple[ast.AST, str]]:
    """Yield the next tile's offset for a tile's, and `n * tile` for `(n - 1) * tile`."""
    if not isinstance(node.op, ast.Mult):
        return
    for factor in (node.left, node.right):
        if (count := _less_one(factor)) is not None:
            yield factor, source.operand(count)
        elif _is_number_of_tile(source, factor) and _is_offset(source, node):
            yield factor, f"({source.text(factor)} + 1)"


def _is_number_of_tile(source: Source, factor: ast.AST) -> bool:
    """Say whether a factor counts tiles: a loop's variable, a parameter, the block's number."""
    if isinstance(factor, ast.Call):
        return called(factor) == "GetBlockIdx"
    scope = source.scope(factor)
    if not isinstance(factor, ast.Name) or scope is None:
        return False
    loops = [each.target for each in ast.walk(scope) if isinstance(each, ast.For)]
    counters = {target.id for target in loops if isinstance(target, ast.Name)}
    return factor.id in counters | {each.arg for each in scope.args.args}


def _is_offset(source: Source, product: ast.AST) -> bool:
    """Say whether a product says where a tile begins: in an index, or under such a name."""
    for node in source.above(product):
        if isinstance(node, (ast.Slice, ast.Subscript)):
            return True
        if isinstance(node, ast.Assign):
            return bool(_OFFSET.search(source.text(node.targets[0])))
        if isinstance(node, (ast.stmt, ast.Call)):
            break
    return False


def _division(node: ast.AST) -> tuple[ast.expr, ast.expr] | None:
    """Return count and unit of a division that rounds up."""
    if isinstance(node, ast.Call) and _DIVIDE.search(called(node)) and len(node.args) == 2:
        return node.args[0], node.args[1]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv):
        count = _rounded_up(node)
        return None if count is None else (count, node.right)
    return None


def _is_part_of_align(source: Source, node: ast.AST) -> bool:
    """Say whether the division only serves an alignment."""
    for above in source.above(node):
        if isinstance(above, (ast.stmt, Scope)):
            return False
        if _bare(source, above) is not None:
            return True
    return False
