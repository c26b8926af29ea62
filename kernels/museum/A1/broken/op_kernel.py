"""Where outputs is 0 the other branch is taken."""

from ascendsim.ascendc import *

SCALE, ALPHA = 1.0507009873554805, 1.6732632423543772


def selu_grad(grad, outputs, out, workspace, tiling):
    op = SeluGrad()
    op.Init(grad, outputs, out, tiling)
    op.Process()


class SeluGrad:
    def __init__(self):
        self.pipe = TPipe()
        self.gradQueue = TQue(TPosition.VECIN, 1)
        self.outputsQueue = TQue(TPosition.VECIN, 1)
        self.outQueue = TQue(TPosition.VECOUT, 1)
        self.branchBuf = TBuf(TPosition.VECCALC)
        self.maskBuf = TBuf(TPosition.VECCALC)

    def Init(self, grad, outputs, out, tiling):
        self.n = tiling.totalLength
        self.gradGm = GlobalTensor(float32)
        self.gradGm.SetGlobalBuffer(grad)
        self.outputsGm = GlobalTensor(float32)
        self.outputsGm.SetGlobalBuffer(outputs)
        self.outGm = GlobalTensor(float32)
        self.outGm.SetGlobalBuffer(out)
        self.pipe.InitBuffer(self.gradQueue, 1, self.n * sizeof(float32))
        self.pipe.InitBuffer(self.outputsQueue, 1, self.n * sizeof(float32))
        self.pipe.InitBuffer(self.outQueue, 1, self.n * sizeof(float32))
        self.pipe.InitBuffer(self.branchBuf, self.n * sizeof(float32))
        self.pipe.InitBuffer(self.maskBuf, self.n // 8)

    def Process(self):
        self.CopyIn()
        self.Compute()
        self.CopyOut()

    def CopyIn(self):
        grad = self.gradQueue.AllocTensor(float32)
        params = DataCopyParams(1, self.n * sizeof(float32), 0, 0)
        DataCopyPad(grad, self.gradGm, params, DataCopyPadParams())
        self.gradQueue.EnQue(grad)
        outputs = self.outputsQueue.AllocTensor(float32)
        params = DataCopyParams(1, self.n * sizeof(float32), 0, 0)
        DataCopyPad(outputs, self.outputsGm, params, DataCopyPadParams())
        self.outputsQueue.EnQue(outputs)

    def Compute(self):
        n = self.n
        grad = self.gradQueue.DeQue(float32)
        outputs = self.outputsQueue.DeQue(float32)
        out = self.outQueue.AllocTensor(float32)
        branch = self.branchBuf.Get(float32)
        mask = self.maskBuf.Get(uint8_t)
        Adds(branch, outputs, SCALE * ALPHA, n)
        Mul(branch, branch, grad, n)
        Muls(out, grad, SCALE, n)
        CompareScalar(mask, outputs, 0.0, CMPMODE.LT, n)
        Select(out, mask, branch, out, SELMODE.VSEL_TENSOR_TENSOR_MODE, n)
        self.outQueue.EnQue(out)
        self.gradQueue.FreeTensor(grad)
        self.outputsQueue.FreeTensor(outputs)

    def CopyOut(self):
        out = self.outQueue.DeQue(float32)
        params = DataCopyParams(1, self.n * sizeof(float32), 0, 0)
        DataCopyPad(self.outGm, out, params)
        self.outQueue.FreeTensor(out)
