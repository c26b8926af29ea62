"""The fault of a constant that is typed with eight digits where the exact one was written."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator

import numpy as np

from ascendsim.explore.mutate.source import Mutant, Source, called

DIGITS = 8  # what is typed of a float constant
_FLOATS = ("float", "float32", "Float32")
_FUNCTIONS = {"sqrt": math.sqrt, "exp": math.exp, "log": math.log}
_NAMES = {"pi": math.pi, "e": math.e}
_OPERATORS = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.Pow: lambda a, b: a**b,
}


def literals(source: Source) -> Iterator[Mutant]:
    """Write a short literal for each constant that is exact: a quotient, a root, all its digits.

    The digits behind the eighth are cut off. Where that is the same fp32 number, the next one
    towards 0 stands for the mistake. What fp32 holds exactly (0.5, 3.0) has no mutant.
    """
    for node in source.nodes:
        if isinstance(node, ast.expr) and _is_exact(node) and not _is_part(source, node):
            value = _value(node)
            if value is not None and _inexact(value):
                text = _typed(value)
                for call in ast.walk(node):
                    if isinstance(call, ast.Call) and called(call) in _FLOATS:  # the type stays
                        text = f"{source.text(call.func)}({text})"
                        break
                yield source.mutant("exact-constant", (node, text))


def _is_exact(node: ast.AST) -> bool:
    """Say whether a constant is written exactly, or with more digits than are typed."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, float) and len(_significant(repr(node.value))) > DIGITS
    inside = list(ast.walk(node))
    divides = any(isinstance(each, ast.Div) for each in inside)
    named = any(isinstance(each, ast.Call) and called(each) in _FUNCTIONS for each in inside)
    return (divides or named) and _value(node) is not None


def _is_part(source: Source, node: ast.AST) -> bool:
    """Say whether the node stands in a larger constant that is written exactly."""
    above = source.parents.get(node)
    return isinstance(above, ast.expr) and _value(above) is not None


def _value(node: ast.AST) -> float | None:
    """Return the value of a constant expression; None of any other."""
    try:
        value = _evaluated(node)
    except (ArithmeticError, ValueError, TypeError, KeyError):
        return None
    return float(value) if isinstance(value, (int, float)) and math.isfinite(value) else None


def _evaluated(node: ast.AST) -> float:
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return node.value  # type: ignore[return-value]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_evaluated(node.operand)
    if isinstance(node, ast.BinOp):
        return _OPERATORS[type(node.op)](_evaluated(node.left), _evaluated(node.right))
    if isinstance(node, ast.Attribute) and getattr(node.value, "id", "") in ("math", "np"):
        return _NAMES[node.attr]
    if isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords:
        value = _evaluated(node.args[0])
        return float(value) if called(node) in _FLOATS else _FUNCTIONS[called(node)](value)
    raise ValueError


def _inexact(value: float) -> bool:
    return float(np.float32(value)) != value and math.isfinite(float(np.float32(value)))


def _typed(value: float) -> str:
    """Return the literal with eight digits, or one of the next fp32 number towards 0."""
    short = _cut(value)
    if np.float32(float(short)) != np.float32(value):
        return short
    return str(np.nextafter(np.float32(value), np.float32(0)))


def _cut(value: float) -> str:
    """Return the decimal number without what stands behind its eighth digit.

    Digits count from the point on for numbers below 1 (0.16666666), from the first one else.
    """
    whole = len(str(int(abs(value)))) if abs(value) >= 1 else 0
    text = f"{abs(value):.30f}"
    cut = text[: text.index(".") + 1 + max(DIGITS - whole, 1)]
    return ("-" if value < 0 else "") + cut if float(cut) else repr(value)


def _significant(text: str) -> str:
    return text.partition("e")[0].replace(".", "").replace("-", "").lstrip("0")
