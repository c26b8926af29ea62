"""PingPong: two slots of UB by turns, each handed on with SetFlag and WaitFlag."""

from ascendsim.ascendc import *

SLOTS = 2


def ping_pong(x, out, workspace, tiling):
    op = PingPong(x.dtype)
    op.Init(x, out, tiling)
    op.Process()


class PingPong:
    def __init__(self, T):
        self.T = T
        self.pipe = TPipe()
        self.xBuf = [TBuf(TPosition.VECCALC) for _ in range(SLOTS)]
        self.yBuf = [TBuf(TPosition.VECCALC) for _ in range(SLOTS)]
        self.tmpBuf = TBuf(TPosition.VECCALC)
        self.xGm, self.outGm = GlobalTensor(T), GlobalTensor(T)

    def Init(self, x, out, tiling):
        self.n = tiling.tileLength
        perBlock = self.n * tiling.tilesPerBlock
        start = GetBlockIdx() * perBlock
        self.tiles = min(perBlock, tiling.totalLength - start) // self.n
        self.xGm.SetGlobalBuffer(x[start:], self.tiles * self.n)
        self.outGm.SetGlobalBuffer(out[start:], self.tiles * self.n)
        for buf in (*self.xBuf, *self.yBuf, self.tmpBuf):
            self.pipe.InitBuffer(buf, self.n * sizeof(self.T))

    def Process(self):
        for slot in range(SLOTS):
            SetFlag(HardEvent.V_MTE2, slot)  # both inputs are free
            SetFlag(HardEvent.MTE3_V, slot)  # both outputs are free
        for i in range(self.tiles):
            self.CopyIn(i, i % SLOTS)
            self.Compute(i % SLOTS)
            self.CopyOut(i, i % SLOTS)
        for slot in range(SLOTS):
            WaitFlag(HardEvent.V_MTE2, slot)  # no flag stays set
            WaitFlag(HardEvent.MTE3_V, slot)  # nor here

    def CopyIn(self, i, slot):
        WaitFlag(HardEvent.V_MTE2, slot)
        DataCopy(self.xBuf[slot].Get(self.T), self.xGm[i * self.n :], self.n)
        SetFlag(HardEvent.MTE2_V, slot)

    def Compute(self, slot):
        x, y = self.xBuf[slot].Get(self.T), self.yBuf[slot].Get(self.T)
        tmp = self.tmpBuf.Get(self.T)
        WaitFlag(HardEvent.MTE2_V, slot)
        Muls(tmp, x, 2.0, self.n)
        SetFlag(HardEvent.V_MTE2, slot)
        PipeBarrier(PIPE_V)  # Adds reads tmp
        WaitFlag(HardEvent.MTE3_V, slot)
        Adds(y, tmp, 1.0, self.n)
        PipeBarrier(PIPE_V)  # the next Muls writes tmp
        SetFlag(HardEvent.V_MTE3, slot)

    def CopyOut(self, i, slot):
        WaitFlag(HardEvent.V_MTE3, slot)
        DataCopy(self.outGm[i * self.n :], self.yBuf[slot].Get(self.T), self.n)
        SetFlag(HardEvent.MTE3_V, slot)
