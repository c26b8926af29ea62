"""The self-test: every name of `ascendsim isa`, on every chip and element type that it claims.

A declared instruction runs in its count form and in its mask + repeat form, and its bits are held
against the array body of its own declaration. Everything else is used once (`exercises.py`).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ascendsim import ascendc
from ascendsim.dtypes import DType, uint8
from ascendsim.dtypes import dtype as as_dtype
from ascendsim.enums import REPEAT_BYTES, SELMODE, RoundMode
from ascendsim.explore import exercises_blocks, exercises_move, exercises_sort
from ascendsim.explore.bench import Bench, sample
from ascendsim.explore.exercises import BELONGS_TO, EXERCISES, TYPED
from ascendsim.isa import REGISTRY, SetDeqScale
from ascendsim.isa.roles import BITS
from ascendsim.numerics.opcodes import ENV_FLUSH
from ascendsim.soc import NAMES, load

#: importing them adds theirs to EXERCISES
MORE_EXERCISES = (exercises_blocks, exercises_move, exercises_sort)
LANES = 256  # whole repeats of every element type
SCALE = 0.75  # of Cast from int32 to half
_LETTERS = dict(zip("NRFCAZO", RoundMode, strict=True))


@dataclass(frozen=True, slots=True)
class Case:
    """One run: a name, a chip, what it is run with, and the run itself (raises when wrong)."""

    name: str
    soc: str
    dtype: str | None
    run: Callable[[Bench], None]


def selftest(
    name: str | None = None, progress: Callable[[int, int], None] | None = None
) -> list[dict[str, Any]]:
    """Run the cases of `name`, or of all names, and return one row per case."""
    cases = [case for case in _cases() if name is None or case.name.lower() == name.lower()]
    benches: dict[str, Bench] = {}
    rows = []
    for index, case in enumerate(cases):
        if case.soc not in benches:
            benches[case.soc] = Bench(load(case.soc))
        error = _error(case, benches[case.soc])
        rows.append(
            {
                "name": case.name,
                "soc": case.soc,
                "dtype": case.dtype,
                "ok": error is None,
                "error": error,
            }
        )
        if progress is not None:
            progress(index + 1, len(cases))
    return rows


def _error(case: Case, bench: Bench) -> str | None:
    try:
        with bench.block():
            case.run(bench)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def _cases() -> Iterator[Case]:
    claimed = {name for soc in NAMES for name in load(soc).ops}
    for name in (*ascendc.APIS, *ascendc.MEMBERS, *ascendc.TYPES):
        row_name = BELONGS_TO.get(name, name)
        for soc in NAMES:
            row = load(soc).ops.get(row_name)
            if row is None and (row_name in claimed or name in REGISTRY):
                continue  # other chips have it, this one does not claim it
            if name in REGISTRY:
                yield from _vector_cases(name, soc, row)
            else:
                yield from _use_cases(name, soc, TYPED if row is None else row.dtypes)


def _use_cases(name: str, soc: str, dtypes: tuple[str, ...]) -> Iterator[Case]:
    use = EXERCISES.get(name, _unwritten)
    if len(inspect.signature(use).parameters) == 1:
        yield Case(name, soc, None, use)
        return
    for dtype in dtypes:
        yield Case(name, soc, dtype, partial(use, dtype=as_dtype(dtype)))


def _unwritten(bench: Bench) -> None:
    raise NotImplementedError("no exercise uses it; add one to explore/exercises.py")


def _vector_cases(name: str, soc: str, row: Any) -> Iterator[Case]:
    declared = REGISTRY[name]
    if declared.pair:
        for pair, letters in row.pairs.items():
            source, target = (as_dtype(each) for each in pair.split("->"))
            modes = [_LETTERS[letter] for letter in letters]
            yield Case(name, soc, pair, _vector_run(declared, (target, source), modes))
        return
    for dtype in row.dtypes:
        types = (as_dtype(dtype), as_dtype(dtype))
        forms = (False,) if dtype in row.count_only else (False, True)
        if hasattr(declared.params, "COUNT_FORM_ON_950") and load(soc).arch != "3510":
            forms = (True,)
        modes = _modes(declared, row, dtype)
        yield Case(name, soc, dtype, _vector_run(declared, types, modes, forms))
    for pair in row.pairs:
        source, target = (as_dtype(each) for each in pair.split("->"))
        yield Case(name, soc, pair, _vector_run(declared, (target, source), [None]))


def _modes(declared: Any, row: Any, dtype: str) -> list[Any]:
    if declared.mode is None:
        return [None]
    modes = row.only.get(dtype, row.modes)
    return [declared.mode(number) for number in modes] or list(declared.mode)


def _vector_run(
    declared: Any,
    types: tuple[DType, DType],
    modes: list[Any],
    forms: tuple[bool, ...] = (False, True),
) -> Callable[[Bench], None]:
    def run(bench: Bench) -> None:
        for mode in modes:
            for repeated in forms:
                with bench.block():
                    SetDeqScale(SCALE)
                    _compare(bench, declared, types, mode, repeated)

    return run


def _compare(
    bench: Bench, declared: Any, types: tuple[DType, DType], mode: Any, repeated: bool
) -> None:
    """Call the instruction once and hold its bits against the array body."""
    per_repeat = REPEAT_BYTES // max(t.nbytes for t in types)
    lanes = per_repeat if mode is SELMODE.VSEL_CMPMASK_SPR else LANES
    arrays = _arguments(declared, types, mode, lanes)
    scalar_source = mode is SELMODE.VSEL_TENSOR_SCALAR_MODE
    call: dict[str, Any] = {}
    roles = dict(declared.operands)
    for name, value in arrays.items():
        if name not in roles or (scalar_source and name == "src1"):
            call[name] = value[0] if isinstance(value, np.ndarray) else value
        else:
            dtype = uint8 if roles[name] in BITS else types[name != "dst"]
            call[name] = bench.local(dtype, value)
    size = {"count": per_repeat, "repeatTimes": lanes // per_repeat} if repeated else {}
    if repeated and hasattr(declared.params, "COUNT_FORM_ON_950"):
        size["repeatParams"] = declared.params()
    getattr(ascendc, declared.name)(**call, **(size or {"count": lanes}))
    got = bench.array(call["dst"], arrays["dst"].size)
    want = _body(bench, declared, types, arrays)
    _same_bits(got, want, f"{mode or ''} {'mask + repeat' if repeated else 'count'} form")


def _arguments(declared: Any, types: tuple[DType, DType], mode: Any, lanes: int) -> dict[str, Any]:
    """Return a value for every argument of the declaration, by name."""
    roles = dict(declared.operands)
    found: dict[str, Any] = {}
    for turn, name in enumerate(inspect.signature(declared.compute).parameters):
        if name in ("env", "to", "scale"):
            continue
        if name == declared.scalar:
            found[name] = types[1].numpy.type(1.5 if types[1].kind == "float" else 3)
        elif name not in roles:
            found[name] = mode
        elif roles[name] in BITS:
            found[name] = sample(uint8, lanes // 8, turn)
        else:
            found[name] = sample(types[name != "dst"], lanes, turn)
    if mode is SELMODE.VSEL_TENSOR_SCALAR_MODE:
        found["src1"] = np.full(lanes, 2.5).astype(types[1].numpy)
    return found


def _body(bench: Bench, declared: Any, types: tuple[DType, DType], arrays: dict[str, Any]) -> Any:
    env = bench.core.env | (ENV_FLUSH if declared.flushes else 0)
    more: dict[str, Any] = {"to": types[0], "scale": SCALE} if declared.pair else {}
    return declared.compute(**arrays, **more, env=env)


def _same_bits(got: np.ndarray, want: np.ndarray, what: str) -> None:
    left, right = (np.ascontiguousarray(a).view(f"u{a.dtype.itemsize}") for a in (got, want))
    differ = np.flatnonzero(left != right)
    if differ.size:
        first = differ[0]
        raise AssertionError(
            f"{what.strip()}: {differ.size} of {got.size} differ from the array body, first at "
            f"{first}: got {left[first]:#x}, want {right[first]:#x}"
        )
