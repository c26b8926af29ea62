"""Each class of faults on a few lines with known mutants, and what is no fault."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from ascendsim.errors import RequestError
from ascendsim.explore.mutate import KINDS
from ascendsim.explore.mutate.faults import mutants
from ascendsim.explore.mutate.source import spliced
from ascendsim.host import find_ops
from tests.mutate.kernels import write

Change = tuple[int, str]


def found(folder: Path, kind: str, text: str, file: str = "op_kernel.py") -> list[Change]:
    """Return (line, changes) of the mutants of one file."""
    write(folder, {file: text})
    return [
        (each.line, "; ".join(f"{old} -> {new}" for old, new in each.changes))
        for each in mutants(folder, (kind,))
    ]


def test_dropped_syncs(tmp_path):
    text = """
def order(event):
    SetFlag(event, 0)
    WaitFlag(event, 0)

class K:
    def Process(self):
        PipeBarrier(PIPE_V)
        self.inQueue.EnQue(x)
        x = self.inQueue.DeQue(half)
        self.inQueue.FreeTensor(
            x)
        SyncAll(); IBSet(a, b, 0, 0)
        order(HardEvent.MTE2_V)
        for i in range(2):
            SetFlag(HardEvent.V_MTE2, i)
        WaitFlag(HardEvent.V_MTE2, 0)
        Process(PipeBarrier)
"""
    assert found(tmp_path, "drop-sync", text) == [
        (3, "SetFlag(event, 0) -> pass"),
        (3, "SetFlag(event, 0) -> pass; WaitFlag(event, 0) -> pass"),
        (4, "WaitFlag(event, 0) -> pass"),
        (8, "PipeBarrier(PIPE_V) -> pass"),
        (9, "self.inQueue.EnQue(x) -> pass"),
        (10, "self.inQueue.DeQue -> self.inQueue.AllocTensor"),
        (11, "self.inQueue.FreeTensor( x) -> pass"),
        (13, "SyncAll() -> pass"),
        (13, "IBSet(a, b, 0, 0) -> pass"),
        (14, "order(HardEvent.MTE2_V) -> pass"),
        (16, "SetFlag(HardEvent.V_MTE2, i) -> pass"),
        (17, "WaitFlag(HardEvent.V_MTE2, 0) -> pass"),
    ]


def test_a_flag_is_paired_with_the_next_wait_of_its_function(tmp_path):
    text = """
def one():
    SetFlag(E, 0)
    while more:
        WaitFlag(E, 0)
        SetFlag(E, 0)
    WaitFlag(E, 0)
"""
    pairs = [each for each in found(tmp_path, "drop-sync", text) if ";" in each[1]]
    assert [line for line, _ in pairs] == [3, 6]
    three, six = (each for each in mutants(tmp_path, ("drop-sync",)) if len(each.edits) == 2)
    assert three.before == "SetFlag(E, 0)\nWaitFlag(E, 0)"
    program = ast.unparse(ast.parse(spliced((tmp_path / "op_kernel.py").read_bytes(), six.edits)))
    assert program.splitlines()[-2:] == ["        pass", "    pass"]


def test_comparisons(tmp_path):
    text = """
CompareScalar(mask, x, 0.0, CMPMODE.GT, n)
Compare(mask, x, y, CMPMODE.LE, n); Compare(mask, x, y, CMPMODE.EQ, n)
mode = CMPMODE.GE if big else asc.CMPMODE.LT
"""
    assert found(tmp_path, "compare-mode", text) == [
        (2, "CMPMODE.GT -> CMPMODE.GE"),
        (3, "CMPMODE.LE -> CMPMODE.LT"),
        (4, "CMPMODE.GE -> CMPMODE.GT"),
        (4, "asc.CMPMODE.LT -> asc.CMPMODE.LE"),
    ]


def test_roundings(tmp_path):
    text = """
Cast(y, x, RoundMode.CAST_RINT, n)
Cast(y, x, RoundMode.CAST_FLOOR, n)
Cast(
    y, x,
    RoundMode.CAST_NONE, n)
