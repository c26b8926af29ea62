"""The dividend is scaled up, and the quotient down by Muls, which keeps subnormal numbers."""

from ascendsim.ascendc import *

UP = 2.0**64


def quotient(x, y, out, workspace, tiling):
    op = Quotient()
    op.Init(x, y, out, tiling)
    op.Process()


class Quotient:
    def __init__(self):
        self.pipe = TPipe()
        self.xQueue = TQue(TPosition.VECIN, 1)
        self.yQueue = TQue(TPosition.VECIN, 1)
        self.outQueue = TQue(TPosition.VECOUT, 1)

    def Init(self, x, y, out, tiling):
        self.n = tiling.totalLength
        self.xGm = GlobalTensor(float32)
        self.xGm.SetGlobalBuffer(x)
        self.yGm = GlobalTensor(float32)
        self.yGm.SetGlobalBuffer(y)
        self.outGm = GlobalTensor(float32)
        self.outGm.SetGlobalBuffer(out)
        self.pipe.InitBuffer(self.xQueue, 1, self.n * sizeof(float32))
        self.pipe.InitBuffer(self.yQueue, 1, self.n * sizeof(float32))
        self.pipe.InitBuffer(self.outQueue, 1, self.n * sizeof(float32))

    def Process(self):
        self.CopyIn()
        self.Compute()
        self.CopyOut()

    def CopyIn(self):
        x = self.xQueue.AllocTensor(float32)
        params = DataCopyParams(1, self.n * sizeof(float32), 0, 0)
        DataCopyPad(x, self.xGm, params, DataCopyPadParams())
        self.xQueue.EnQue(x)
        y = self.yQueue.AllocTensor(float32)
        params = DataCopyParams(1, self.n * sizeof(float32), 0, 0)
        DataCopyPad(y, self.yGm, params, DataCopyPadParams())
        self.yQueue.EnQue(y)

    def Compute(self):
        n = self.n
        x = self.xQueue.DeQue(float32)
        y = self.yQueue.DeQue(float32)
        out = self.outQueue.AllocTensor(float32)
        Muls(out, x, UP, n)
        Div(out, out, y, n)
        Muls(out, out, 1 / UP, n)
        self.outQueue.EnQue(out)
        self.xQueue.FreeTensor(x)
        self.yQueue.FreeTensor(y)

    def CopyOut(self):
        out = self.outQueue.DeQue(float32)
        params = DataCopyParams(1, self.n * sizeof(float32), 0, 0)
        DataCopyPad(self.outGm, out, params)
        self.outQueue.FreeTensor(out)
