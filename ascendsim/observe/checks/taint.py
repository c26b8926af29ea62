"""How undefined bits pass through the instructions.

Arithmetic, Cast and reductions: a result is undefined in all bits when any bit of any lane that it
is made of is. Compare: the lane's one mask bit. Logic, shifts and Select go bit by bit
(taint_bits.py). What only moves elements runs its own compiled body on the shadow. Repeats pass
one after another, so that in-place chains are followed as they run.
The shadow is uint8, one byte per byte of UB, 1 for an undefined bit.
"""

from __future__ import annotations

import numpy as np

from ascendsim.numerics import opcodes
from ascendsim.observe.checks import taint_bits
from ascendsim.observe.checks.lanes import bytes_of, chunks
from ascendsim.observe.checks.touched import Touched, active_lanes, lane_starts
from ascendsim.record import Call, Instr

UNDEFINED = 0xFF
MOVERS = frozenset(
    ("Copy", "Brcb", "Transpose", "TransDataTo5HD", "Gather", "GatherMask", "Gatherb")
)
SPREADS = frozenset(("BroadCast", "Broadcast", "Extract"))
SORTS = frozenset(("Sort32", "Sort", "MrgSort"))
COMPARES = frozenset(("Compare", "Compares", "CompareScalar"))
#: operands that choose what happens, rather than being a value of it, by their names in the manual
STEERING = {
    ("Gather", "src1"): "srcOffset",
    ("GatherMask", "mask"): "src1Pattern",
    ("Gatherb", "src1"): "offset",
}
_GROUPED = ("WholeReduce", "BlockReduce", "PairReduce")


def follow(shadow: np.ndarray, instr: Instr, touched: tuple[Touched, ...]) -> None:
    """Let undefined bits pass through a vector instruction; `touched` are its operands."""
    call = instr.call
    name = call.name
    if name in MOVERS or name in SPREADS:
        _move(shadow, call)
    elif name in COMPARES:
        _compare(shadow, call)
    elif name == "Select":
        taint_bits.select(shadow, instr)
    elif name in SORTS:
        _whole(shadow, call)
    elif name in taint_bits.LOGIC:
        taint_bits.logic(shadow, instr)
    elif name.startswith(_GROUPED):
        _reduce_groups(shadow, call)
    elif name.startswith("Reduce"):
        (into,) = (each for each in touched if each.access.role == "dst")
        shadow[into.start : into.stop] = UNDEFINED
        scratch(shadow, call)
    else:
        _lanes(shadow, call)


def _whole(shadow: np.ndarray, call: Call) -> None:
    """Sorting: all of dst is undefined when anything that is sorted is."""
    into, *sources = call.accesses
    spans = [span for access in sources for span in call.ranges(access)]
    undefined = any(shadow[start:stop].any() for start, stop in spans)
    for start, stop in call.ranges(into):
        shadow[start:stop] = UNDEFINED if undefined else 0


def scratch(shadow: np.ndarray, call: Call) -> None:
    """Mark what a reduction uses of its shared buffer: it is undefined afterwards."""
    for access in call.accesses:
        if access.role == "tmp":
            for start, stop in call.ranges(access):
                shadow[start:stop] = UNDEFINED


def _lanes(shadow: np.ndarray, call: Call) -> None:
    into, *sources = call.accesses
    for places in chunks(call):
        undefined = np.zeros(len(places[0]), bool)
        for place, access in zip(places[1:], sources, strict=True):
            undefined |= shadow[bytes_of(place, access)].any(1)
        shadow[bytes_of(places[0], into)] = np.where(undefined, UNDEFINED, 0)[:, None]


def _compare(shadow: np.ndarray, call: Call) -> None:
    into, *sources = call.accesses
    ((start, stop),) = call.ranges(into)
    bits = np.zeros(8 * (stop - start), np.uint8)  # those of lanes that take no part become 0
    for places in chunks(call):
        undefined = np.zeros(len(places[0]), bool)
        for place, access in zip(places[1:], sources, strict=True):
            undefined |= shadow[bytes_of(place, access)].any(1)
        bits[places[0]] = undefined
    shadow[start:stop] = np.packbits(bits, bitorder="little")


def _reduce_groups(shadow: np.ndarray, call: Call) -> None:
    into, source = call.accesses
    words, shape = call.row[1], call.geometry.parts[source.role]  # type: ignore[union-attr]
    groups, element = int(words[opcodes.P_GROUPS]), int(words[opcodes.P_ELEMENT])
    lanes = active_lanes(shape)
    group = lanes // (shape.lanes // groups)
    everywhere = int(words[opcodes.P_EMPTY]) >= 0  # a group without lanes stores a constant
    stored = {opcodes.ORDER_ONLY_VALUE: element, opcodes.ORDER_ONLY_INDEX: 4}
    width = stored.get(int(words[opcodes.P_ORDER]), 2 * element)
    used = np.arange(groups) if everywhere else np.unique(group)
    for repeat, starts in enumerate(lane_starts(shape, source)):
        undefined = np.zeros(groups, bool)
        undefined[group[shadow[bytes_of(starts, source)].any(1)]] = True
        places = into.start + repeat * int(words[opcodes.P_DST_REPEAT]) + used * width
        shadow[places[:, None] + np.arange(width)] = np.where(undefined[used], UNDEFINED, 0)[
            :, None
        ]


def _move(shadow: np.ndarray, call: Call) -> None:
    """Run the call's own body on the shadow; offsets and mask bits stay those of UB."""
    row = call.row[0].copy()
    shift = shadow.ctypes.data - call.core.ub.base
    row[opcodes.DST] += shift
    row[opcodes.SRC0] += shift
    call.core.bodies.entry(int(row[opcodes.OP]))(row.ctypes.data, 0.0)
