"""Foreach scale: each block walks its tensors of the list, tile by tile."""

from ascendsim.ascendc import *

TILE = 256


def foreach_scale(x, y, workspace, tiling):
    inputs, outputs = ListTensorDesc(x), ListTensorDesc()
    outputs.Init(y)
    pipe, first, T = TPipe(), GetBlockIdx(), x.addresses[0].dtype
    queueIn, queueOut = TQue(TPosition.VECIN, 2), TQue(TPosition.VECOUT, 2)
    pipe.InitBuffer(queueIn, 2, TILE * sizeof(T))
    pipe.InitBuffer(queueOut, 2, TILE * sizeof(T))
    for k in range(first, inputs.GetSize(), GetBlockNum()):
        source, target = GlobalTensor(T), GlobalTensor(T)
        source.SetGlobalBuffer(inputs.GetDataPtr(T, k))
        target.SetGlobalBuffer(outputs.GetDataPtr(T, k))
        size = getattr(tiling, f"size{k}")
        for start in range(0, size, TILE):
            count = min(TILE, size - start)
            copy = DataCopyExtParams(1, count * sizeof(T), 0, 0, 0)
            local = queueIn.AllocTensor(T)
            DataCopyPad(local, source[start:], copy, DataCopyPadExtParams(T, False, 0, 0, 0))
            queueIn.EnQue(local)
            local, result = queueIn.DeQue(T), queueOut.AllocTensor(T)
            Muls(result, local, tiling.factor, count)
            queueIn.FreeTensor(local)
            queueOut.EnQue(result)
            result = queueOut.DeQue(T)
            DataCopyPad(target[start:], result, copy)
            queueOut.FreeTensor(result)
