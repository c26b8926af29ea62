"""Compute the graph behind a lane again: exactly, as the machine rounds, or with one repair.

Values are `Real`s, and 0 or 1 for mask bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from ascendsim.dtypes import DType
from ascendsim.enums import CMPMODE, RoundMode
from ascendsim.numerics import enclosure as en
from ascendsim.numerics import opcodes
from ascendsim.numerics.enclosure import Real
from ascendsim.numerics.rounding import BFLOAT16, FLOAT16, FLOAT32, Format, is_subnormal, round_to
from ascendsim.record import Call
from ascendsim.view.lane_graph import Graph, Node, scalar_bits

FORMATS = {fmt.name: fmt for fmt in (FLOAT32, FLOAT16, BFLOAT16)}

_PAIRS: dict[str, Callable[[Real, Real], Real]] = {
    "Add": en.add,
    "Sub": en.sub,
    "Mul": en.mul,
    "Div": en.div,
    "Max": en.maximum,
    "Min": en.minimum,
}
_WITH_SCALAR = {f"{name}s": rule for name, rule in _PAIRS.items()}
_SINGLE: dict[str, Callable[[Real], Real]] = {
    "Abs": en.absolute,
    "Exp": en.exp,
    "Ln": en.ln,
    "Sqrt": en.sqrt,
}
DENOMINATORS = 1000  # of the simple fraction that a literal may stand for
_SIBLINGS = {"LT": "LE", "LE": "LT", "GT": "GE", "GE": "GT", "EQ": "NE", "NE": "EQ"}
_NEAREST = {"CAST_RINT", "CAST_ROUND"}
COMPARES = ("Compare", "Compares", "CompareScalar")
_COPIES = ("Select", "Duplicate", "Copy")


class Repair(NamedTuple):
    """One change to one call: another `scalar`, or another `mode`.

    likely : 2 for the mode that differs at ties alone, 1 for a scalar, 0 for any other mode. A
    value that stands exactly at a tie is seldom there by chance, while a nudge of any earlier
    scalar would move it off as well.
    """

    position: int
    scalar: Real | None = None
    mode: str = ""
    bits: int | None = None
    likely: int = 1


def computed(
    graph: Graph, kept: int = 0, repair: Repair | None = None, machine: bool = False
) -> Any:
    """Return the value of the graph's root.

    Parameters
    ----------
    kept : the first `kept` nodes have their recorded bits, the rest are computed
    machine : round every result as the instruction does
    """
    values: dict[Node, Any] = {leaf: recorded(leaf) for leaf in graph.leaves}
    for number, node in enumerate(graph.nodes):
        if number < kept:
            values[node] = recorded(node)
            continue
        fits = repair if repair is not None and repair.position == node.position else None
        values[node] = result(node, [values[s] for s in node.sources], fits, machine)
    return values[graph.root]


def recorded(node: Node) -> Any:
    """Return what the node's bits stand for."""
    if node.mask:
        return node.bits
    fmt = FORMATS.get(node.dtype.name)
    return en.real(int(node.dtype.from_bits(node.bits))) if fmt is None else _read(node.bits, fmt)


def result(node: Node, sources: list[Any], repair: Repair | None, machine: bool) -> Any:
    """Return what the node's call makes of values; of an unknown call its recorded bits."""
    assert node.instr is not None
    call = node.instr.call
    env = flags(call)
    fmt = FORMATS.get(node.dtype.name)
    scaled = call.name == "Cast" and call.encode is not None  # by SetDeqScale
    if call.name not in COMPARES and (fmt is None or scaled or not _known(call.name)):
        return recorded(node)
    if machine and env & opcodes.ENV_FLUSH:
        sources = [_flushed(s, node.dtype) if isinstance(s, Real) else s for s in sources]
    scalar = repair.scalar if repair and repair.scalar else scalar_of(node)
    mode = (repair.mode if repair else "") or call.fields.get("mode", "")
    if call.name in COMPARES:
        bit = compared(sources[0], sources[1] if scalar is None else scalar, mode, env)
        return node.bits if bit is None else bit
    exact = _exact(call, sources, scalar, mode)
    if not machine or call.name in _COPIES or fmt is None:
        return exact
    return _read(rounded(exact, fmt, env, RoundMode[mode] if call.name == "Cast" else None), fmt)


def _known(name: str) -> bool:
    return name in _PAIRS or name in _WITH_SCALAR or name in _SINGLE or name in (*_COPIES, "Cast")


