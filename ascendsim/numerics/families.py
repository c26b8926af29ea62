"""Which instruction bodies exist, and which are compiled together.

A family is one compiled function with a switch on the OP word. Families are small, so that a kernel
compiles only what it uses: float32 arithmetic does not wait for half or for Ln.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

from ascendsim.numerics import (
    bodies_arith,
    bodies_cast,
    bodies_compare,
    bodies_exp,
    bodies_select,
    formats,
)
from ascendsim.numerics.opcodes import OP
from ascendsim.numerics.sweep import Call

Emitter = Callable[[Call], None]

ARITHMETIC = ("add", "sub", "mul", "max", "min", "adds", "muls", "maxs", "mins", "abs")
# bfloat16 has no Div or Sqrt instruction
DIVISION = {"float32": ("div", "sqrt"), "float16": ("div", "sqrt"), "bfloat16": ()}
TRANSCENDENTAL = ("exp", "ln")
CASTS = (
    ("float16", "float32"),
    ("bfloat16", "float32"),
    ("float32", "float16"),
    ("float32", "bfloat16"),
    ("float16", "bfloat16"),
    ("bfloat16", "float16"),
    ("float32", "float32"),
)
SELECT_BYTES = (2, 4)
DUPLICATE_BYTES = (1, 2, 4)
COPY_BYTES = (1, 2, 4, 8)
# bodies that walk their operands themselves (programs.py), by the unit they are compiled in
PROGRAMS = {
    "reduce": ("tree", "sum", "extreme", "extreme_all"),
    "move_elements": ("broadcast", "gather", "gather_mask", "transpose", "format"),
    "accumulate": ("accumulate",),
}


@cache
def table() -> dict[str, dict[str, Emitter]]:
    """Return body name to emitter, for each family."""
    found: dict[str, dict[str, Emitter]] = {}
    for name, form in formats.BY_NAME.items():
        found[f"arith_{name}"] = {
            f"{instruction}_{name}": bodies_arith.emitter(instruction, form)
            for instruction in (*ARITHMETIC, *DIVISION[name])
        }
        found[f"compare_{name}"] = {
            f"{instruction}_{name}": bodies_compare.emitter(form, with_scalar)
            for instruction, with_scalar in (("compare", False), ("compares", True))
        }
    for name in ("float32", "float16"):
        for instruction in TRANSCENDENTAL:
            body = f"{instruction}_{name}"
            found[body] = {body: bodies_exp.emitter(instruction, formats.BY_NAME[name])}
    for source, target in CASTS:
        body = f"cast_{source}_{target}"
        pair = formats.BY_NAME[source], formats.BY_NAME[target]
        found[body] = {body: bodies_cast.emitter(*pair)}
    found["select"] = {
        f"{instruction}_{nbytes}": bodies_select.emitter(instruction, nbytes)
        for instruction, sizes in (
            ("select", SELECT_BYTES),
            ("selects", SELECT_BYTES),
            ("duplicate", DUPLICATE_BYTES),
        )
        for nbytes in sizes
    }
    found["copy"] = {f"copy_{n}": bodies_select.emitter("copy", n) for n in COPY_BYTES}
    return found


@cache
def opcodes() -> dict[str, int]:
    """Return body name to OP word; 0 is no body."""
    names = [name for bodies in (*table().values(), *PROGRAMS.values()) for name in bodies]
    return {name: number for number, name in enumerate(names, start=1)}


def emit(family: str, call: Call) -> None:
    """Emit all bodies of a family behind a switch on the OP word."""
    numbers = opcodes()
    arms = [((numbers[name],), partial(body, call)) for name, body in table()[family].items()]
    call.switch(OP, arms)