mode = RoundMode.CAST_NONE
"""
    assert found(tmp_path, "round-mode", text) == [
        (2, "RoundMode.CAST_RINT -> RoundMode.CAST_ROUND"),
        (3, "RoundMode.CAST_FLOOR -> RoundMode.CAST_TRUNC"),
        (6, "RoundMode.CAST_NONE -> RoundMode.CAST_ROUND"),
    ]
    assert [each.narrows for each in mutants(tmp_path, ("round-mode",))] == [0, 0, 4]


def test_aligned_counts(tmp_path):
    text = """
def Compute(self, n):
    a = CeilAlign(n, 64)
    Duplicate(x, 0.0, a)
    b = (n + 63) // 64 * 64
    Compare(mask, x, y, CMPMODE.GT, b)
    self.Slope(x, 2 * a)
    InitBuffer(q, (n * 2 + W - 1) // W * W)
    c = AlignUp(a + n, 8)
    d = n // 2 * 3
    return c * 4

def CeilAlign(value, align):
    return (value + align - 1) // align * align
"""
    assert found(tmp_path, "aligned-count", text) == [
        (4, "a -> n"),
        (6, "b -> n"),
        (7, "a -> (n)"),
        (8, "(n * 2 + W - 1) // W * W -> n * 2"),
        (9, "AlignUp(a + n, 8) -> a + n"),
    ]


def test_aligned_counts_of_the_host(tmp_path):
    text = "def tiling(ctx):\n    return Tiling(1, 0, {'a': FloorAlign(ctx.n + 1, 64) * 2})\n"
    changes = [(2, "FloorAlign(ctx.n + 1, 64) -> (ctx.n + 1)")]
    assert found(tmp_path, "aligned-count", text, "op_host.py") == changes


def test_arms(tmp_path):
    text = """
def Compute():
    Select(y, mask, x, zero, SELMODE.VSEL_TENSOR_TENSOR_MODE, n)
    CompareScalar(mask, x, 0.0, CMPMODE.GT, n)
    Select(y, mask, y, 0.0, SELMODE.VSEL_TENSOR_SCALAR_MODE, n)
    mode = SELMODE.VSEL_TENSOR_SCALAR_MODE
    CompareScalar(mask, x, one, CMPMODE.LT, n)
    Select(y, mask, y, one, mode, n)
    Select(y, other, y, -1.0, mode, n)
    Select(y, mask, y, y, SELMODE.VSEL_CMPMASK_SPR, n)
"""
    assert found(tmp_path, "select-arms", text) == [
        (3, "x -> zero; zero -> x"),
        (4, "CMPMODE.GT -> CMPMODE.LE"),
        (7, "CMPMODE.LT -> CMPMODE.GE"),
    ]


@pytest.mark.parametrize(
    ("written", "typed"),
    [
        ("1.0 / 6.0", "0.16666666"),  # 0x3e2aaaab and 0x3e2aaaaa
        ("1 / 6", "0.16666666"),
        ("-1 / 6", "-0.16666666"),
        ("float32(1) / 6", "float32(0.16666666)"),
        ("np.float32(1) / np.float32(6)", "np.float32(0.16666666)"),
        ("1 / 3", "0.3333333"),  # eight digits would be the same number
        ("0.3333333333333333", "0.3333333"),
        ("math.sqrt(2 / math.pi)", "0.7978845"),
        ("100 / 7", "14.285714"),
    ],
)
def test_constants(tmp_path, written, typed):
    import math

    import numpy as np

    text = f"Muls(y, x, {written}, n)\n"
    mine = found(tmp_path, "exact-constant", text)
    if written == "100 / 7":  # eight digits round to the same number
        typed = str(np.nextafter(np.float32(100 / 7), np.float32(0)))
    assert mine == [(1, f"{written} -> {typed}")]
    values = [
        eval(each, {"math": math, "np": np, "float32": np.float32}) for each in (written, typed)
    ]
    words = [int(np.float32(value).view(np.uint32)) for value in values]
    assert words[0] - words[1] == 1


@pytest.mark.parametrize("exact", ["0.5", "3.0", "1 / 4", "0.01", "0.16666666", "7 // 2", "a / 6"])
def test_constants_without_a_mutant(tmp_path, exact):
    assert found(tmp_path, "exact-constant", f"Muls(y, x, {exact}, n)\n") == []


def test_tiles(tmp_path):
    text = """
class K:
    def Process(self, first):
        loops = CeilDiv(self.length, self.tile)
        for i in range(loops):
            offset = i * self.tile
            if i == loops - 1:
                count = self.tail
            self.CopyIn(self.xGm[self.tile * i :], weight * 2)
        for offset in range(first, self.length, self.tile):
            pass
        while first < self.length:
            pass
        self.blockOffset = tiling.perBlock * GetBlockIdx()

def CeilDiv(a, b):
    return (a + b - 1) // b
"""
    assert found(tmp_path, "off-by-one-tile", text) == [
        (4, "CeilDiv(self.length, self.tile) -> self.length // self.tile"),
        (5, "loops -> loops - 1"),
        (5, "loops -> loops + 1"),
        (6, "i -> (i + 1)"),
        (7, "loops - 1 -> loops"),
        (9, "i -> (i + 1)"),
        (10, "self.length -> self.length - self.tile"),
        (10, "self.length -> self.length + self.tile"),
        (12, "first < self.length -> first <= self.length"),
        (14, "GetBlockIdx() -> (GetBlockIdx() + 1)"),
    ]


def test_tiles_of_the_host(tmp_path):
    text = """
def tiling(ctx):
    share = -(1 + (ctx.n + 48 - 1) // 48)
    tail = share - (tiles - 1) * tile
    for core in range(48):
        pass
    return CeilAlign(CeilDiv(share, 8), 32)
"""
    assert found(tmp_path, "off-by-one-tile", text, "op_host.py") == [
        (3, "(ctx.n + 48 - 1) // 48 -> (ctx.n // 48)"),
        (4, "tiles - 1 -> tiles"),
    ]


def test_modules_that_the_kernel_imports(tmp_path):
    write(tmp_path, {"common.py": "PipeBarrier(PIPE_V)\n", "stray.py": "PipeBarrier(PIPE_V)\n"})
    text = "from ascendsim.ascendc import *\nfrom .common import *\n"
    write(tmp_path, {"op_kernel.py": text, "op_host.py": "from .op_kernel import X\n"})
    assert [(each.file, each.line) for each in mutants(tmp_path)] == [("common.py", 1)]


def test_bytes_and_lines_around_a_mutant_stay(tmp_path):
    text = "# größer\r\ns = 'é'; Cast(y, x,\r\n  RoundMode.CAST_RINT, n)  # – \r\nEnd()\r\n"
    (tmp_path / "op_kernel.py").write_bytes(text.encode())
    (mutant,) = mutants(tmp_path)
    assert (mutant.line, mutant.before) == (3, "RoundMode.CAST_RINT, n)  # –")
    changed = spliced(text.encode(), mutant.edits).decode()
    assert changed == text.replace("CAST_RINT", "CAST_ROUND")


@pytest.mark.parametrize("name", find_ops())
def test_mutants_of_the_kernels_are_other_programs_of_as_many_lines(name):
    folder = find_ops()[name]
    seen = set()
    for mutant in mutants(folder):
        data = (folder / mutant.file).read_bytes()
        changed = spliced(data, mutant.edits)
        program = ast.dump(ast.parse(changed))
        assert (mutant.file, program) not in seen
        assert program != ast.dump(ast.parse(data))
        assert changed.count(b"\n") == data.count(b"\n")
        assert mutant.kind in KINDS
        seen.add((mutant.file, program))
    assert len(seen) >= 16


def test_refusals(tmp_path):
    with pytest.raises(RequestError, match=r"kind 'typo' is unknown; use one of drop-sync, "):
        mutants(tmp_path, ("typo",))
    write(tmp_path, {"op_kernel.py": "def f(:\n"})
    with pytest.raises(RequestError, match=r"op_kernel\.py cannot be parsed"):
        mutants(tmp_path)
