"""Faults in the parameters of an instruction: comparison, rounding, arms of a Select."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ascendsim.explore.mutate.source import Mutant, Source, called

_BOUNDARY = {"GT": "GE", "GE": "GT", "LT": "LE", "LE": "LT"}
_OPPOSITE = {"GT": "LE", "GE": "LT", "LT": "GE", "LE": "GT", "EQ": "NE", "NE": "EQ"}
_ROUNDING = {
    "CAST_RINT": "CAST_ROUND",
    "CAST_ROUND": "CAST_RINT",
    "CAST_FLOOR": "CAST_TRUNC",
    "CAST_TRUNC": "CAST_FLOOR",
    "CAST_CEIL": "CAST_FLOOR",
    "CAST_ODD": "CAST_RINT",
    "CAST_NONE": "CAST_ROUND",  # which rounds as CAST_RINT where it rounds at all
}
_FIRST_ARM, _SECOND_ARM = 2, 3  # of Select(dst, mask, src0, src1, ...)


def comparisons(source: Source) -> Iterator[Mutant]:
    """Let the boundary itself fall to the other side: GT for GE, LT for LE, and back."""
    for mode in _members(source, "CMPMODE", source.tree):
        if mode.attr in _BOUNDARY:
            yield _other(source, "compare-mode", mode, _BOUNDARY[mode.attr])


def roundings(source: Source) -> Iterator[Mutant]:
    """Let each Cast round as its neighbour does: ROUND for RINT, TRUNC for FLOOR ..."""
    for mode in _members(source, "RoundMode", source.tree):
        line = _cast_line(source, mode) if mode.attr == "CAST_NONE" else 0
        if mode.attr in _ROUNDING and line is not None:
            yield _other(source, "round-mode", mode, _ROUNDING[mode.attr], line)


def arms(source: Source) -> Iterator[Mutant]:
    """Exchange the arms of each Select.

    A scalar arm can only be the second one: there the Compare that made the mask is turned round
    instead, GT to LE.
    """
    for select in source.calls("Select"):
        if len(select.args) <= _SECOND_ARM:
            continue
        first, second = select.args[_FIRST_ARM], select.args[_SECOND_ARM]
        if not _has_scalar_arm(source, select):
            edits = (first, source.text(second)), (second, source.text(first))
            yield source.mutant("select-arms", *edits)
        elif (mode := _comparison_of(source, select)) is not None:
            yield _other(source, "select-arms", mode, _OPPOSITE[mode.attr])


def _has_scalar_arm(source: Source, select: ast.Call) -> bool:
    arm = select.args[_SECOND_ARM]
    if isinstance(arm, ast.UnaryOp):
        arm = arm.operand
    if isinstance(arm, ast.Constant):
        return True
    around: ast.AST = source.scope(select) or source.tree
    named = {source.text(each) for each in [*select.args, *(k.value for k in select.keywords)]}
    values = [source.text(node) for node in [*select.args, *select.keywords]]
    for node in ast.walk(around):
        if isinstance(node, ast.Assign) and source.text(node.targets[0]) in named:
            values.append(source.text(node.value))
    return any("VSEL_TENSOR_SCALAR_MODE" in value for value in values)


def _comparison_of(source: Source, select: ast.Call) -> ast.Attribute | None:
    """Return the mode of the last Compare before `select` that stores its mask."""
    mask, around = source.text(select.args[1]), source.scope(select)
    found = None
    for call in source.calls("Compare|Compares|CompareScalar"):
        before = (call.lineno, call.col_offset) < (select.lineno, select.col_offset)
        if before and source.scope(call) is around and call.args:
            modes = list(_members(source, "CMPMODE", call))
            if source.text(call.args[0]) == mask and modes:
                found = modes[0]
    return found


def _members(source: Source, enumeration: str, within: ast.AST) -> Iterator[ast.Attribute]:
    """Yield the members of an enumeration that are named within a node, in order."""
    inside = set(ast.walk(within))
    for node in source.nodes:
        if isinstance(node, ast.Attribute) and node in inside:
            owner = node.value
            name = owner.attr if isinstance(owner, ast.Attribute) else getattr(owner, "id", "")
            if name == enumeration:
                yield node


def _cast_line(source: Source, mode: ast.Attribute) -> int | None:
    """Return the line of the Cast whose mode this is."""
    for node in source.above(mode):
        if isinstance(node, ast.Call) and called(node) == "Cast":
            return node.lineno
    return None


def _other(source: Source, kind: str, mode: ast.Attribute, member: str, narrows: int = 0) -> Mutant:
    text = f"{source.text(mode.value)}.{member}"
    return source.mutant(kind, (mode, text), narrows=narrows)
