"""The scratch buffer begins where half of the mask still follows."""

from ascendsim.ascendc import *

MASK_BYTES = 128  # of 256 that 2048 elements need
SCRATCH_BYTES = 128


def gated_select(x, out, workspace, tiling):
    op = GatedSelect()
    op.Init(x, out, tiling)
    op.Process()


class GatedSelect:
    def __init__(self):
        self.pipe = TPipe()
        self.xQueue = TQue(TPosition.VECIN, 1)
        self.outQueue = TQue(TPosition.VECOUT, 1)
        self.workBuf = TBuf(TPosition.VECCALC)

    def Init(self, x, out, tiling):
        self.n = tiling.totalLength
        self.xGm = GlobalTensor(float32)
        self.xGm.SetGlobalBuffer(x)
        self.outGm = GlobalTensor(float32)
        self.outGm.SetGlobalBuffer(out)
        self.pipe.InitBuffer(self.xQueue, 1, self.n * sizeof(float32))
        self.pipe.InitBuffer(self.outQueue, 1, self.n * sizeof(float32))
        self.pipe.InitBuffer(self.workBuf, MASK_BYTES + SCRATCH_BYTES + 128)

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
        mask = self.workBuf.GetWithOffset(uint8_t, n // 8, 0)
        scratch = self.workBuf.GetWithOffset(float32, SCRATCH_BYTES // sizeof(float32), MASK_BYTES)
        CompareScalar(mask, x, 0.0, CMPMODE.GT, n)
        Duplicate(scratch, 0.0, SCRATCH_BYTES // sizeof(float32))
        Select(out, mask, x, 0.0, SELMODE.VSEL_TENSOR_SCALAR_MODE, n)
        self.outQueue.EnQue(out)
        self.xQueue.FreeTensor(x)

    def CopyOut(self):
        out = self.outQueue.DeQue(float32)
        params = DataCopyParams(1, self.n * sizeof(float32), 0, 0)
        DataCopyPad(self.outGm, out, params)
        self.outQueue.FreeTensor(out)
