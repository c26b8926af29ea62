"""CAST_RINT takes ties to even, as the reference does."""

from ascendsim.ascendc import *


def to_bfloat16(x, out, workspace, tiling):
    op = ToBfloat16()
    op.Init(x, out, tiling)
    op.Process()


class ToBfloat16:
    def __init__(self):
        self.pipe = TPipe()
        self.xQueue = TQue(TPosition.VECIN, 1)
        self.outQueue = TQue(TPosition.VECOUT, 1)

    def Init(self, x, out, tiling):
        self.n = tiling.totalLength
        self.xGm = GlobalTensor(float32)
        self.xGm.SetGlobalBuffer(x)
        self.outGm = GlobalTensor(bfloat16_t)
        self.outGm.SetGlobalBuffer(out)
        self.pipe.InitBuffer(self.xQueue, 1, self.n * sizeof(float32))
        self.pipe.InitBuffer(self.outQueue, 1, self.n * sizeof(bfloat16_t))

    def Process(self):
        self.CopyIn()
        self.Compute()
        self.CopyOut()

    def CopyIn(self):
        x = self.xQueue.AllocTensor(float32)
        params = DataCopyParams(1, self.n * sizeof(float32), 0, 0)
        DataCopyPad(x, self.xGm, params, DataCopyPadParams())
        self.xQueue.EnQue(x)

    def Compute(self):
        n = self.n
        x = self.xQueue.DeQue(float32)
        out = self.outQueue.AllocTensor(bfloat16_t)
        Cast(out, x, RoundMode.CAST_RINT, n)
        self.outQueue.EnQue(out)
        self.xQueue.FreeTensor(x)

    def CopyOut(self):
        out = self.outQueue.DeQue(bfloat16_t)
        params = DataCopyParams(1, self.n * sizeof(bfloat16_t), 0, 0)
        DataCopyPad(self.outGm, out, params)
        self.outQueue.FreeTensor(out)
