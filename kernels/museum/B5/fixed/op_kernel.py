"""The result is cast to the nearest."""

from ascendsim.ascendc import *


def sqrt_half(x, out, workspace, tiling):
    op = SqrtHalf()
    op.Init(x, out, tiling)
    op.Process()


class SqrtHalf:
    def __init__(self):
        self.pipe = TPipe()
        self.xQueue = TQue(TPosition.VECIN, 1)
        self.outQueue = TQue(TPosition.VECOUT, 1)
        self.wideBuf = TBuf(TPosition.VECCALC)

    def Init(self, x, out, tiling):
        self.n = tiling.totalLength
        self.xGm = GlobalTensor(half)
        self.xGm.SetGlobalBuffer(x)
        self.outGm = GlobalTensor(half)
        self.outGm.SetGlobalBuffer(out)
        self.pipe.InitBuffer(self.xQueue, 1, self.n * sizeof(half))
        self.pipe.InitBuffer(self.outQueue, 1, self.n * sizeof(half))
        self.pipe.InitBuffer(self.wideBuf, self.n * sizeof(float32))

    def Process(self):
        self.CopyIn()
        self.Compute()
        self.CopyOut()

    def CopyIn(self):
        x = self.xQueue.AllocTensor(half)
        params = DataCopyParams(1, self.n * sizeof(half), 0, 0)
        DataCopyPad(x, self.xGm, params, DataCopyPadParams())
        self.xQueue.EnQue(x)

    def Compute(self):
        n = self.n
        x = self.xQueue.DeQue(half)
        out = self.outQueue.AllocTensor(half)
        wide = self.wideBuf.Get(float32)
        Cast(wide, x, RoundMode.CAST_NONE, n)
        Sqrt(wide, wide, n)
        Cast(out, wide, RoundMode.CAST_RINT, n)
        self.outQueue.EnQue(out)
        self.xQueue.FreeTensor(x)

    def CopyOut(self):
        out = self.outQueue.DeQue(half)
        params = DataCopyParams(1, self.n * sizeof(half), 0, 0)
        DataCopyPad(self.outGm, out, params)
        self.outQueue.FreeTensor(out)
