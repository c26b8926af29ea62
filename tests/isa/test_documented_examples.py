"""The manual's worked examples of casts, integers and multiply-add, on every chip that has them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from ascendsim import ascendc
from ascendsim import soc as socs
from ascendsim.ascendc import *
from ascendsim.dtypes import BY_NAME, NOT_MODELLED
from tests.helpers import assert_same_bits
from tests.kit import EVERY_SOC, Ub, peek, put, run_block

DATA = Path(__file__).parents[1] / "data" / "instruction_vectors.json"
VECTORS = json.loads(DATA.read_text(encoding="utf-8"))["vectors"]
CASTS = [v for v in VECTORS if v["op"] == "Cast"]
LETTERS = dict(zip(RoundMode, "NRFCAZO", strict=True))
#: CAST_NONE from half to int32 and int32 to int8 are on a page, but in no table of pairs and modes
IN_NO_TABLE = 7


def array(printed, T):
    """Return printed numbers, those before and after an ellipsis, in the type T."""
    with np.errstate(all="ignore"):
        return np.array([float(x) for x in printed if x != "..."]).astype(T.numpy)


def run(soc, call, options=None, **arrays):
    """Run `call` on buffers with these contents and return what the first of them holds then."""
    found = []

    def body():
        u = Ub(**{name: (T, values.size) for name, (values, T) in arrays.items()})
        for name, (values, _) in arrays.items():
            put(u[name], values)
        call(*(u[name] for name in arrays))
        found.append(peek(u["dst"]))

    run_block(body, soc=soc, options=options or {}, observe=False)
    return found[0]


def places(vector):
    """Return the chips that offer a cast in its mode."""
    pair = "->".join(BY_NAME[vector[name]].name for name in ("src_dtype", "dst_dtype"))
    modes = {soc: socs.load(soc).ops["Cast"].pairs.get(pair, "") for soc in EVERY_SOC}
    return [soc for soc, taken in modes.items() if (mode_of(vector, taken)) is not None]


def mode_of(vector, taken):
    """Return the mode of an example, any that the chip takes where the page names none."""
    if vector.get("mode"):
        mode = RoundMode[vector["mode"]]
        return mode if LETTERS[mode] in taken else None
    return next((mode for mode, letter in LETTERS.items() if letter in taken), None)


def numbers(printed, T):
    """Return printed numbers in T; integers of 64 bits exactly."""
    return array(printed, T) if T.kind == "float" else np.array(printed).astype(T.numpy)


def test_which_casts_are_covered():
    typed = [v for v in CASTS if not {v["src_dtype"], v["dst_dtype"]} & set(NOT_MODELLED)]
    assert len(CASTS) - len(typed) == 36  # int4, fp4, fp8, hifloat8, double
    assert sum(not places(vector) for vector in typed) == IN_NO_TABLE
    done = Counter(soc for vector in typed for soc in places(vector))
    counts = {"ascend910": 33, "ascend310p": 35, "ascend910b1": 75, "ascend910_93": 75}
    assert done == counts | {"ascend950": 93}


@pytest.mark.parametrize("soc", EVERY_SOC)
@pytest.mark.parametrize("overflow", ["clamp", "truncate"])
def test_casts(soc, overflow):
    pairs = socs.load(soc).ops["Cast"].pairs

    def body():
        for vector in CASTS:
            types = vector["src_dtype"], vector["dst_dtype"]
            cut = vector.get("saturation") == "NO_SAT"
            if set(types) & set(NOT_MODELLED) or cut is not (overflow == "truncate"):
                continue
            source, target = (BY_NAME[name] for name in types)
            mode = mode_of(vector, pairs.get(f"{source}->{target}", ""))
            if mode is None:
                continue
            src = numbers(vector["inputs"]["src"], source)
            want = numbers(vector["outputs"]["dst"], target)
            u = Ub(a=(source, src.size), b=(target, want.size))
            put(u["a"], src)
            Cast(u["b"], u["a"], mode, src.size)
            assert_same_bits(peek(u["b"])[: want.size], want, src)
            u.pipe.Destroy()

    run_block(body, soc=soc, options={"int_overflow": overflow}, observe=False)


@pytest.mark.parametrize("soc", EVERY_SOC)
@pytest.mark.parametrize(
    "vector", [v for v in VECTORS if v["op"] != "Cast"], ids=lambda v: f"{v['op']}-{v['id']}"
)
def test_other_examples(vector, soc):
    name, types = vector["op"], vector.get("dtype", "half").split("->")
    target, source = BY_NAME[types[-1]], BY_NAME[types[0].split(",")[0]]
    row = socs.load(soc).ops.get(name)
    if row is None or (source is target and target.name not in row.dtypes):
        assert soc in ("ascend910", "ascend310p")
        return
    given = vector["inputs"]
    operands = {k: (array(given[k], source), source) for k in given if k.startswith("src")}
    count = next(iter(operands.values()))[0].size
    before = np.resize(array(given.get("dst_before", [0]), target), count)
    scalar = [given["scalar"]] if "scalar" in given else []
    instruction = getattr(ascendc, name)
    dst = (before, target)
    got = run(soc, lambda dst, *src: instruction(dst, *src, *scalar, count), dst=dst, **operands)
    want = array(vector["outputs"]["dst"], target)
    if name == "FusedMulAdd" and soc == "ascend950":  # the page's numbers round twice
        assert (got[:count] != want).sum() == 70
    elif name == "LeakyRelu":  # printed with three digits
        assert [f"{float(x):.3g}" for x in got[:count]] == [f"{x:.3g}" for x in want.tolist()]
    else:
        assert_same_bits(got[:count], want)
