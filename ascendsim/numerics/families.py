"""Which instruction bodies exist, and which are compiled together.

A family is one compiled function with a switch on the OP word. Families are small, so that a kernel
compiles only what it uses: float32 arithmetic does not wait for half or for Ln.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

from ascendsim import dtypes
from ascendsim.numerics import (
    bodies_arith,
    bodies_cast,
    bodies_cast_int,
    bodies_compare,
    bodies_exp,
    bodies_fma,
    bodies_int,
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
    "reduce": ("tree", "sum", "extreme", "extreme_all", "integer_sum"),
    "move_elements": ("broadcast", "gather", "gather_mask", "transpose", "format"),
    "move_blocks": ("gather_blocks", "spread"),
    "sort": ("sort", "merge", "extract"),
    "accumulate": ("accumulate",),
}
INTEGERS = ("int16", "int32", "uint16", "uint32", "int8", "uint8")
LOGIC = ("not", "and", "or", "ands", "ors", "shiftleft", "shiftright")
INTEGER_ARITHMETIC = ("add", "sub", "mul", "max", "min", "adds", "muls", "maxs", "mins")
SIGNED = ("relu", "subrelu")
TO_INTEGER = {
    "float32": ("int16", "int32", "int64"),
    "float16": ("int8", "uint8", "int16", "int32"),
    "bfloat16": ("int32",),
}
FROM_INTEGER = {
    "float32": ("int16", "int32", "int64"),
    "float16": ("int8", "uint8", "int16"),
}
BETWEEN_INTEGERS = {
    "int8": ("int16", "int32"),
    "uint8": ("uint16", "uint32"),
    "int16": ("uint8", "int32", "uint32"),
    "uint16": ("uint8", "uint32"),
    "int32": ("uint8", "int16", "uint16", "int64"),
    "uint32": ("uint8", "int16", "uint16"),
    "int64": ("int32",),
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
    found |= _of_integers() | _multiply_adds()
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


def _of_integers() -> dict[str, dict[str, Emitter]]:
    found: dict[str, dict[str, Emitter]] = {}
    for name in INTEGERS:
        dtype = dtypes.BY_NAME[name]
        for family, instructions in (
            ("arith", (*INTEGER_ARITHMETIC, *(SIGNED if dtype.kind == "int" else ()))),
            ("logic", LOGIC),
            ("compare", bodies_int.COMPARE),
        ):
            found[f"{family}_{name}"] = {
                f"{instruction}_{name}": bodies_int.emitter(instruction, dtype)
                for instruction in instructions
            }
    for source, targets in TO_INTEGER.items():
        for target in targets:
            emitter = bodies_cast_int.to_integer(formats.BY_NAME[source], dtypes.BY_NAME[target])
            _one(found, f"cast_{source}_{target}", emitter)
    for target, sources in FROM_INTEGER.items():
        for source in sources:
            emitter = bodies_cast_int.from_integer(dtypes.BY_NAME[source], formats.BY_NAME[target])
            _one(found, f"cast_{source}_{target}", emitter)
    for source, targets in BETWEEN_INTEGERS.items():
        found[f"cast_{source}"] = {
            f"cast_{source}_{target}": bodies_cast_int.between_integers(
                dtypes.BY_NAME[source], dtypes.BY_NAME[target]
            )
            for target in targets
        }
    _one(found, "cast_int32_float16", bodies_cast_int.dequantized)
    return found


def _multiply_adds() -> dict[str, dict[str, Emitter]]:
    """Return the families beside `arith_*`: small, so that a kernel compiles what it uses."""
    found: dict[str, dict[str, Emitter]] = {}
    for name, form in formats.BY_NAME.items():
        sums = [(each, name, form, form) for each in bodies_fma.MULTIPLY_ADD]
        if name == "float16":
            mixed = f"{name}_float32"
            sums += [(i, mixed, form, formats.FLOAT32) for i in ("muladddst", "axpy")]
        found[f"sums_{name}"] = {
            f"{i}_{kind}": bodies_fma.emitter(i, *forms) for i, kind, *forms in sums
        }
        found[f"units_{name}"] = {
            f"{i}_{name}": bodies_fma.emitter(i, form, form) for i in bodies_fma.SIMPLE
        }
    return found


def _one(found: dict[str, dict[str, Emitter]], body: str, emitter: Emitter) -> None:
    """Put a body into a family of its own."""
    found[body] = {body: emitter}


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
