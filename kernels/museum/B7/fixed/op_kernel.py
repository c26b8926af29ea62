"""The exact product is truncated to half, as the reference does."""

from ascendsim.ascendc import *

SCALE = 1.05078125  # 1.0507009873554805 as half


def selu_integer(x, out, workspace, tiling):
    op = SeluInteger()
    op.Init(x, out, tiling)
    op.Process()


class SeluInteger:
    def __init__(self):
        self.pipe = TPipe()
        self.xQueue = TQue(TPosition.VECIN, 1)
        self.outQueue = TQue(TPosition.VECOUT, 1)
        self.productBuf = TBuf(TPosition.VECCALC)

    def Init(self, x, out, tiling):
        self.n = tiling.totalLength
        self.xGm = GlobalTensor(half)
        self.xGm.SetGlobalBuffer(x)
        self.outGm = GlobalTensor(float32)
        self.outGm.SetGlobalBuffer(out)
        self.pipe.InitBuffer(self.xQueue, 1, self.n * sizeof(half))
        self.pipe.InitBuffer(self.outQueue, 1, self.n * sizeof(float32))
        self.pipe.InitBuffer(self.productBuf, self.n * sizeof(half))

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
        out = self.outQueue.AllocTensor(float32)
        product = self.productBuf.Get(half)
        Cast(out, x, RoundMode.CAST_NONE, n)
        Muls(out, out, SCALE, n)
        Cast(product, out, RoundMode.CAST_TRUNC, n)
        Cast(out, product, RoundMode.CAST_NONE, n)
        Cast(out, out, RoundMode.CAST_TRUNC, n)
        self.outQueue.EnQue(out)
        self.xQueue.FreeTensor(x)

    def CopyOut(self):
        out = self.outQueue.DeQue(float32)
        params = DataCopyParams(1, self.n * sizeof(float32), 0, 0)
        DataCopyPad(self.outGm, out, params)
        self.outQueue.FreeTensor(out)
