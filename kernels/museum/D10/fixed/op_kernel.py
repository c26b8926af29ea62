"""Each part of x is doubled; once all are, each block copies the parts that follow its own."""

from ascendsim.ascendc import *


def next_part(x, parts, out, workspace, tiling):
    op = NextPart()
    op.Init(x, parts, out, tiling)
    op.Process()


class NextPart:
    def __init__(self):
        self.pipe = TPipe()
        self.inQueue = TQue(TPosition.VECIN, 1)
        self.outQueue = TQue(TPosition.VECOUT, 1)

    def Init(self, x, parts, out, tiling):
        self.parts, self.part = tiling.parts, tiling.part
        self.mine = range(GetBlockIdx(), self.parts, GetBlockNum())
        self.xGm = GlobalTensor(float32)
        self.xGm.SetGlobalBuffer(x)
        self.partsGm = GlobalTensor(float32)
        self.partsGm.SetGlobalBuffer(parts)
        self.outGm = GlobalTensor(float32)
        self.outGm.SetGlobalBuffer(out)
        self.pipe.InitBuffer(self.inQueue, 1, self.part * sizeof(float32))
        self.pipe.InitBuffer(self.outQueue, 1, self.part * sizeof(float32))

    def Process(self):
        for number in self.mine:
            self.Scale(self.xGm, number, self.partsGm, number, 2.0)
        SyncAll()
        for number in self.mine:
            self.Scale(self.partsGm, (number + 1) % self.parts, self.outGm, number, 1.0)

    def Scale(self, source, number, target, place, factor):
        values = self.inQueue.AllocTensor(float32)
        DataCopy(values, source[number * self.part :], self.part)
        self.inQueue.EnQue(values)
        values = self.inQueue.DeQue(float32)
        scaled = self.outQueue.AllocTensor(float32)
        Muls(scaled, values, factor, self.part)
        self.outQueue.EnQue(scaled)
        self.inQueue.FreeTensor(values)
        scaled = self.outQueue.DeQue(float32)
        DataCopy(target[place * self.part :], scaled, self.part)
        self.outQueue.FreeTensor(scaled)
