"""The sum runs over what was copied."""

from ascendsim.ascendc import *

TILE = 64


def tile_sums(x, out, workspace, tiling):
    op = TileSums()
    op.Init(x, out, tiling)
    op.Process()


class TileSums:
    def __init__(self):
        self.pipe = TPipe()
        self.xQueue = TQue(TPosition.VECIN, 1)
        self.outQueue = TQue(TPosition.VECOUT, 1)
        self.tmpBuf = TBuf(TPosition.VECCALC)

    def Init(self, x, out, tiling):
        self.n = tiling.totalLength
        self.xGm = GlobalTensor(float32)
        self.xGm.SetGlobalBuffer(x)
        self.outGm = GlobalTensor(float32)
        self.outGm.SetGlobalBuffer(out)
        self.pipe.InitBuffer(self.xQueue, 1, TILE * sizeof(float32))
        self.pipe.InitBuffer(self.outQueue, 1, TILE * sizeof(float32))
        self.pipe.InitBuffer(self.tmpBuf, TILE * sizeof(float32))

    def Process(self):
        for tile in range((self.n + TILE - 1) // TILE):
            self.Tile(tile, min(TILE, self.n - tile * TILE))

    def Tile(self, tile, count):
        x = self.xQueue.AllocTensor(float32)
        params = DataCopyParams(1, count * sizeof(float32), 0, 0)
        DataCopyPad(x, self.xGm[tile * TILE :], params, DataCopyPadParams())
        self.xQueue.EnQue(x)
        x, out = self.xQueue.DeQue(float32), self.outQueue.AllocTensor(float32)
        ReduceSum(out, x, self.tmpBuf.Get(float32), count)
        self.outQueue.EnQue(out)
        self.xQueue.FreeTensor(x)
        out = self.outQueue.DeQue(float32)
        DataCopyPad(self.outGm[tile:], out, DataCopyParams(1, sizeof(float32), 0, 0))
        self.outQueue.FreeTensor(out)
