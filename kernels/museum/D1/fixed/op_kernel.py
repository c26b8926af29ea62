"""The result goes through a queue of outputs, which waits for V."""

from ascendsim.ascendc import *

RATE, MOMENTUM = 0.01, 0.9


def apply_momentum(var, accum, grad, out, workspace, tiling):
    op = ApplyMomentum()
    op.Init(var, accum, grad, out, tiling)
    op.Process()


class ApplyMomentum:
    def __init__(self):
        self.pipe = TPipe()
        self.varQueue = TQue(TPosition.VECIN, 1)
        self.accumQueue = TQue(TPosition.VECIN, 1)
        self.gradQueue = TQue(TPosition.VECIN, 1)
        self.outQueue = TQue(TPosition.VECOUT, 1)

    def Init(self, var, accum, grad, out, tiling):
        self.n = tiling.totalLength
        self.varGm = GlobalTensor(float32)
        self.varGm.SetGlobalBuffer(var)
        self.accumGm = GlobalTensor(float32)
        self.accumGm.SetGlobalBuffer(accum)
        self.gradGm = GlobalTensor(float32)
        self.gradGm.SetGlobalBuffer(grad)
        self.outGm = GlobalTensor(float32)
        self.outGm.SetGlobalBuffer(out)
        self.pipe.InitBuffer(self.varQueue, 1, self.n * sizeof(float32))
        self.pipe.InitBuffer(self.accumQueue, 1, self.n * sizeof(float32))
        self.pipe.InitBuffer(self.gradQueue, 1, self.n * sizeof(float32))
        self.pipe.InitBuffer(self.outQueue, 1, self.n * sizeof(float32))

    def Process(self):
        self.CopyIn()
        self.Compute()
        self.CopyOut()

    def CopyIn(self):
        var = self.varQueue.AllocTensor(float32)
        params = DataCopyParams(1, self.n * sizeof(float32), 0, 0)
        DataCopyPad(var, self.varGm, params, DataCopyPadParams())
        self.varQueue.EnQue(var)
        accum = self.accumQueue.AllocTensor(float32)
        params = DataCopyParams(1, self.n * sizeof(float32), 0, 0)
        DataCopyPad(accum, self.accumGm, params, DataCopyPadParams())
        self.accumQueue.EnQue(accum)
        grad = self.gradQueue.AllocTensor(float32)
        params = DataCopyParams(1, self.n * sizeof(float32), 0, 0)
        DataCopyPad(grad, self.gradGm, params, DataCopyPadParams())
        self.gradQueue.EnQue(grad)

    def CopyOut(self):
        out = self.outQueue.DeQue(float32)
        params = DataCopyParams(1, self.n * sizeof(float32), 0, 0)
        DataCopyPad(self.outGm, out, params)
        self.outQueue.FreeTensor(out)

    def Compute(self):
        n = self.n
        var = self.varQueue.DeQue(float32)
        accum = self.accumQueue.DeQue(float32)
        grad = self.gradQueue.DeQue(float32)
        result = self.outQueue.AllocTensor(float32)
        Muls(accum, accum, MOMENTUM, n)
        Add(accum, accum, grad, n)
        Muls(grad, accum, RATE, n)
        Sub(result, var, grad, n)
        self.outQueue.EnQue(result)
        self.varQueue.FreeTensor(var)
        self.accumQueue.FreeTensor(accum)
        self.gradQueue.FreeTensor(grad)
