"""(derivative * grad) * cof overflows on the way."""

from ascendsim.ascendc import *

COF = 1 / 1024


def mean_grad(derivative, grad, out, workspace, tiling):
    op = MeanGrad()
    op.Init(derivative, grad, out, tiling)
    op.Process()


class MeanGrad:
    def __init__(self):
        self.pipe = TPipe()
        self.derivativeQueue = TQue(TPosition.VECIN, 1)
        self.gradQueue = TQue(TPosition.VECIN, 1)
        self.outQueue = TQue(TPosition.VECOUT, 1)

    def Init(self, derivative, grad, out, tiling):
        self.n = tiling.totalLength
        self.derivativeGm = GlobalTensor(float32)
        self.derivativeGm.SetGlobalBuffer(derivative)
        self.gradGm = GlobalTensor(float32)
        self.gradGm.SetGlobalBuffer(grad)
        self.outGm = GlobalTensor(float32)
        self.outGm.SetGlobalBuffer(out)
        self.pipe.InitBuffer(self.derivativeQueue, 1, self.n * sizeof(float32))
        self.pipe.InitBuffer(self.gradQueue, 1, self.n * sizeof(float32))
        self.pipe.InitBuffer(self.outQueue, 1, self.n * sizeof(float32))

    def Process(self):
        self.CopyIn()
        self.Compute()
        self.CopyOut()

    def CopyIn(self):
        derivative = self.derivativeQueue.AllocTensor(float32)
        params = DataCopyParams(1, self.n * sizeof(float32), 0, 0)
        DataCopyPad(derivative, self.derivativeGm, params, DataCopyPadParams())
        self.derivativeQueue.EnQue(derivative)
        grad = self.gradQueue.AllocTensor(float32)
        params = DataCopyParams(1, self.n * sizeof(float32), 0, 0)
        DataCopyPad(grad, self.gradGm, params, DataCopyPadParams())
        self.gradQueue.EnQue(grad)

    def Compute(self):
        n = self.n
        derivative = self.derivativeQueue.DeQue(float32)
        grad = self.gradQueue.DeQue(float32)
        out = self.outQueue.AllocTensor(float32)
        Mul(out, derivative, grad, n)
        Muls(out, out, COF, n)
        self.outQueue.EnQue(out)
        self.derivativeQueue.FreeTensor(derivative)
        self.gradQueue.FreeTensor(grad)

    def CopyOut(self):
        out = self.outQueue.DeQue(float32)
        params = DataCopyParams(1, self.n * sizeof(float32), 0, 0)
        DataCopyPad(self.outGm, out, params)
        self.outQueue.FreeTensor(out)
