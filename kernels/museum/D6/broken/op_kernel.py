"""No V_MTE3 between Abs and the copy."""

from ascendsim.ascendc import *


def absolute(x, out, workspace, tiling):
    op = Absolute()
    op.Init(x, out, tiling)
    op.Process()


class Absolute:
    def __init__(self):
        self.pipe = TPipe()
        self.xQueue = TQue(TPosition.VECIN, 1)
        self.absBuf = TBuf(TPosition.VECCALC)

    def Init(self, x, out, tiling):
        self.n = tiling.totalLength
        self.xGm = GlobalTensor(float32)
        self.xGm.SetGlobalBuffer(x)
        self.outGm = GlobalTensor(float32)
        self.outGm.SetGlobalBuffer(out)
        self.pipe.InitBuffer(self.xQueue, 1, self.n * sizeof(float32))
        self.pipe.InitBuffer(self.absBuf, self.n * sizeof(float32))

    def Process(self):
        self.CopyIn()
        self.Compute()

    def CopyIn(self):
        x = self.xQueue.AllocTensor(float32)
        params = DataCopyParams(1, self.n * sizeof(float32), 0, 0)
        DataCopyPad(x, self.xGm, params, DataCopyPadParams())
        self.xQueue.EnQue(x)

    def Compute(self):
        x, result = self.xQueue.DeQue(float32), self.absBuf.Get(float32)
        Abs(result, x, self.n)
        params = DataCopyParams(1, self.n * sizeof(float32), 0, 0)
        DataCopyPad(self.outGm, result, params)
        self.xQueue.FreeTensor(x)
