"""V_MTE2 is not set at the end of a tile."""

from ascendsim.ascendc import *

TILES = 3


def scaled_tiles(x, out, workspace, tiling):
    op = ScaledTiles()
    op.Init(x, out, tiling)
    op.Process()


class ScaledTiles:
    def __init__(self):
        self.pipe = TPipe()
        self.xBuf = TBuf(TPosition.VECCALC)
        self.outBuf = TBuf(TPosition.VECCALC)

    def Init(self, x, out, tiling):
        self.n = tiling.totalLength
        self.xGm = GlobalTensor(float32)
        self.xGm.SetGlobalBuffer(x)
        self.outGm = GlobalTensor(float32)
        self.outGm.SetGlobalBuffer(out)
        self.pipe.InitBuffer(self.xBuf, self.n * sizeof(float32))
        self.pipe.InitBuffer(self.outBuf, self.n * sizeof(float32))

    def Process(self):
        SetFlag(HardEvent.V_MTE2, 0)
        for tile in range(TILES):
            self.Tile(tile)

    def Tile(self, tile):
        size = self.n // TILES
        x, out = self.xBuf.Get(float32), self.outBuf.Get(float32)
        WaitFlag(HardEvent.V_MTE2, 0)  # x is free
        DataCopy(x, self.xGm[tile * size :], size)
        SetFlag(HardEvent.MTE2_V, 0)
        WaitFlag(HardEvent.MTE2_V, 0)
        Muls(out, x, 2.0, size)
        SetFlag(HardEvent.V_MTE3, 0)
        WaitFlag(HardEvent.V_MTE3, 0)
        DataCopy(self.outGm[tile * size :], out, size)
        SetFlag(HardEvent.MTE3_V, 0)
        WaitFlag(HardEvent.MTE3_V, 0)
