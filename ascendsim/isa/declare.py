"""One decorated function per vector instruction; all else comes from it.

    @vector(body="muls", rules=("round-once", "subnormals-kept"))
    def Muls(dst: Out, src: In, scalar: Scalar) -> None:
        \"\"\"dst = src * scalar ...\"\"\"
        return arith.mul(src, scalar)

The annotations are the operand table, the body is the numerics on arrays (slow truth), the
docstring is the reference page. The decorator returns what kernels call: a function generated
for exactly this signature that looks its bound call up, tests liveness and runs the compiled
body. The first call with given operands *binds* it (bind.py): all checks, once. The scalar never
goes into the key of that look-up, since 0.0 equals -0.0 and NaN equals nothing.
"""

from __future__ import annotations

import inspect
import linecache
from collections.abc import Callable
from dataclasses import dataclass
from types import CodeType
from typing import Any

from ascendsim.core import observed
from ascendsim.enums import CMPMODE, SELMODE, RoundMode
from ascendsim.isa.bind import bad_scalar, bind, freed
from ascendsim.isa.params import BinaryRepeatParams, FillRepeatParams, UnaryRepeatParams
from ascendsim.isa.roles import TENSORS, Role

MODES = (RoundMode, CMPMODE, SELMODE)


@dataclass(frozen=True, slots=True, eq=False)
class Decl:
    """A declared instruction.

    `operands` are (name, role) of its tensors in the order dst, sources, mask bits; `body` the
    stem of its compiled bodies, `compute` the same on arrays; `flushes` says that the SoC's flush
    rule applies; `arithmetic` that the option subnormals=flush does; `pair` that source and
    destination types differ (Cast); `reads_dst` that dst is a source as well, the last operand;
    `shift` that the scalar is a number of bits.
    """

    name: str
    signature: str
    operands: tuple[tuple[str, Role], ...]
    scalar: str | None
    mode: type | None
    params: type
    body: str
    compute: Callable[..., Any]
    rules: tuple[str, ...]
    flushes: bool
    arithmetic: bool
    pair: bool
    bits: bool
    reads_dst: bool
    shift: bool
    caution: Callable[[str, Any], None] | None
    on_arrays: bool
    counts_per_repeat: bool
    around: Callable[..., Any] | None
    doc: str


REGISTRY: dict[str, Decl] = {}
_CODES: dict[str, CodeType] = {}


def vector(
    *,
    body: str = "",
    rules: tuple[str, ...] = (),
    name: str = "",
    flushes: bool = False,
    arithmetic: bool = True,
    pair: bool = False,
    bits: bool = False,
    shift: bool = False,
    caution: Callable[[str, Any], None] | None = None,
    arrays: dict[str, Decl] | None = None,
    around: Callable[..., Any] | None = None,
    depth: int = 2,
    params: type | None = None,
    counts_per_repeat: bool = False,
) -> Callable[[Callable[..., Any]], Callable[..., None]]:
    """Declare a vector instruction; see the module docstring and Decl for the arguments.

    `bits`: bodies are by element size, not type (the instruction copies bit patterns).
    `caution`: called with the name and the core when a call is bound: warns, or refuses.
    `arrays`: where a function without compiled body is declared instead: it runs `compute`.
    `around`: makes (executed function, UB ranges it stores beside dst) from (compiled body,
    tensors, mode), where a call does more than its body.
    `depth`: frames from the generated function to the kernel's line, plus one.
    `params`: the class of its repeat parameters, where they are its own.
    `counts_per_repeat`: counter mode counts the elements of each repeat, not of all of them.
    """

    def declare(function: Callable[..., Any]) -> Callable[..., None]:
        roles = _roles(function)
        tensors = _operands(roles)
        modes = [r for r in roles.values() if r in MODES]
        sources = list(roles.values()).count(Role.IN)
        instruction = name or function.__name__
        decl = Decl(
            instruction,
            "",
            tuple(tensors),
            next((n for n, r in roles.items() if r is Role.SCALAR), None),
            modes[0] if modes else None,
            params or (FillRepeatParams, UnaryRepeatParams, BinaryRepeatParams)[sources],
            body or instruction.lower(),
            function,
            rules,
            flushes,
            arithmetic,
            pair,
            bits,
            Role.IN_OUT in roles.values(),
            shift,
            caution,
            arrays is not None,
            counts_per_repeat,
            around,
            inspect.getdoc(function) or "",
        )
        call, signature = _generate(decl, list(roles.items()), depth)
        object.__setattr__(decl, "signature", signature)
        call.__doc__, call.__module__ = function.__doc__, function.__module__
        (REGISTRY if arrays is None else arrays).setdefault(instruction, decl)
        return call

    return declare


def _roles(function: Callable[..., Any]) -> dict[str, Any]:
    """Return {argument: Role or mode enumeration} of a declaration, in its order."""
    found = {}
    for name, annotation in inspect.get_annotations(function, eval_str=True).items():
        role = getattr(annotation, "__metadata__", (annotation,))[0]
        if isinstance(role, Role) or role in MODES:
            found[name] = role
    return found


