"""NaN is looked for with NE, which is ordered on 910B."""

from ascendsim.ascendc import *

LAMBD = 0.5


def hard_shrink(x, out, workspace, tiling):
    op = HardShrink()
    op.Init(x, out, tiling)
    op.Process()


class HardShrink:
    def __init__(self):
        self.pipe = TPipe()
        self.xQueue = TQue(TPosition.VECIN, 1)
        self.outQueue = TQue(TPosition.VECOUT, 1)
        self.zeroBuf = TBuf(TPosition.VECCALC)
        self.maskBuf = TBuf(TPosition.VECCALC)

    def Init(self, x, out, tiling):
        self.n = tiling.totalLength
        self.xGm = GlobalTensor(float32)
        self.xGm.SetGlobalBuffer(x)
        self.outGm = GlobalTensor(float32)
        self.outGm.SetGlobalBuffer(out)
        self.pipe.InitBuffer(self.xQueue, 1, self.n * sizeof(float32))
        self.pipe.InitBuffer(self.outQueue, 1, self.n * sizeof(float32))
        self.pipe.InitBuffer(self.zeroBuf, self.n * sizeof(float32))
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
        zero = self.zeroBuf.Get(float32)
        mask = self.maskBuf.Get(uint8_t)
        Duplicate(zero, 0.0, n)
        Abs(out, x, n)
        CompareScalar(mask, out, LAMBD, CMPMODE.GT, n)
        Select(out, mask, x, zero, SELMODE.VSEL_TENSOR_TENSOR_MODE, n)
        Compare(mask, x, x, CMPMODE.NE, n)
        Select(out, mask, x, out, SELMODE.VSEL_TENSOR_TENSOR_MODE, n)
        self.outQueue.EnQue(out)
        self.xQueue.FreeTensor(x)

    def CopyOut(self):
        out = self.outQueue.DeQue(float32)
        params = DataCopyParams(1, self.n * sizeof(float32), 0, 0)
        DataCopyPad(self.outGm, out, params)
        self.outQueue.FreeTensor(out)
