"""The mask comes after exp(power * ln(x)), which is infinite at 0."""

from ascendsim.ascendc import *

POWER = -3.0


def power_grad(x, out, workspace, tiling):
    op = PowerGrad()
    op.Init(x, out, tiling)
    op.Process()


class PowerGrad:
    def __init__(self):
        self.pipe = TPipe()
        self.xQueue = TQue(TPosition.VECIN, 1)
        self.outQueue = TQue(TPosition.VECOUT, 1)
        self.oneBuf = TBuf(TPosition.VECCALC)
        self.keepBuf = TBuf(TPosition.VECCALC)
        self.maskBuf = TBuf(TPosition.VECCALC)

    def Init(self, x, out, tiling):
        self.n = tiling.totalLength
        self.xGm = GlobalTensor(float32)
        self.xGm.SetGlobalBuffer(x)
        self.outGm = GlobalTensor(float32)
        self.outGm.SetGlobalBuffer(out)
        self.pipe.InitBuffer(self.xQueue, 1, self.n * sizeof(float32))
        self.pipe.InitBuffer(self.outQueue, 1, self.n * sizeof(float32))
        self.pipe.InitBuffer(self.oneBuf, self.n * sizeof(float32))
        self.pipe.InitBuffer(self.keepBuf, self.n * sizeof(float32))
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
        one = self.oneBuf.Get(float32)
        keep = self.keepBuf.Get(float32)
        mask = self.maskBuf.Get(uint8_t)
        Duplicate(one, 1.0, n)
        CompareScalar(mask, x, 0.0, CMPMODE.GT, n)
        Select(keep, mask, one, 0.0, SELMODE.VSEL_TENSOR_SCALAR_MODE, n)
        Ln(out, x, n)
        Muls(out, out, POWER, n)
        Exp(out, out, n)
        Mul(out, out, keep, n)
        self.outQueue.EnQue(out)
        self.xQueue.FreeTensor(x)

    def CopyOut(self):
        out = self.outQueue.DeQue(float32)
        params = DataCopyParams(1, self.n * sizeof(float32), 0, 0)
        DataCopyPad(self.outGm, out, params)
        self.outQueue.FreeTensor(out)
