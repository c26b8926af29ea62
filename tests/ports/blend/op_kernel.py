"""Blend: out = (|ln(max(x, y))| where x >= y, else x) * weight + shift."""

from ascendsim.ascendc import *

TILES_PER_BLOCK = 2
WINDOW = 128


def blend(x, y, weight, out, workspace, tiling):
    op = Blend(x.dtype)
    op.Init(x, y, weight, out, tiling)
    op.Process()


class Blend:
    def __init__(self, T):
        self.T = T
        self.pipe = TPipe()
        self.inQueueX = TQue(TPosition.VECIN, 1)
        self.inQueueY = TQue(TPosition.VECIN, 1)
        self.outQueue = TQue(TPosition.VECOUT, 1)
        self.maxBuf = TBuf(TPosition.VECCALC)
        self.maskBuf = TBuf(TPosition.VECCALC)

    def Init(self, x, y, weight, out, tiling):
        self.tileLength, self.shift = tiling.tileLength, tiling.shift
        self.start = GetBlockIdx() * TILES_PER_BLOCK * self.tileLength
        self.length = min(TILES_PER_BLOCK * self.tileLength, tiling.totalLength - self.start)
        if self.length <= 0:
            return
        self.xGm, self.yGm, self.outGm = (GlobalTensor(self.T) for _ in range(3))
        for gm, address in ((self.xGm, x), (self.yGm, y), (self.outGm, out)):
            gm.SetGlobalBuffer(address[self.start :], self.length)
        self.weightGm = GlobalTensor(self.T)
        self.weightGm.SetGlobalBuffer(weight, 1)
        tileBytes = self.tileLength * sizeof(self.T)
        for queue in (self.inQueueX, self.inQueueY, self.outQueue):
            self.pipe.InitBuffer(queue, 1, tileBytes)
        self.pipe.InitBuffer(self.maxBuf, tileBytes)
        self.pipe.InitBuffer(self.maskBuf, self.tileLength // 8)

    def Process(self):
        for offset in range(0, self.length, self.tileLength):
            count = min(self.tileLength, self.length - offset)
            self.CopyIn(offset, count)
            self.Compute(count)
            self.CopyOut(offset, count)

    def CopyIn(self, offset, count):
        params = DataCopyParams(1, count * sizeof(self.T), 0, 0)
        for queue, gm in ((self.inQueueX, self.xGm), (self.inQueueY, self.yGm)):
            local = queue.AllocTensor(self.T)
            DataCopyPad(local, gm[offset:], params, DataCopyPadParams())
            queue.EnQue(local)

    def Compute(self, count):
        x, y = self.inQueueX.DeQue(self.T), self.inQueueY.DeQue(self.T)
        out = self.outQueue.AllocTensor(self.T)
        larger, mask = self.maxBuf.Get(self.T), self.maskBuf.Get(uint8_t)
        aligned = (count + WINDOW - 1) // WINDOW * WINDOW
        lanes = 256 // sizeof(self.T)
        Max(larger, x, y, count)
        PipeBarrier(PIPE_V)
        Ln(larger, larger, count)
        Compare(mask, x, y, CMPMODE.GE, aligned)
        PipeBarrier(PIPE_V)
        Abs(larger, larger, lanes, aligned // lanes, UnaryRepeatParams(1, 1, 8, 8))
        PipeBarrier(PIPE_V)
        Select(out, mask, larger, x, SELMODE.VSEL_TENSOR_TENSOR_MODE, count)
        PipeBarrier(PIPE_V)
        Muls(out, out, self.weightGm.GetValue(0), count)
        Adds(out, out, self.shift, count)
        self.outQueue.EnQue(out)
        self.inQueueX.FreeTensor(x)
        self.inQueueY.FreeTensor(y)

    def CopyOut(self, offset, count):
        out = self.outQueue.DeQue(self.T)
        DataCopyPad(self.outGm[offset:], out, DataCopyParams(1, count * sizeof(self.T), 0, 0))
        self.outQueue.FreeTensor(out)
