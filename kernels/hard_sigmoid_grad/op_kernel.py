"""HardSigmoidGrad on ascend950; follows ops-nn: activation/hard_sigmoid_grad (op_kernel, arch35).

out = grad * alpha where 0 < alpha * x + beta < 1, else 0, with two scalar compares and two
selects. 16-bit types are computed in fp32. The tiling key selects the type.
"""

from ascendsim.ascendc import *

BUFFER_NUM = 2
COMPARE_ALIGN_NUM = 64  # a compare works on 256 bytes of fp32
MASK_ALIGN_BYTES = 32
TYPES = {0: float32, 1: half, 2: bfloat16_t}


def hard_sigmoid_grad(grad, x, out, workspace, tiling):
    op = HardSigmoidGrad(TYPES[tiling.key])
    op.Init(grad, x, out, tiling)
    op.Process()


class HardSigmoidGrad:
    def __init__(self, T):
        self.T = T
        self.pipe = TPipe()
        self.gradOutputQueue = TQue(TPosition.VECIN, BUFFER_NUM)
        self.selfQueue = TQue(TPosition.VECIN, BUFFER_NUM)
        self.gradInputQueue = TQue(TPosition.VECOUT, BUFFER_NUM)
        self.tmpBuf = TBuf(TPosition.VECCALC)
        self.gradFp32Buf = TBuf(TPosition.VECCALC)
        self.selfFp32Buf = TBuf(TPosition.VECCALC)
        self.maskBuf = TBuf(TPosition.VECCALC)
        self.gradOutputGm = GlobalTensor(T)
        self.selfGm = GlobalTensor(T)
        self.gradInputGm = GlobalTensor(T)

    def Init(self, gradOutput, selfInput, gradInput, tiling):
        blockOffset = tiling.blockFactor * GetBlockIdx()
        self.blockLength = min(tiling.blockFactor, tiling.totalLength - blockOffset)
        if self.blockLength <= 0:
            return
        self.ubFactor = tiling.ubFactor
        self.alpha = tiling.alpha
        self.beta = tiling.beta

        self.gradOutputGm.SetGlobalBuffer(gradOutput[blockOffset:], self.blockLength)
        self.selfGm.SetGlobalBuffer(selfInput[blockOffset:], self.blockLength)
        self.gradInputGm.SetGlobalBuffer(gradInput[blockOffset:], self.blockLength)

        tileBytes = self.ubFactor * sizeof(self.T)
        fp32Bytes = self.ubFactor * sizeof(float32)
        self.pipe.InitBuffer(self.gradOutputQueue, BUFFER_NUM, tileBytes)
        self.pipe.InitBuffer(self.selfQueue, BUFFER_NUM, tileBytes)
        self.pipe.InitBuffer(self.gradInputQueue, BUFFER_NUM, tileBytes)
        self.pipe.InitBuffer(self.tmpBuf, fp32Bytes)
        if self.T is not float32:
            self.pipe.InitBuffer(self.gradFp32Buf, fp32Bytes)
            self.pipe.InitBuffer(self.selfFp32Buf, fp32Bytes)
        maskBytes = CeilAlign(CeilDiv(self.ubFactor, 8), MASK_ALIGN_BYTES)
        self.pipe.InitBuffer(self.maskBuf, max(maskBytes, MASK_ALIGN_BYTES))

    def Process(self):
        if self.blockLength <= 0:
            return
        loopCount = CeilDiv(self.blockLength, self.ubFactor)
        for i in range(loopCount):
            offset = i * self.ubFactor
            currentNum = min(self.ubFactor, self.blockLength - offset)
            self.CopyIn(offset, currentNum)
            self.Compute(currentNum)
            self.CopyOut(offset, currentNum)

    def CopyIn(self, offset, currentNum):
        gradOutput = self.gradOutputQueue.AllocTensor(self.T)
        selfLocal = self.selfQueue.AllocTensor(self.T)
        copyParams = DataCopyParams(1, currentNum * sizeof(self.T), 0, 0)
        padParams = DataCopyPadParams()
        DataCopyPad(gradOutput, self.gradOutputGm[offset:], copyParams, padParams)
        DataCopyPad(selfLocal, self.selfGm[offset:], copyParams, padParams)
        self.gradOutputQueue.EnQue(gradOutput)
        self.selfQueue.EnQue(selfLocal)

    def Compute(self, currentNum):
        gradOutput = self.gradOutputQueue.DeQue(self.T)
        selfLocal = self.selfQueue.DeQue(self.T)
        gradInput = self.gradInputQueue.AllocTensor(self.T)
        mask = self.maskBuf.Get(uint8_t)
        alignNum = CeilAlign(currentNum, COMPARE_ALIGN_NUM)
        if self.T is not float32:
            gradFp32 = self.gradFp32Buf.Get(float32)
            selfFp32 = self.selfFp32Buf.Get(float32)
            tmp = self.tmpBuf.Get(float32)
            # The lanes behind the tail are compared too: give them a value outside (0, 1).
            Duplicate(tmp, -1.0, alignNum)
            Cast(gradFp32, gradOutput, RoundMode.CAST_NONE, currentNum)
            Cast(selfFp32, selfLocal, RoundMode.CAST_NONE, currentNum)
            self.Derive(selfFp32, gradFp32, selfFp32, tmp, mask, currentNum)
            if self.T is half:
                Cast(gradInput, selfFp32, RoundMode.CAST_RINT, currentNum)
            else:
                Cast(gradInput, selfFp32, RoundMode.CAST_ROUND, currentNum)
        else:
            tmp = self.tmpBuf.Get(float32)
            Duplicate(tmp, -1.0, alignNum)
            self.Derive(gradInput, gradOutput, selfLocal, tmp, mask, currentNum)
        self.gradInputQueue.EnQue(gradInput)
        self.gradOutputQueue.FreeTensor(gradOutput)
        self.selfQueue.FreeTensor(selfLocal)

    def Derive(self, result, grad, x, tmp, mask, currentNum):
        alignNum = CeilAlign(currentNum, COMPARE_ALIGN_NUM)
        Muls(tmp, x, self.alpha, currentNum)
        Adds(tmp, tmp, self.beta, currentNum)
        Muls(result, grad, self.alpha, currentNum)
        mode = SELMODE.VSEL_TENSOR_SCALAR_MODE
        CompareScalar(mask, tmp, 0.0, CMPMODE.GT, alignNum)
        Select(result, mask, result, 0.0, mode, currentNum)
        CompareScalar(mask, tmp, 1.0, CMPMODE.LT, alignNum)
        Select(result, mask, result, 0.0, mode, currentNum)

    def CopyOut(self, offset, currentNum):
        gradInput = self.gradInputQueue.DeQue(self.T)
        copyParams = DataCopyParams(1, currentNum * sizeof(self.T), 0, 0)
        DataCopyPad(self.gradInputGm[offset:], gradInput, copyParams)
        self.gradInputQueue.FreeTensor(gradInput)


def CeilDiv(value, divisor):
    return (value + divisor - 1) // divisor


def CeilAlign(value, align):
    return CeilDiv(value, align) * align
