"""The bench: its C loops give the kernels' bits, its rounds alternate, its document is whole."""

from __future__ import annotations

import json
from itertools import chain
from xml.etree import ElementTree

import numpy as np
import pytest

import ascendsim as asim
from ascendsim.cli import execute
from ascendsim.dtypes import dtype as find_dtype
from ascendsim.errors import RequestError
from ascendsim.explore.atlas import atlas
from ascendsim.explore.speed import peers, rows
from ascendsim.explore.speed.c_loop import CLoop, compiler
from ascendsim.explore.speed.measure import Times, alternated
from ascendsim.explore.speed.subject import MODES, Subject
from tests.helpers import assert_same_bits

KERNELS = ("hard_sigmoid_grad", "hard_swish_grad", "swish_grad", "add")
needs_compiler = pytest.mark.skipif(compiler() is None, reason="no C compiler")


def cases():
    for name in KERNELS:
        for types in asim.load(name).definition.combinations:
            dtype = next(iter(types.values())).name
            yield pytest.param(name, dtype, id=f"{name}-{dtype}")


@needs_compiler
@pytest.mark.parametrize(("name", "dtype"), list(cases()))
def test_c_source_gives_the_bits_of_the_kernel(name, dtype):
    """On random patterns; which NaN comes out is the kernel's own choice."""
    op, element = asim.load(name), find_dtype(dtype)
    generator = np.random.default_rng(3)
    arrays = []
    for _ in op.definition.inputs:
        bits = generator.integers(0, 1 << (8 * element.nbytes), 20_000, np.uint64)
        values = bits.astype(element.bits).view(element.numpy)
        values[10_000:] = (4 * generator.standard_normal(10_000)).astype(element.numpy)
        arrays.append(values)
    data = dict(zip(op.definition.inputs, arrays, strict=True))
    wanted = asim.launch(op, data, op.tiling(arrays[0].shape, dtype)).out
    found = np.empty_like(wanted)
    CLoop(op, element, {}).run(arrays, found)
    for each in (wanted, found):
        each[np.isnan(each)] = np.nan
    assert_same_bits(found, wanted, *arrays)


@needs_compiler
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_c_sweep_gives_the_checksum_of_an_atlas(dtype):
    op, element = asim.load("swish_grad"), find_dtype(dtype)
    one = np.ones(1, element.numpy)[0]
    found = CLoop(op, element, {}).sweep(0, 1 << 16, [one])
    assert found == atlas(op, dtype).totals.checksum


@needs_compiler
def test_a_wrong_c_source_is_told(tmp_path):
    class Wrong:
        @staticmethod
        def c_source(dtype):
            return "static inline T lane(T x, T y) { return x +; }"

    op = asim.load("add").variant()
    op.ref = Wrong
    with pytest.raises(RequestError, match=r"add_float32: .* refuses c_source: "):
        CLoop(op, find_dtype("float32"), {})
    del Wrong.c_source
    with pytest.raises(RequestError, match=r"add has no c_source\(dtype\)"):
        CLoop(op, find_dtype("float32"), {})


def test_rounds_alternate():
    order: list[str] = []
    works = {name: lambda name=name: order.append(name) for name in "abc"}
    times = alternated(works, 3)
    assert order == [*"abc"] * 4  # the first of each is the warm-up
    assert all(len(each.seconds) == 3 for each in times.values())
    assert len(alternated(works, 5, most_seconds=0.0)["a"].seconds) == 1
    row = rows.compared("x", 2.0, {"a": Times((1.0, 3.0, 2.0)), "b": Times((4.0, 2.0, 6.0))})
    assert (row.ratio, row.medians, row.ok) == (2.0, 2.0, True)
    assert row.seconds == {"a": (1.0, 2.0), "b": (2.0, 4.0)}
    assert rows.Row("x", 1.9, 2.0).ok is False
    assert rows.Row("x", None, 2.0).ok is None


@pytest.mark.parametrize("peer", [peers.pallas, peers.triton])
def test_a_peer_computes_or_says_why_not(peer):
    subject = Subject.of(asim.load("hard_swish_grad"), find_dtype("float32"), 1000)
    arrays = list(subject.arrays.values())
    work = peer(subject.op, arrays)
    if isinstance(work, str):
        assert work.endswith("is not installed")
        return
    found = np.asarray(work())[:1000]
    assert_same_bits(found, subject.op.ref.naive(np, *arrays))


def test_document_table_and_picture(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(rows, "ELEMENTS", 20_000)
    monkeypatch.setattr(rows, "RECORDED_ELEMENTS", 2_000)
    monkeypatch.setattr(rows, "_large", lambda op, elements, most: [])
    monkeypatch.setattr(
        rows, "_sweep", lambda op, attrs, count, most: [rows.Row("sweep", None, 0.5)]
    )
    picture = tmp_path / "bench.svg"
    words = ["bench", "hard_sigmoid_grad", "--quick", "--plot", str(picture)]
    assert execute([*words, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert {"machine", "versions", "rows"} == document.keys()
    assert document["versions"].keys() >= {"python", "numpy", "numba"}
    names = [row["name"] for row in document["rows"]]
    for dtype, one in chain.from_iterable(
        [(d, m) for m in MODES[:2]] for d in ("float32", "float16")
    ):
        assert f"hard_sigmoid_grad {dtype}: {one} / numpy" in names
    assert {row["target"] for row in document["rows"] if "fused loop / C" in row["name"]} == {0.9}
    recorded = {row["name"]: row for row in document["rows"] if " / step at 2e3 " in row["name"]}
    kinds = {"record=calls": 0.25, "record=bytes": 0.1, "call_sink": None}
    for (name, row), (kind, target) in zip(recorded.items(), kinds.items(), strict=True):
        assert name == f"hard_sigmoid_grad float32: {kind} / step at 2e3 elements"
        assert (row["target"], list(row["seconds"])) == (target, [kind, "step"])
    for row in document["rows"]:
        assert {"name", "ratio", "target", "ok"} <= row.keys()
        assert (row["ratio"] is None) == bool(row["note"]) or row["name"] == "sweep"
    ElementTree.fromstring(picture.read_bytes())
    assert execute(words[:3]) == 0
    assert "hard_sigmoid_grad bfloat16: replay / numpy" in capsys.readouterr().out


@needs_compiler
def test_the_atlas_is_measured_against_c_and_for_all_of_a_type(monkeypatch):
    monkeypatch.setattr(rows, "EVERY_FLOAT32", 8 * 4096 * 3)
    beside, every = rows._sweep(asim.load("swish_grad"), {}, 4096, 0.0)
    assert (beside.name, every.name) == (
        "swish_grad float32: atlas / C",
        "swish_grad float32: 60 s / atlas of every x",
    )
    (whole,), (atlas_seconds, _) = every.seconds.values(), beside.seconds.values()
    assert whole == pytest.approx([3 * each for each in atlas_seconds])
    assert every.ratio == pytest.approx(60 / whole[0])


def test_an_unknown_operator(capsys):
    assert execute(["bench", "nobody"]) == 2
    assert "op 'nobody' is unknown" in capsys.readouterr().err