def _operands(roles: dict[str, Any]) -> list[tuple[str, Role]]:
    """Return (name, role) of the tensors: dst, sources, mask bits; dst again where it is read."""
    tensors = [(n, r) for n, r in roles.items() if r in TENSORS]
    tensors.sort(key=lambda item: TENSORS.index(item[1]))
    if tensors[0][1] is Role.IN_OUT:
        name = tensors[0][0]
        return [(name, Role.OUT), *tensors[1:], (name, Role.IN)]
    return tensors


def called_through(name: str, frames: int) -> Callable[..., None]:
    """Return what kernels call by `name`, with `frames` callers between it and the kernel."""
    decl = REGISTRY[name]
    return _generate(decl, list(_roles(decl.compute).items()), 2 + frames)[0]


_TEMPLATE = """\
def call({arguments}):
    if repeatTimes is None:
        key = (KEY, {hashed}count, type(count), {params})
    else:
        key = (KEY, {hashed}{repeat_key})
    try:
        call = dst.calls[key if isSetMask else None]
    except (KeyError, AttributeError, TypeError):
        call = bind(DECL, {tensors}, {mode}, (count, repeatTimes, {params}, isSetMask), key)
    if not ({alive}):
        raise freed(DECL, {tensors})
{run}"""
_RUN = """\
    if call.core.readers:
        observed(call.core, call, depth={depth})
    else:
        call.execute(call.address, 0.0)
"""
_RUN_SCALAR = """\
    try:
        value = float({scalar}) if call.encode is None else call.encode({scalar})
    except (TypeError, ValueError, OverflowError) as error:
        raise bad_scalar(DECL, {scalar}) from error
    if call.core.readers:
        observed(call.core, call, {scalar}, depth={depth})
    else:
        call.execute(call.address, value)
"""


def _generate(
    decl: Decl, roles: list[tuple[str, Any]], depth: int
) -> tuple[Callable[..., None], str]:
    """Write the function that kernels call; its source stays visible in tracebacks."""
    fill = decl.params is FillRepeatParams
    strides = "dstBlockStride=1, dstRepeatStride=8" if fill else "repeatParams=None"
    names = [n for n, _ in roles]
    arguments = f"{', '.join(names)}, mask, repeatTimes=None, {strides}, isSetMask=True"
    tensors = [n for n, r in roles if r in TENSORS]
    mode = next((n for n, r in roles if r in MODES), "None")
    hashed = [n for n in tensors if n != "dst"]
    if mode != "None":
        hashed += [mode, f"type({mode})"]  # equal numbers of another enumeration are not the mode
    params = "(dstBlockStride, dstRepeatStride)" if fill else "repeatParams"
    scalar = decl.scalar or "None"
    run = _RUN_SCALAR if decl.scalar else _RUN
    # the count form passes the count where the repeat form passes the mask
    source = _TEMPLATE.format(
        arguments=arguments.replace("mask, repeatTimes", "count, repeatTimes"),
        hashed="".join(f"{n}, " for n in hashed),
        # a count of lanes and a bit mask must not share a key: bit masks are tuples there
        repeat_key=f"tuple(count) if type(count) is list else count, type(count), "
        f"repeatTimes, type(repeatTimes), {params}",
        tensors=f"({', '.join(n for n, _ in decl.operands)},)",
        mode=mode,
        params=params,
        alive=" and ".join(f"{n}.buffer.state" for n in tensors),
        run=run.format(scalar=scalar, depth=depth),
    )
    space: dict[str, Any] = {"DECL": decl, "bind": bind, "freed": freed, "observed": observed}
    space |= {"bad_scalar": bad_scalar, "KEY": f"{decl.name}.{decl.body}"}
    exec(_compiled(source), space)
    call = space["call"]
    call.__name__ = call.__qualname__ = decl.name
    return call, _forms(decl, ", ".join(names), strides.split("=")[0])


def _compiled(source: str) -> CodeType:
    """Return the code of a call; instructions with the same operands share it."""
    if source not in _CODES:
        file = f"<ascendsim call {len(_CODES)}>"
        linecache.cache[file] = (len(source), None, source.splitlines(True), file)
        _CODES[source] = compile(source, file, "exec")
    return _CODES[source]


def _forms(decl: Decl, names: str, strides: str) -> str:
    """Return the forms of a call as its page shows them."""
    if decl.on_arrays:
        return f"{decl.name}({names}[, sharedTmpBuffer][, calCount])"
    counted = f"{decl.name}({names}, count)  |  "
    repeated = f"{decl.name}({names}, mask, repeatTimes, {strides}...)"
    only_950 = hasattr(decl.params, "COUNT_FORM_ON_950")
    return f"{repeated}  |  950: {counted[:-5]}" if only_950 else counted + repeated
