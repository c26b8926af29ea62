"""GmCopy: copies from GM to UB one after the other, with nothing that they have to wait for.

They go round through a few slots of UB. Nobody reads the slots before the end, and copies of one
pipe finish in order, so the queue of MTE2 is always full: what a run takes is the time of MTE2.
"""

from ascendsim.ascendc import *

DATABLOCK_BYTES = 32


def gm_copy(x, z, workspace, tiling):
    op = GmCopy(x.dtype)
    op.Init(x, z, tiling)
    op.Process()


class GmCopy:
    def __init__(self, T):
        self.T = T
        self.pipe = TPipe()
        self.slotBuf = TBuf(TPosition.VECCALC)
        self.xGm = GlobalTensor(T)
        self.zGm = GlobalTensor(T)

    def Init(self, x, z, tiling):
        self.tiling = tiling
        self.xGm.SetGlobalBuffer(x, tiling.rows * tiling.columns)
        self.zGm.SetGlobalBuffer(z[GetBlockIdx() * self.PerBlock() :], self.PerBlock())
        if tiling.l2:
            self.xGm.SetL2CacheHint(CacheMode.CACHE_MODE_DISABLE)
        self.pipe.InitBuffer(self.slotBuf, tiling.slots * tiling.slotBytes)
        slots = self.slotBuf.Get(self.T)
        slotNum = tiling.slotBytes // sizeof(self.T)
        self.slots = [slots[i * slotNum :] for i in range(tiling.slots)]

    def PerBlock(self):
        return DATABLOCK_BYTES // sizeof(self.T)

    def Process(self):
        turn = 0
        for sliceStart in range(0, self.tiling.columns, self.tiling.sliceColumns):
            pieces = self.Pieces(sliceStart)
            for _ in range(self.tiling.passes):
                for piece in pieces:
                    slot = self.slots[turn % self.tiling.slots]
                    self.CopyIn(slot, *piece)
                    turn += 1
        self.CopyOut(slot)

    def Pieces(self, sliceStart):
        """Return (row, rows, column, columns) of each copy of one slice, in order."""
        t = self.tiling
        firstRow = 0 if t.order else t.coreRows * GetBlockIdx()
        rowNum = min(firstRow + t.coreRows, t.rows) - firstRow
        start = max(sliceStart, t.firstColumn)
        stop = min(sliceStart + t.sliceColumns, t.columns)
        pieces = [
            (
                firstRow + row,
                min(t.bursts, rowNum - row),
                column,
                min(t.burstColumns, stop - column),
            )
            for row in range(0, rowNum, t.bursts)
            for column in range(start, stop, t.burstColumns)
        ]
        first = len(pieces) * GetBlockIdx() // GetBlockNum() if t.order == 2 else 0
        return pieces[first:] + pieces[:first]

    def CopyIn(self, slot, row, rows, column, columns):
        source = self.xGm[row * self.tiling.columns + column :]
        length = columns * sizeof(self.T)
        gap = self.tiling.columns * sizeof(self.T) - length if rows > 1 else 0
        aligned = column % self.PerBlock() == 0 and self.tiling.columns % self.PerBlock() == 0
        if aligned and length % DATABLOCK_BYTES == 0:
            params = DataCopyParams(rows, length // DATABLOCK_BYTES, gap // DATABLOCK_BYTES, 0)
            DataCopy(slot, source, params)
        else:
            params = DataCopyExtParams(rows, length, gap, 0, 0)
            DataCopyPad(slot, source, params, DataCopyPadExtParams(self.T, False, 0, 0, 0))

    def CopyOut(self, slot):
        eventID = self.pipe.FetchEventID(HardEvent.MTE2_MTE3)
        SetFlag(HardEvent.MTE2_MTE3, eventID)
        WaitFlag(HardEvent.MTE2_MTE3, eventID)
        DataCopy(self.zGm, slot, self.PerBlock())
