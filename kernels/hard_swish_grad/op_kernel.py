"""HardSwishGrad on ascend910b; follows ops-nn: experimental/activation/hard_swish_grad (op_kernel).

out = grad * slope, slope = 0 for x <= -3, 1 for x >= 3, x/3 + 0.5 between (x times a rounded
1/3). 16-bit types are computed in fp32. The tiling key selects the type.
"""

from ascendsim.ascendc import *

BUFFER_NUM = 1
COMPARE_ALIGN_NUM = 64  # a compare works on 256 bytes of fp32
MASK_ALIGN_BYTES = 256
LOWER, UPPER = -3.0, 3.0
ONE_THIRD, ONE_HALF = 0.3333333333333333, 0.5  # as fp32: 0x3eaaaaab, 0x3f000000
TYPES = {0: half, 1: float32, 2: bfloat16_t}


def hard_swish_grad(grad, x, out, workspace, tiling):
    op = HardSwishGrad(TYPES[tiling.key])
    op.Init(grad, x, out, tiling)
    op.Process()


class HardSwishGrad:
    def __init__(self, T):
        self.T = T
        self.pipe = TPipe()
        self.inputQueueX = TQue(TPosition.VECIN, BUFFER_NUM)
        self.inputQueueGrad = TQue(TPosition.VECIN, BUFFER_NUM)
        self.outputQueueY = TQue(TPosition.VECOUT, BUFFER_NUM)
        self.xFp32Buf = TBuf(TPosition.VECCALC)
        self.gradFp32Buf = TBuf(TPosition.VECCALC)
        self.slopeBuf = TBuf(TPosition.VECCALC)
        self.lowerBuf = TBuf(TPosition.VECCALC)
        self.upperBuf = TBuf(TPosition.VECCALC)
        self.zeroBuf = TBuf(TPosition.VECCALC)
        self.oneBuf = TBuf(TPosition.VECCALC)
        self.greaterMaskBuf = TBuf(TPosition.VECCALC)
        self.lessMaskBuf = TBuf(TPosition.VECCALC)
        self.xGm = GlobalTensor(T)
        self.gradGm = GlobalTensor(T)
        self.yGm = GlobalTensor(T)

    def Init(self, grad, x, y, tiling):
        blockOffset = tiling.blockFactor * GetBlockIdx()
        self.blockLength = max(min(tiling.blockFactor, tiling.totalNum - blockOffset), 0)
        self.ubFactor = tiling.ubFactor
        self.xGm.SetGlobalBuffer(x[blockOffset:], self.blockLength)
        self.gradGm.SetGlobalBuffer(grad[blockOffset:], self.blockLength)
        self.yGm.SetGlobalBuffer(y[blockOffset:], self.blockLength)
        if self.blockLength == 0:
            return
        self.InitBuffers()
        self.InitConstants()

    def InitBuffers(self):
        tileBytes = self.ubFactor * sizeof(self.T)
        fp32Bytes = self.ubFactor * sizeof(float32)
        maskBytes = max(CeilAlign(CeilDiv(self.ubFactor, 8), MASK_ALIGN_BYTES), MASK_ALIGN_BYTES)
        self.pipe.InitBuffer(self.inputQueueX, BUFFER_NUM, tileBytes)
        self.pipe.InitBuffer(self.inputQueueGrad, BUFFER_NUM, tileBytes)
        self.pipe.InitBuffer(self.outputQueueY, BUFFER_NUM, tileBytes)
        if self.T is not float32:
            self.pipe.InitBuffer(self.xFp32Buf, fp32Bytes)
            self.pipe.InitBuffer(self.gradFp32Buf, fp32Bytes)
        self.pipe.InitBuffer(self.slopeBuf, fp32Bytes)
        self.pipe.InitBuffer(self.lowerBuf, fp32Bytes)
        self.pipe.InitBuffer(self.upperBuf, fp32Bytes)
        self.pipe.InitBuffer(self.zeroBuf, fp32Bytes)
        self.pipe.InitBuffer(self.oneBuf, fp32Bytes)
        self.pipe.InitBuffer(self.greaterMaskBuf, maskBytes)
        self.pipe.InitBuffer(self.lessMaskBuf, maskBytes)

    def InitConstants(self):
        lower = self.lowerBuf.Get(float32)
        upper = self.upperBuf.Get(float32)
        zero = self.zeroBuf.Get(float32)
        one = self.oneBuf.Get(float32)
        Duplicate(lower, LOWER, self.ubFactor)
        Duplicate(upper, UPPER, self.ubFactor)
        Duplicate(zero, 0.0, self.ubFactor)
        Duplicate(one, 1.0, self.ubFactor)
        PipeBarrier(PIPE_V)

    def Process(self):
        if self.blockLength == 0:
            return
        loopCount = CeilDiv(self.blockLength, self.ubFactor)
        for i in range(loopCount):
            offset = i * self.ubFactor
            currentNum = min(self.ubFactor, self.blockLength - offset)
            self.CopyIn(offset, currentNum)
            self.Compute(currentNum)
            self.CopyOut(offset, currentNum)

    def CopyIn(self, offset, currentNum):
        x = self.inputQueueX.AllocTensor(self.T)
        grad = self.inputQueueGrad.AllocTensor(self.T)
        copyParams = DataCopyParams(1, currentNum * sizeof(self.T), 0, 0)
        padParams = DataCopyPadParams()
        DataCopyPad(x, self.xGm[offset:], copyParams, padParams)
        DataCopyPad(grad, self.gradGm[offset:], copyParams, padParams)
        self.inputQueueX.EnQue(x)
        self.inputQueueGrad.EnQue(grad)

    def Compute(self, currentNum):
        x = self.inputQueueX.DeQue(self.T)
        grad = self.inputQueueGrad.DeQue(self.T)
        y = self.outputQueueY.AllocTensor(self.T)
        # Compare needs whole windows; what lies behind the tail is computed and never stored.
        computeNum = CeilAlign(currentNum, COMPARE_ALIGN_NUM)
        if self.T is float32:
            slope = self.Slope(x, computeNum)
            Mul(y, grad, slope, computeNum)
        else:
            xFp32 = self.xFp32Buf.Get(float32)
            gradFp32 = self.gradFp32Buf.Get(float32)
            Cast(xFp32, x, RoundMode.CAST_NONE, currentNum)
            Cast(gradFp32, grad, RoundMode.CAST_NONE, currentNum)
            PipeBarrier(PIPE_V)
            slope = self.Slope(xFp32, computeNum)
            Mul(slope, gradFp32, slope, computeNum)
            PipeBarrier(PIPE_V)
            if self.T is bfloat16_t:
                Cast(y, slope, RoundMode.CAST_RINT, currentNum)
            else:
                Cast(y, slope, RoundMode.CAST_NONE, currentNum)
        self.outputQueueY.EnQue(y)
        self.inputQueueX.FreeTensor(x)
        self.inputQueueGrad.FreeTensor(grad)

    def Slope(self, x, computeNum):
        slope = self.slopeBuf.Get(float32)
        lower = self.lowerBuf.Get(float32)
        upper = self.upperBuf.Get(float32)
        zero = self.zeroBuf.Get(float32)
        one = self.oneBuf.Get(float32)
        greaterMask = self.greaterMaskBuf.Get(uint8_t)
        lessMask = self.lessMaskBuf.Get(uint8_t)
        Compare(greaterMask, x, lower, CMPMODE.GT, computeNum)
        Compare(lessMask, x, upper, CMPMODE.LT, computeNum)
        PipeBarrier(PIPE_V)
        Muls(slope, x, ONE_THIRD, computeNum)
        Adds(slope, slope, ONE_HALF, computeNum)
        PipeBarrier(PIPE_V)
        mode = SELMODE.VSEL_TENSOR_TENSOR_MODE
        Select(slope, greaterMask, slope, zero, mode, computeNum)
        PipeBarrier(PIPE_V)
        Select(slope, lessMask, slope, one, mode, computeNum)
        PipeBarrier(PIPE_V)
        return slope

    def CopyOut(self, offset, currentNum):
        y = self.outputQueueY.DeQue(self.T)
        copyParams = DataCopyParams(1, currentNum * sizeof(self.T), 0, 0)
        DataCopyPad(self.yGm[offset:], y, copyParams)
        self.outputQueueY.FreeTensor(y)


def CeilDiv(value, divisor):
    return (value + divisor - 1) // divisor


def CeilAlign(value, align):
    return CeilDiv(value, align) * align