def _exact(call: Call, sources: list[Any], scalar: Real | None, mode: str) -> Real:
    if call.name == "Duplicate":
        assert scalar is not None
        return scalar
    if call.name == "Copy":
        return sources[0]
    if call.name == "Select":
        other = sources[1] if scalar is None else scalar
        return sources[0] if sources[-1] else other
    if call.name == "Cast":
        same = call.accesses[0].dtype is call.fields.get("src_dtype")
        return en.integral(sources[0], RoundMode[mode]) if same else sources[0]
    if call.name in _PAIRS:
        return _PAIRS[call.name](*sources)
    if call.name in _WITH_SCALAR:
        assert scalar is not None
        return _WITH_SCALAR[call.name](sources[0], scalar)
    return _SINGLE[call.name](sources[0])


def compared(x: Real, y: Real, mode: str, env: int) -> int | None:
    """Return the mask bit, None when an enclosure leaves it open."""
    if x.nan or y.nan:
        return int(mode == "NE" and not env & opcodes.ENV_NE_ORDERED)
    if not x.meets(y):
        order = -1 if x.low < y.low else 1
    elif x.low == x.high and y.low == y.high:
        order = 0
    else:
        return None
    truths = {"LT": order < 0, "GT": order > 0, "EQ": order == 0}
    truths |= {"LE": order <= 0, "GE": order >= 0, "NE": order != 0}
    return int(truths[CMPMODE[mode].name])


def rounded(x: Real, fmt: Format, env: int, mode: RoundMode | None = None) -> int:
    """Return the bits that an instruction delivers for an exact result; `mode` is Cast's."""
    how = {
        "saturate": bool(env & opcodes.ENV_SATURATE),
        "nan_ones": bool(env & opcodes.ENV_NAN_ONES),
    }
    if mode is not None:
        return round_to(x.value(), fmt, mode, **how)
    bits = en.round_result(x, fmt, **how)
    return bits & fmt.sign_bits if env & opcodes.ENV_FLUSH and is_subnormal(bits, fmt) else bits


def scalar_of(node: Node) -> Real | None:
    """Return the exact value of the scalar that the node's call takes, None without one."""
    assert node.instr is not None
    bits = scalar_bits(node.instr)
    if bits is None:
        return None
    dtype = node.instr.call.fields["dtype"]
    fmt = FORMATS.get(dtype.name)
    return en.real(int(dtype.from_bits(bits))) if fmt is None else _read(bits, fmt)


def repairs(node: Node) -> Iterator[Repair]:
    """Yield what could be meant instead: a comparison, a rounding, a neighbour of the scalar."""
    assert node.instr is not None
    call, at = node.instr.call, node.position
    mode = call.fields.get("mode", "")
    if node.name in COMPARES:
        near = _SIBLINGS[mode]
        for other in (near, *(m.name for m in CMPMODE if m.name not in (near, mode))):
            yield Repair(at, mode=other, likely=2 if other == near else 0)
    if node.name == "Cast" and call.accesses[0].dtype is call.fields.get("src_dtype"):
        for rounding in RoundMode:
            if rounding.name != mode:
                nearest = {mode, rounding.name} <= _NEAREST
                yield Repair(at, mode=rounding.name, likely=2 if nearest else 0)
    scalar = scalar_of(node)
    dtype: Any = call.fields["dtype"]
    if scalar is None or not scalar.finite or dtype.name not in FORMATS:
        return
    bits = scalar_bits(node.instr) or 0
    for near_bits in (bits + 1, bits - 1):
        neighbour = en.of_bits(near_bits, FORMATS[dtype.name]) if near_bits >= 0 else None
        if neighbour is not None and neighbour.finite:
            yield Repair(at, neighbour, bits=near_bits)
    simple = scalar.low.limit_denominator(DENOMINATORS)
    if simple != scalar.low and en.round_result(en.real(simple), FORMATS[dtype.name]) == bits:
        yield Repair(at, en.real(simple))


def flags(call: Call) -> int:
    """Return the ENV_* bits of a bound call."""
    return int(call.words[opcodes.ENV]) if call.words is not None else 0


def _read(bits: int, fmt: Format) -> Real:
    return en.of_bits(bits, fmt)


def _flushed(x: Real, dtype: DType) -> Real:
    fmt = FORMATS[dtype.name]
    small = x.finite and is_subnormal(round_to(x.value(), fmt), fmt)
    return en.real(0) if small and not x.negative else en.negated(en.real(0)) if small else x
