"""Argument combinations of the two-phase calls and the codes that the facts demand.

A row is (label, SoC, arguments, code). The codes are written down here from the published order of
checks and the assumptions beside it; nothing is taken from the code under test.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

from tests.host.calls import T

OK, NULL, INVALID = 0, 161001, 161002
EVERY_SOC = (
    "ascend910",
    "ascend310p",
    "ascend910b1",
    "ascend910b2",
    "ascend910b3",
    "ascend910b4",
    "ascend910_93",
    "ascend950",
)
FLOATS = ("float32", "float16", "bfloat16")
WITHOUT_BFLOAT16 = ("ascend910", "ascend310p")
Row = tuple[str, str, tuple[Any, ...], int]


def three(changes: dict[int, Any], base: T | None = None) -> tuple[T, T, T]:
    """Return gradOutput, self and the output, with changes by position."""
    base = base or T()
    made = [replace(base, **changes.get(at, {})) for at in range(3)]
    return made[0], made[1], made[2]


def common(soc: str) -> Iterator[Row]:
    """Yield the rows that the three calls share; all run on `soc`."""
    for nulls in product((False, True), repeat=3):
        if any(nulls):
            changes = {at: {"null": null} for at, null in enumerate(nulls)}
            yield f"null {nulls}", soc, three(changes), NULL
    yield "null goes before types", soc, three({0: {"null": True}, 1: {"dtype": "int32"}}), NULL
    yield from shapes(soc)
    yield from ranks(soc)
    yield from strided(soc)
    yield from refused_strides(soc)
    yield from empty(soc)
    yield from storage(soc)


def shapes(soc: str) -> Iterator[Row]:
    for at, shape in product(range(3), [(2, 4), (4, 3), (8,), (4, 2, 1), (1, 4, 2), (), (4,)]):
        yield f"shape of {at} is {shape}", soc, three({at: {"shape": shape}}), INVALID
    yield "shapes differ, two agree", soc, three({0: {"shape": (2,)}, 1: {"shape": (2,)}}), INVALID


def ranks(soc: str) -> Iterator[Row]:
    for rank in range(10):
        base = T(tuple(2 if axis < 3 else 1 for axis in range(rank)))
        yield f"rank {rank}", soc, three({}, base), OK if rank <= 8 else INVALID
    for at in range(3):
        yield f"rank 9 at {at}", soc, three({at: {"shape": (1,) * 9}}, T((1,) * 8)), INVALID


def strided(soc: str) -> Iterator[Row]:
    views = {
        "transposed": {"strides": (1, 4)},
        "gaps in rows": {"strides": (3, 1)},
        "gaps between elements": {"strides": (4, 2)},
        "gaps on both": {"strides": (7, 3)},
        "offset": {"offset": 5, "storage": (20,)},
        "offset and gaps": {"offset": 3, "strides": (5, 2)},
    }
    for (name, view), at in product(views.items(), range(3)):
        yield f"{name} at {at}", soc, three({at: view}), OK
    for name, view in views.items():
        yield f"{name} everywhere", soc, three(dict.fromkeys(range(3), view)), OK
    for dtype in ("float16", "bfloat16"):
        base = T((3, 5, 2), dtype, (2, 6, 31), 4)
        yield f"permuted {dtype}", soc, three({}, base), OK
        yield f"permuted in, dense out {dtype}", soc, three({2: {"strides": None}}, base), OK
    yield "strides of ones do not count", soc, three({}, T((1, 4, 1), strides=(99, 1, 7))), OK


def refused_strides(soc: str) -> Iterator[Row]:
    for strides in ((0, 1), (0, 0), (1, 0), (2, 0)):
        for at in range(3):
            code = INVALID if at == 2 else OK
            yield f"strides {strides} at {at}", soc, three({at: {"strides": strides}}), code
    for strides in ((-2, 1), (2, -1), (-2, -1)):
        for at in range(3):
            changes = {at: {"strides": strides, "offset": 7, "storage": (16,)}}
            yield f"strides {strides} at {at}", soc, three(changes), INVALID
    yield "output over itself", soc, three({2: {"strides": (1, 1)}}), INVALID
    yield "input over itself", soc, three({0: {"strides": (1, 1)}, 1: {"strides": (1, 1)}}), OK


def empty(soc: str) -> Iterator[Row]:
    for shape in ((0,), (4, 0), (0, 2), (3, 0, 2), (0, 0)):
        yield f"empty {shape}", soc, three({}, T(shape)), OK
    for at in range(3):
        yield f"only {at} empty", soc, three({at: {"shape": (0, 2)}}), INVALID
    yield "empty of rank 9", soc, three({}, T((0,) * 9)), INVALID
    yield "empty with strides", soc, three({}, T((4, 0), strides=(9, 3))), OK


def storage(soc: str) -> Iterator[Row]:
    huge = (1 << 32, 1 << 32)
    for at in range(3):
        small = {"storage": (7,), "room": 64}
        yield f"storage of {at} below the view", soc, three({at: small}), INVALID
        far = {"strides": (100, 1), "storage": (64,), "room": 64}
        yield f"strides of {at} reach outside", soc, three({at: far}), INVALID
        past = {"offset": 60, "storage": (64,), "room": 64}
        yield f"offset of {at} reaches outside", soc, three({at: past}), INVALID
        before = {"offset": -1, "storage": (64,), "room": 64}
        yield f"offset of {at} below 0", soc, three({at: before}), INVALID
        lying = {"storage": (1 << 40,), "room": 8}
        yield f"storage of {at} past the allocation", soc, three({at: lying}), INVALID
        over = {"storage": huge, "room": 8}
        yield f"storage of {at} overflows", soc, three({at: over}), INVALID
        wide = {"strides": (1 << 62, 1 << 62), "room": 8}
        yield f"strides of {at} overflow", soc, three({at: wide}), INVALID
    view = {"shape": huge, "strides": (0, 0), "storage": (1,)}
    yield "shapes overflow", soc, three(dict.fromkeys(range(3), view)), INVALID
    empty = T((1 << 40, 1 << 40, 0), storage=(0,), room=1)
    yield "an empty shape does not overflow", soc, three({}, empty), OK


def hard_sigmoid() -> Iterator[Row]:
    yield from common("ascend950")
    for soc, dtype in product(EVERY_SOC, (*FLOATS, "int32", "double")):
        fits = dtype in FLOATS and not (dtype == "bfloat16" and soc in WITHOUT_BFLOAT16)
        yield f"{dtype} on {soc}", soc, three({}, T(dtype=dtype)), OK if fits else INVALID
    for types in product(FLOATS, repeat=3):
        changes = {at: {"dtype": dtype} for at, dtype in enumerate(types)}
        for soc in ("ascend950", "ascend910b1"):
            yield f"types {types} on {soc}", soc, three(changes), OK
        fits = "bfloat16" not in types
        yield f"types {types}", "ascend310p", three(changes), OK if fits else INVALID
    for at, dtype in product(range(3), ("int32", "int8", "double", "bool")):
        yield f"{dtype} at {at}", "ascend950", three({at: {"dtype": dtype}}), INVALID
    view = {"strides": (5, 2), "offset": 1}
    for types in (("float16", "float32"), ("bfloat16", "float16"), ("float32", "bfloat16")):
        mixed = {0: {"dtype": types[0], **view}, 1: {"dtype": types[1], **view}, 2: view}
        for soc in ("ascend950", "ascend910_93"):
            yield f"strided {types} on {soc}", soc, three(mixed), OK
    yield "strided on ascend310p", "ascend310p", three(dict.fromkeys(range(3), view)), OK
    yield from only_nd("ascend950")


def hard_swish() -> Iterator[Row]:
    yield from common("ascend910b1")
    registered = ("ascend910b1", "ascend910b2", "ascend910b3", "ascend910b4", "ascend910_93")
    yield from one_type("ascend910b1", registered)
    yield from only_nd("ascend910b1")


def one_type(soc: str, registered: tuple[str, ...]) -> Iterator[Row]:
    for chip, dtype in product(EVERY_SOC, (*FLOATS, "int32", "double")):
        fits = dtype in FLOATS and chip in registered
        yield f"{dtype} on {chip}", chip, three({}, T(dtype=dtype)), OK if fits else INVALID
    yield "null goes before the chip", "ascend310p", three({1: {"null": True}}), NULL
    for types in product(FLOATS, repeat=3):
        changes = {at: {"dtype": dtype} for at, dtype in enumerate(types)}
        code = OK if len(set(types)) == 1 else INVALID
        yield f"types {types}", soc, three(changes), code


def only_nd(soc: str) -> Iterator[Row]:
    for form in ("NC1HWC0", "FRACTAL_NZ", "NCHW"):
        base = T((1, 1, 2, 2, 16), format=form)
        yield f"format {form}", soc, three({}, base), INVALID
        yield f"format {form} at 1", soc, three({1: {"format": form}}), INVALID


def swish() -> Iterator[Row]:
    for label, soc, tensors, code in _swish_tensors():
        yield label, soc, (*tensors[:2], None, tensors[2]), code
    plain = three({})
    for dtype, value in BETAS:
        code = INVALID if dtype.startswith("ACL_COMPLEX") else OK
        yield f"beta {value} {dtype}", "ascend910b1", with_beta(plain, (value, dtype)), code
    for dtype in FLOATS:
        for beta in (1.1, 0.01, -1.0, 0.0, 1.702):
            tensors = three({}, T((2, 5), dtype))
            row = with_beta(tensors, (beta, "ACL_FLOAT"))
            yield f"beta {beta} with {dtype}", "ascend910b1", row, OK


BETAS = (
    ("ACL_FLOAT", 1.1),
    ("ACL_FLOAT16", 1.1),
    ("ACL_BF16", 1.1),
    ("ACL_DOUBLE", 1.1),
    ("ACL_BOOL", True),
    ("ACL_BOOL", False),
    ("ACL_INT8", -2),
    ("ACL_INT16", 2),
    ("ACL_INT32", 3),
    ("ACL_INT64", -1),
    ("ACL_UINT8", 2),
    ("ACL_UINT16", 1),
    ("ACL_UINT32", 2),
    ("ACL_UINT64", 1),
    ("ACL_COMPLEX64", 1j),
    ("ACL_COMPLEX128", 1.0),
)


def with_beta(tensors: tuple[T, T, T], beta: Any) -> tuple[Any, ...]:
    return (*tensors[:2], beta, tensors[2])


def _swish_tensors() -> Iterator[Row]:
    yield from common("ascend910b1")
    yield from one_type("ascend910b1", ("ascend910b1", "ascend910b2", "ascend910b3", "ascend910b4"))
    for form in ("ND", "NC1HWC0", "FRACTAL_NZ", "NCHW"):
        base = T((1, 1, 2, 2, 16), format=form)
        code = INVALID if form == "NCHW" else OK
        yield f"format {form}", "ascend910b1", three({}, base), code
        for at in range(3):
            changes = {at: {"format": "ND" if form != "ND" else "NC1HWC0"}}
            yield f"format {form}, not {at}", "ascend910b1", three(changes, base), INVALID
        if form != "ND":
            gaps = T((2, 16), strides=(20, 1), format=form)
            yield f"format {form} strided", "ascend910b1", three({}, gaps), INVALID


CALLS = {
    "HardsigmoidBackward": list(hard_sigmoid()),
    "HardswishBackward": list(hard_swish()),
    "SwishBackward": list(swish()),
}
