"""256 is taken off what does not fit, as a wrapping conversion does."""

from ascendsim.ascendc import *

SCALE = 1.05078125  # 1.0507009873554805 as half


def selu_wrapping(x, out, workspace, tiling):
    op = SeluWrapping()
    op.Init(x, out, tiling)
    op.Process()


class SeluWrapping:
    def __init__(self):
        self.pipe = TPipe()
        self.xQueue = TQue(TPosition.VECIN, 1)
        self.outQueue = TQue(TPosition.VECOUT, 1)
        self.productBuf = TBuf(TPosition.VECCALC)
        self.wrappedBuf = TBuf(TPosition.VECCALC)
        self.narrowBuf = TBuf(TPosition.VECCALC)
        self.maskBuf = TBuf(TPosition.VECCALC)

    def Init(self, x, out, tiling):
        self.n = tiling.totalLength
        self.xGm = GlobalTensor(half)
        self.xGm.SetGlobalBuffer(x)
        self.outGm = GlobalTensor(int8_t)
        self.outGm.SetGlobalBuffer(out)
        self.pipe.InitBuffer(self.xQueue, 1, self.n * sizeof(half))
        self.pipe.InitBuffer(self.outQueue, 1, self.n * sizeof(int8_t))
        self.pipe.InitBuffer(self.productBuf, self.n * sizeof(float32))
        self.pipe.InitBuffer(self.wrappedBuf, self.n * sizeof(float32))
        self.pipe.InitBuffer(self.narrowBuf, self.n * sizeof(half))
        self.pipe.InitBuffer(self.maskBuf, self.n // 8)

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
        out = self.outQueue.AllocTensor(int8_t)
        product = self.productBuf.Get(float32)
        wrapped = self.wrappedBuf.Get(float32)
        narrow = self.narrowBuf.Get(half)
        mask = self.maskBuf.Get(uint8_t)
        Cast(product, x, RoundMode.CAST_NONE, n)
        Muls(product, product, SCALE, n)
        Cast(product, product, RoundMode.CAST_TRUNC, n)

        CompareScalar(mask, product, 128.0, CMPMODE.GE, n)
        Adds(wrapped, product, -256.0, n)
        Select(product, mask, wrapped, product, SELMODE.VSEL_TENSOR_TENSOR_MODE, n)
        Cast(narrow, product, RoundMode.CAST_NONE, n)
        Cast(out, narrow, RoundMode.CAST_TRUNC, n)
        self.outQueue.EnQue(out)
        self.xQueue.FreeTensor(x)

    def CopyOut(self):
        out = self.outQueue.DeQue(int8_t)
        params = DataCopyParams(1, self.n * sizeof(int8_t), 0, 0)
        DataCopyPad(self.outGm, out, params)
        self.outQueue.FreeTensor(out)
