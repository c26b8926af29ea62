"""Not walks the mask in the strides of the comparison."""

from ascendsim.ascendc import *

LANES = 64  # of a repeat of the comparison


def not_equal(a, b, out, workspace, tiling):
    op = NotEqual()
    op.Init(a, b, out, tiling)
    op.Process()


class NotEqual:
    def __init__(self):
        self.pipe = TPipe()
        self.aQueue = TQue(TPosition.VECIN, 1)
        self.bQueue = TQue(TPosition.VECIN, 1)
        self.outQueue = TQue(TPosition.VECOUT, 1)
        self.oneBuf = TBuf(TPosition.VECCALC)
        self.zeroBuf = TBuf(TPosition.VECCALC)
        self.maskBuf = TBuf(TPosition.VECCALC)

    def Init(self, a, b, out, tiling):
        self.n = tiling.totalLength
        self.aGm = GlobalTensor(float32)
        self.aGm.SetGlobalBuffer(a)
        self.bGm = GlobalTensor(float32)
        self.bGm.SetGlobalBuffer(b)
        self.outGm = GlobalTensor(float32)
        self.outGm.SetGlobalBuffer(out)
        self.pipe.InitBuffer(self.aQueue, 1, self.n * sizeof(float32))
        self.pipe.InitBuffer(self.bQueue, 1, self.n * sizeof(float32))
        self.pipe.InitBuffer(self.outQueue, 1, self.n * sizeof(float32))
        self.pipe.InitBuffer(self.oneBuf, self.n * sizeof(float32))
        self.pipe.InitBuffer(self.zeroBuf, self.n * sizeof(float32))
        self.pipe.InitBuffer(self.maskBuf, self.n // 8 * 4)

    def Process(self):
        self.CopyIn()
        self.Compute()
        self.CopyOut()

    def CopyIn(self):
        a = self.aQueue.AllocTensor(float32)
        params = DataCopyParams(1, self.n * sizeof(float32), 0, 0)
        DataCopyPad(a, self.aGm, params, DataCopyPadParams())
        self.aQueue.EnQue(a)
        b = self.bQueue.AllocTensor(float32)
        params = DataCopyParams(1, self.n * sizeof(float32), 0, 0)
        DataCopyPad(b, self.bGm, params, DataCopyPadParams())
        self.bQueue.EnQue(b)

    def Compute(self):
        n = self.n
        a = self.aQueue.DeQue(float32)
        b = self.bQueue.DeQue(float32)
        out = self.outQueue.AllocTensor(float32)
        one = self.oneBuf.Get(float32)
        zero = self.zeroBuf.Get(float32)
        mask = self.maskBuf.Get(uint8_t)
        Duplicate(one, 1.0, n)
        Duplicate(zero, 0.0, n)
        bits = self.maskBuf.Get(uint16_t)
        Compare(mask, a, b, CMPMODE.EQ, n)
        strides = UnaryRepeatParams(1, 1, 1, 1)
        Not(bits, bits, LANES // 16, n // LANES, strides)  # 64 mask bits of every 32 bytes
        Select(out, mask, one, zero, SELMODE.VSEL_TENSOR_TENSOR_MODE, n)
        self.outQueue.EnQue(out)
        self.aQueue.FreeTensor(a)
        self.bQueue.FreeTensor(b)

    def CopyOut(self):
        out = self.outQueue.DeQue(float32)
        params = DataCopyParams(1, self.n * sizeof(float32), 0, 0)
        DataCopyPad(self.outGm, out, params)
        self.outQueue.FreeTensor(out)
