"""The source is copied to the start of the slot."""

from ascendsim.ascendc import *


def widen_in_slot(x, out, workspace, tiling):
    op = WidenInSlot()
    op.Init(x, out, tiling)
    op.Process()


class WidenInSlot:
    def __init__(self):
        self.pipe = TPipe()
        self.xQueue = TQue(TPosition.VECIN, 1)
        self.outQueue = TQue(TPosition.VECOUT, 1)

    def Init(self, x, out, tiling):
        self.n = tiling.totalLength
        self.xGm = GlobalTensor(bfloat16_t)
        self.xGm.SetGlobalBuffer(x)
        self.outGm = GlobalTensor(float32)
        self.outGm.SetGlobalBuffer(out)
        self.pipe.InitBuffer(self.xQueue, 1, self.n * sizeof(float32))
        self.pipe.InitBuffer(self.outQueue, 1, self.n * sizeof(float32))

    def Process(self):
        self.CopyIn()
        self.Compute()
        self.CopyOut()

    def CopyIn(self):
        x = self.xQueue.AllocTensor(bfloat16_t)
        params = DataCopyParams(1, self.n * sizeof(bfloat16_t), 0, 0)
        DataCopyPad(x, self.xGm, params, DataCopyPadParams())
        self.xQueue.EnQue(x)

    def Compute(self):
        n = self.n
        x = self.xQueue.DeQue(bfloat16_t)
        out = self.outQueue.AllocTensor(float32)
        wide = x.ReinterpretCast(float32)
        Cast(wide, x, RoundMode.CAST_NONE, n)
        Muls(out, wide, 2.0, n)
        self.outQueue.EnQue(out)
        self.xQueue.FreeTensor(x)

    def CopyOut(self):
        out = self.outQueue.DeQue(float32)
        params = DataCopyParams(1, self.n * sizeof(float32), 0, 0)
        DataCopyPad(self.outGm, out, params)
        self.outQueue.FreeTensor(out)
