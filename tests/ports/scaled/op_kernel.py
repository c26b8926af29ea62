"""Scaled: the scale, counter mode, lanes of a repeat, the pad register."""

from ascendsim.ascendc import *


def order(event):
    SetFlag(event, 0)
    WaitFlag(event, 0)


def scaled(x, out, workspace, tiling):
    pipe, xBuf, outBuf = TPipe(), TBuf(TPosition.VECCALC), TBuf(TPosition.VECCALC)
    pipe.InitBuffer(xBuf, tiling.total * sizeof(int32))
    pipe.InitBuffer(outBuf, tiling.total * sizeof(half))
    xGm, outGm = GlobalTensor(int32), GlobalTensor(half)
    xGm.SetGlobalBuffer(x, tiling.total)
    outGm.SetGlobalBuffer(out, tiling.total)
    xLocal, outLocal = xBuf.Get(int32), outBuf.Get(half)
    pad = DataCopyPadParams(True, 0, 0, 7)
    DataCopyPad(xLocal, xGm, DataCopyParams(1, tiling.total * sizeof(int32), 0, 0), pad)
    order(HardEvent.MTE2_V)
    SetDeqScale(0.75)
    Cast(outLocal, xLocal, RoundMode.CAST_NONE, tiling.total)
    PipeBarrier(PIPE_V)
    SetMaskCount()
    SetVectorMask(half, MaskMode.COUNTER, 100)
    steps = UnaryRepeatParams(1, 1, 8, 8)
    Adds(outLocal, outLocal, 1.0, MASK_PLACEHOLDER, 1, steps, isSetMask=False)
    PipeBarrier(PIPE_V)
    SetMaskNorm()
    SetVectorMask(half, 0xFFFFFFF << 36, 0)
    Adds(outLocal, outLocal, 1.0, MASK_PLACEHOLDER, 1, steps, isSetMask=False)
    ResetMask()
    order(HardEvent.V_MTE3)
    DataCopy(outGm, outLocal, tiling.total)
