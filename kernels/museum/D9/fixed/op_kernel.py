"""The scalar unit waits for V."""

from ascendsim.ascendc import *


def scaled_by_first(x, out, workspace, tiling):
    op = ScaledByFirst()
    op.Init(x, out, tiling)
    op.Process()


class ScaledByFirst:
    def __init__(self):
        self.pipe = TPipe()
        self.xQueue = TQue(TPosition.VECIN, 1)
        self.outQueue = TQue(TPosition.VECOUT, 1)
        self.sumBuf = TBuf(TPosition.VECCALC)

    def Init(self, x, out, tiling):
        self.n = tiling.totalLength
        self.xGm = GlobalTensor(float32)
        self.xGm.SetGlobalBuffer(x)
        self.outGm = GlobalTensor(float32)
        self.outGm.SetGlobalBuffer(out)
        self.pipe.InitBuffer(self.xQueue, 1, self.n * sizeof(float32))
        self.pipe.InitBuffer(self.outQueue, 1, self.n * sizeof(float32))
        self.pipe.InitBuffer(self.sumBuf, self.n * sizeof(float32))

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
        out = self.outQueue.AllocTensor(float32)
        sum = self.sumBuf.Get(float32)
        Adds(sum, x, 1.0, n)
        SetFlag(HardEvent.V_S, 0)
        WaitFlag(HardEvent.V_S, 0)
        first = sum.GetValue(0)
        Muls(out, x, first, n)
        self.outQueue.EnQue(out)
        self.xQueue.FreeTensor(x)

    def CopyOut(self):
        out = self.outQueue.DeQue(float32)
        params = DataCopyParams(1, self.n * sizeof(float32), 0, 0)
        DataCopyPad(self.outGm, out, params)
        self.outQueue.FreeTensor(out)
