"""Small kernel folders, written where a test wants them."""

from __future__ import annotations

from pathlib import Path

DEFINITION = """
from ascendsim.host import OpDef

OP = OpDef("{name}", inputs=("x",), outputs=("out",), dtypes=("float32",), socs=("ascend910b1",))
"""
HOST = """
from ascendsim.host import Tiling


def tiling(ctx, fixed={}):
    return Tiling(1, 0, {"n": ctx.n, "tile": 256})
"""
#: out is 2 * x; one block, tiles of 256
DOUBLE = """
from ascendsim.ascendc import *


def {name}(x, out, workspace, tiling):
    Double(x, out, tiling).Process()


class Double:
    def __init__(self, x, out, tiling):
        self.tiling = tiling
        self.xGm, self.outGm = GlobalTensor(float32), GlobalTensor(float32)
        self.xGm.SetGlobalBuffer(x, tiling.n)
        self.outGm.SetGlobalBuffer(out, tiling.n)
        self.pipe, self.buf = TPipe(), TBuf(TPosition.VECCALC)
        self.pipe.InitBuffer(self.buf, 2 * tiling.tile * sizeof(float32))

    def Process(self):
        tile = self.tiling.tile
        both = self.buf.Get(float32)
        x, y = both, both[tile:]
        start = 0
        while start < self.tiling.n:
            count = min(tile, self.tiling.n - start)
            params = DataCopyParams(1, count * sizeof(float32), 0, 0)
            DataCopyPad(x, self.xGm[start:], params, DataCopyPadParams())
            SetFlag(HardEvent.MTE2_V, 0)
            WaitFlag(HardEvent.MTE2_V, 0)
            Muls(y, x, {factor}, count)
            PipeBarrier(PIPE_ALL)
            DataCopyPad(self.outGm[start:], y, params)
            PipeBarrier(PIPE_ALL)
            start += tile
"""


def write(folder: Path, files: dict[str, str]) -> Path:
    """Write the files of a folder and return it."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def double(folder: Path, test: str = "", factor: str = "2.0") -> Path:
    """Write a kernel that gives `factor` times x, with one test file if there is a text for it."""
    name = folder.name
    files = {
        "op_def.py": DEFINITION.replace("{name}", name),
        "op_host.py": HOST,
        "op_kernel.py": DOUBLE.replace("{name}", name).replace("{factor}", factor),
    }
    return write(folder, files | ({f"test_{name}.py": test} if test else {}))


#: a fault of each class fits in: out is half(x / 3) where x > 0, else -1
EVERY = {
    "__init__.py": "",
    "op_def.py": """
from ascendsim.host import OpDef

OP = OpDef(
    "every",
    inputs=("x",),
    outputs=("out",),
    dtypes={"x": ("float32",), "out": ("float16",)},
    socs=("ascend910b1",),
)
""",
    "op_host.py": """
from ascendsim.host import Tiling


def tiling(ctx, fixed={}):
    return Tiling(1, 0, {"n": ctx.n, "tile": 128})
""",
    "op_kernel.py": """
from ascendsim.ascendc import *

THIRD = 0.3333333333333333


def every(x, out, workspace, tiling):
    Every(x, out, tiling).Process()


class Every:
    def __init__(self, x, out, tiling):
        self.n, self.tile = tiling.n, tiling.tile
        self.xGm, self.outGm = GlobalTensor(float32), GlobalTensor(half)
        self.xGm.SetGlobalBuffer(x, self.n)
        self.outGm.SetGlobalBuffer(out, self.n)
        self.pipe = TPipe()
        self.inQueue, self.outQueue = TQue(TPosition.VECIN, 1), TQue(TPosition.VECOUT, 1)
        self.lowBuf, self.maskBuf = TBuf(TPosition.VECCALC), TBuf(TPosition.VECCALC)
        self.pipe.InitBuffer(self.inQueue, 1, self.tile * sizeof(float32))
        self.pipe.InitBuffer(self.outQueue, 1, self.tile * sizeof(half))
        self.pipe.InitBuffer(self.lowBuf, self.tile * sizeof(float32))
        self.pipe.InitBuffer(self.maskBuf, 256)

    def Process(self):
        for i in range((self.n + self.tile - 1) // self.tile):
            start = i * self.tile
            self.Compute(start, min(self.tile, self.n - start))

    def Compute(self, start, count):
        x = self.inQueue.AllocTensor(float32)
        DataCopyPad(x, self.xGm[start:], DataCopyParams(1, count * 4, 0, 0), DataCopyPadParams())
        self.inQueue.EnQue(x)
        x, out = self.inQueue.DeQue(float32), self.outQueue.AllocTensor(half)
        low, mask = self.lowBuf.Get(float32), self.maskBuf.Get(uint8_t)
        aligned = CeilAlign(count, 64)
        Duplicate(low, 0.0, aligned)
        PipeBarrier(PIPE_V)
        Compare(mask, x, low, CMPMODE.GT, CeilAlign(count, 64))
        PipeBarrier(PIPE_V)
        Muls(x, x, THIRD, count)
        Duplicate(low, -1.0, aligned)
        PipeBarrier(PIPE_V)
        Select(x, mask, x, low, SELMODE.VSEL_TENSOR_TENSOR_MODE, count)
        PipeBarrier(PIPE_V)
        Cast(out, x, RoundMode.CAST_RINT, count)
        self.outQueue.EnQue(out)
        self.inQueue.FreeTensor(x)
        out = self.outQueue.DeQue(half)
        DataCopyPad(self.outGm[start:], out, DataCopyParams(1, count * 2, 0, 0))
        self.outQueue.FreeTensor(out)


def CeilAlign(value, align):
    return (value + align - 1) // align * align
""",
    "test_every.py": """
import numpy as np

import ascendsim as asim
from parts.every import op_def


def run(x):
    op = asim.load("every")
    assert op_def.OP.name == op.name
    return asim.launch(op, {"x": x}, op.tiling(x.shape)).out


def test_short():
    assert run(np.float32([3, -3, 6])).tolist() == [1, -1, 2]


def test_tiles():
    x = np.arange(1, 301, dtype=np.float32)
    assert run(x).tobytes() == (x * np.float32(1 / 3)).astype(np.float16).tobytes()
""",
}
