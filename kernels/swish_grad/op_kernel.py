"""SwishGrad on ascend910b; follows ops-nn: experimental/activation/swish_grad (op_kernel).

out = grad * s * (1 + v*x*(1 - s)) with s = 1 / (1 + exp(-v*x)), v = sconf. Works on the tensor
rounded up to 32 bytes: the last core reads and writes up to 31 bytes past it.
"""

from ascendsim.ascendc import *

BUFFER_NUM = 2


def swish_grad(grad, x, out, workspace, tiling):
    op = SwishGrad(x.dtype)
    op.Init(grad, x, out, tiling)
    op.Process()


class SwishGrad:
    def __init__(self, T):
        self.T = T
        self.pipe = TPipe()
        self.inQueueGrad = TQue(TPosition.VECIN, BUFFER_NUM)
        self.inQueueX = TQue(TPosition.VECIN, BUFFER_NUM)
        self.outQueueGrad = TQue(TPosition.VECOUT, BUFFER_NUM)
        self.tmpQueue0 = TBuf(TPosition.VECCALC)
        self.tmpQueue1 = TBuf(TPosition.VECCALC)
        self.tmpQueue2 = TBuf(TPosition.VECCALC)
        self.gradGm = GlobalTensor(T)
        self.xGm = GlobalTensor(T)
        self.gradXGm = GlobalTensor(T)

    def Init(self, grad, x, gradX, tiling):
        coreIndex = GetBlockIdx()
        globalBufferIndex = tiling.bigCoreDataNum * coreIndex
        self.tileDataNum = tiling.tileDataNum
        if coreIndex < tiling.tailBlockNum:
            self.coreDataNum = tiling.bigCoreDataNum
            self.tileNum = tiling.finalBigTileNum
            self.tailDataNum = tiling.bigTailDataNum
        else:
            self.coreDataNum = tiling.smallCoreDataNum
            self.tileNum = tiling.finalSmallTileNum
            self.tailDataNum = tiling.smallTailDataNum
            saved = tiling.bigCoreDataNum - tiling.smallCoreDataNum
            globalBufferIndex -= saved * (coreIndex - tiling.tailBlockNum)
        self.value = tiling.sconf

        self.gradGm.SetGlobalBuffer(grad[globalBufferIndex:], self.coreDataNum)
        self.xGm.SetGlobalBuffer(x[globalBufferIndex:], self.coreDataNum)
        self.gradXGm.SetGlobalBuffer(gradX[globalBufferIndex:], self.coreDataNum)

        self.pipe.InitBuffer(self.inQueueGrad, BUFFER_NUM, self.tileDataNum * sizeof(self.T))
        self.pipe.InitBuffer(self.inQueueX, BUFFER_NUM, self.tileDataNum * sizeof(self.T))
        self.pipe.InitBuffer(self.outQueueGrad, BUFFER_NUM, self.tileDataNum * sizeof(self.T))
        self.pipe.InitBuffer(self.tmpQueue0, self.tileDataNum * sizeof(float32))
        if self.T is not float32:
            self.pipe.InitBuffer(self.tmpQueue1, self.tileDataNum * sizeof(float32))
            self.pipe.InitBuffer(self.tmpQueue2, self.tileDataNum * sizeof(float32))

    def Process(self):
        self.processDataNum = self.tileDataNum
        for i in range(self.tileNum):
            if i == self.tileNum - 1:
                self.processDataNum = self.tailDataNum
            self.CopyIn(i)
            self.Compute()
            self.CopyOut(i)

    def CopyIn(self, progress):
        grad = self.inQueueGrad.AllocTensor(self.T)
        x = self.inQueueX.AllocTensor(self.T)
        offset = progress * self.tileDataNum
        DataCopy(grad, self.gradGm[offset:], self.processDataNum)
        DataCopy(x, self.xGm[offset:], self.processDataNum)
        self.inQueueGrad.EnQue(grad)
        self.inQueueX.EnQue(x)

    def Compute(self):
        if self.T is float32:
            self.ComputeFp32()
        else:
            self.ComputeHalf()

    def ComputeFp32(self):
        n = self.processDataNum
        tmp0 = self.tmpQueue0.AllocTensor(float32)
        grad = self.inQueueGrad.DeQue(self.T)
        x = self.inQueueX.DeQue(self.T)
        out = self.outQueueGrad.AllocTensor(self.T)
        Muls(x, x, self.value, n)
        Muls(tmp0, x, -1.0, n)
        Exp(tmp0, tmp0, n)
        Adds(tmp0, tmp0, 1.0, n)
        Duplicate(out, 1.0, n)
        Div(out, out, tmp0, n)  # the sigmoid
        Duplicate(tmp0, 1.0, n)
        Sub(tmp0, tmp0, out, n)
        Mul(x, x, tmp0, n)
        Duplicate(tmp0, 1.0, n)
        Add(x, tmp0, x, n)
        Mul(out, out, x, n)
        Mul(out, grad, out, n)
        self.outQueueGrad.EnQue(out)
        self.inQueueGrad.FreeTensor(grad)
        self.inQueueX.FreeTensor(x)

    def ComputeHalf(self):
        n = self.processDataNum
        grad = self.inQueueGrad.DeQue(self.T)
        x = self.inQueueX.DeQue(self.T)
        out = self.outQueueGrad.AllocTensor(self.T)
        tmp0 = self.tmpQueue0.AllocTensor(float32)
        tmp1 = self.tmpQueue1.AllocTensor(float32)
        tmp2 = self.tmpQueue2.AllocTensor(float32)
        Cast(tmp0, x, RoundMode.CAST_NONE, n)
        Muls(tmp0, tmp0, self.value, n)
        Muls(tmp1, tmp0, -1.0, n)
        Exp(tmp1, tmp1, n)
        Adds(tmp1, tmp1, 1.0, n)
        Duplicate(tmp2, 1.0, n)
        Div(tmp1, tmp2, tmp1, n)  # the sigmoid
        Sub(tmp2, tmp2, tmp1, n)
        Mul(tmp0, tmp0, tmp2, n)
        Duplicate(tmp2, 1.0, n)
        Add(tmp0, tmp2, tmp0, n)
        Mul(tmp0, tmp1, tmp0, n)
        Cast(tmp1, grad, RoundMode.CAST_NONE, n)
        Mul(tmp0, tmp1, tmp0, n)
        Cast(out, tmp0, RoundMode.CAST_RINT, n)
        self.outQueueGrad.EnQue(out)
        self.inQueueGrad.FreeTensor(grad)
        self.inQueueX.FreeTensor(x)

    def CopyOut(self, progress):
        out = self.outQueueGrad.DeQue(self.T)
        DataCopy(self.gradXGm[progress * self.tileDataNum :], out, self.processDataNum)
        self.outQueueGrad.FreeTensor(out)
