"""Only 0 itself is 0."""

from ascendsim.ascendc import *

EULER = 0.5772156649015329


def expint_small(x, out, workspace, tiling):
    op = ExpintSmall()
    op.Init(x, out, tiling)
    op.Process()


class ExpintSmall:
    def __init__(self):
        self.pipe = TPipe()
        self.xQueue = TQue(TPosition.VECIN, 1)
        self.outQueue = TQue(TPosition.VECOUT, 1)
        self.leastBuf = TBuf(TPosition.VECCALC)
        self.maskBuf = TBuf(TPosition.VECCALC)

    def Init(self, x, out, tiling):
        self.n = tiling.totalLength
        self.xGm = GlobalTensor(float32)
        self.xGm.SetGlobalBuffer(x)
        self.outGm = GlobalTensor(float32)
        self.outGm.SetGlobalBuffer(out)
        self.pipe.InitBuffer(self.xQueue, 1, self.n * sizeof(float32))
        self.pipe.InitBuffer(self.outQueue, 1, self.n * sizeof(float32))
        self.pipe.InitBuffer(self.leastBuf, self.n * sizeof(float32))
        self.pipe.InitBuffer(self.maskBuf, self.n // 8)

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
        least = self.leastBuf.Get(float32)
        mask = self.maskBuf.Get(uint8_t)
        Ln(out, x, n)
        Adds(out, out, EULER, n)
        Add(out, out, x, n)
        Duplicate(least, float("-inf"), n)
        CompareScalar(mask, x, 0.0, CMPMODE.EQ, n)
        Select(out, mask, least, out, SELMODE.VSEL_TENSOR_TENSOR_MODE, n)
        self.outQueue.EnQue(out)
        self.xQueue.FreeTensor(x)

    def CopyOut(self):
        out = self.outQueue.DeQue(float32)
        params = DataCopyParams(1, self.n * sizeof(float32), 0, 0)
        DataCopyPad(self.outGm, out, params)
        self.outQueue.FreeTensor(out)
