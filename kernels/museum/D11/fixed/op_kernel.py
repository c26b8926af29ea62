"""Atomic mode ends before the plain copy."""

from ascendsim.ascendc import *


def histogram_total(x, total, copy, workspace, tiling):
    op = HistogramTotal()
    op.Init(x, total, copy, tiling)
    op.Process()


class HistogramTotal:
    def __init__(self):
        self.pipe = TPipe()
        self.xQueue = TQue(TPosition.VECIN, 1)

    def Init(self, x, total, copy, tiling):
        self.n = tiling.totalLength
        self.xGm = GlobalTensor(float32)
        self.xGm.SetGlobalBuffer(x)
        self.totalGm = GlobalTensor(float32)
        self.totalGm.SetGlobalBuffer(total)
        self.copyGm = GlobalTensor(float32)
        self.copyGm.SetGlobalBuffer(copy)
        self.pipe.InitBuffer(self.xQueue, 1, self.n * sizeof(float32))

    def Process(self):
        self.CopyIn()
        self.CopyOut()

    def CopyIn(self):
        InitOutput(self.totalGm, self.n, 0.0)
        InitOutput(self.copyGm, self.n, 5.0)
        PipeBarrier(PIPE_MTE3)
        x = self.xQueue.AllocTensor(float32)
        DataCopy(x, self.xGm, self.n)
        self.xQueue.EnQue(x)

    def CopyOut(self):
        x = self.xQueue.DeQue(float32)
        SetFlag(HardEvent.MTE2_MTE3, 0)
        WaitFlag(HardEvent.MTE2_MTE3, 0)
        SetAtomicAdd(float32)
        DataCopy(self.totalGm, x, self.n)
        SetAtomicNone()
        DataCopy(self.copyGm, x, self.n)
        SetFlag(HardEvent.MTE3_V, 0)
        WaitFlag(HardEvent.MTE3_V, 0)
        self.xQueue.FreeTensor(x)
