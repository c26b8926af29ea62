"""Add, the tutorial kernel: z = x + y. Read it from top to bottom.

Each core (a "block") runs `add` once, on its own share of the tensors. The vector unit cannot
see global memory (GM); it works in UB, a small memory of its own. So a core takes its share tile
by tile: CopyIn (GM to UB), Compute (in UB), CopyOut (UB to GM). The three steps run on three
units of the core at the same time; the queues keep them in order.
"""

from ascendsim.ascendc import *

# Buffers per queue. With 2, tile i + 1 is fetched while tile i is computed; with 1, fetching has
# to wait until the only buffer is free again.
BUFFER_NUM = 2
# By tiling key: on hardware there is one compiled kernel per key, here T is a variable.
TYPES = {0: half, 1: float32}
PLACEMENT = {"conflict": 0, "clean": 1}
BANK_GROUPS_BYTES = 512  # 16 groups of 32 bytes; then the groups start again
REPEAT_BYTES = 256  # what the vector unit reads of each operand per cycle


def add(x, y, z, workspace, tiling):
    op = KernelAdd(TYPES[tiling.key])
    op.Init(x, y, z, tiling)
    op.Process()


class KernelAdd:
    def __init__(self, T):
        self.T = T
        self.pipe = TPipe()  # gives UB away, one piece after the other
        self.inQueueX = TQue(TPosition.VECIN, BUFFER_NUM)
        self.inQueueY = TQue(TPosition.VECIN, BUFFER_NUM)
        self.outQueueZ = TQue(TPosition.VECOUT, BUFFER_NUM)
        self.spareBuf = TBuf(TPosition.VECCALC)
        self.xGm = GlobalTensor(T)
        self.yGm = GlobalTensor(T)
        self.zGm = GlobalTensor(T)

    def Init(self, x, y, z, tiling):
        # All cores run the same code; their number tells them apart.
        blockOffset = tiling.blockLength * GetBlockIdx()
        # The last core may get less than the others.
        self.blockLength = max(min(tiling.blockLength, tiling.totalLength - blockOffset), 0)
        self.tileLength = tiling.tileLength
        self.xGm.SetGlobalBuffer(x[blockOffset:], self.blockLength)
        self.yGm.SetGlobalBuffer(y[blockOffset:], self.blockLength)
        self.zGm.SetGlobalBuffer(z[blockOffset:], self.blockLength)
        self.SetCacheHints(tiling.l2)
        self.InitBuffers(tiling.placement)

    def SetCacheHints(self, l2):
        # x and y are read once. Kept in L2 they only drive out what somebody will read again.
        if l2 >= 1:
            self.xGm.SetL2CacheHint(CacheMode.CACHE_MODE_DISABLE)
            self.yGm.SetL2CacheHint(CacheMode.CACHE_MODE_DISABLE)
        if l2 >= 2:
            self.zGm.SetL2CacheHint(CacheMode.CACHE_MODE_DISABLE)

    def InitBuffers(self, placement):
        tileBytes = self.tileLength * sizeof(self.T)
        shift = YShiftBytes(tileBytes, placement)
        self.pipe.InitBuffer(self.inQueueX, BUFFER_NUM, tileBytes)
        if shift:
            self.pipe.InitBuffer(self.spareBuf, shift)  # never used, it only moves y
        self.pipe.InitBuffer(self.inQueueY, BUFFER_NUM, tileBytes)
        self.pipe.InitBuffer(self.outQueueZ, BUFFER_NUM, tileBytes)

    def Process(self):
        for offset in range(0, self.blockLength, self.tileLength):
            # The last tile may be shorter: the tail.
            currentLength = min(self.tileLength, self.blockLength - offset)
            self.CopyIn(offset, currentLength)
            self.Compute(currentLength)
            self.CopyOut(offset, currentLength)

    def CopyIn(self, offset, currentLength):
        # AllocTensor waits until Compute has freed a buffer; this is what bounds the prefetch.
        x = self.inQueueX.AllocTensor(self.T)
        y = self.inQueueY.AllocTensor(self.T)
        # DataCopy moves whole 32 bytes only; DataCopyPad moves any number, so the tail too.
        copyParams = DataCopyExtParams(1, currentLength * sizeof(self.T), 0, 0, 0)
        padParams = DataCopyPadExtParams(self.T, False, 0, 0, 0)
        DataCopyPad(x, self.xGm[offset:], copyParams, padParams)
        DataCopyPad(y, self.yGm[offset:], copyParams, padParams)
        # The copies have only been started. EnQue marks "when this has arrived", DeQue waits.
        self.inQueueX.EnQue(x)
        self.inQueueY.EnQue(y)

    def Compute(self, currentLength):
        x = self.inQueueX.DeQue(self.T)
        y = self.inQueueY.DeQue(self.T)
        z = self.outQueueZ.AllocTensor(self.T)
        Add(z, x, y, currentLength)
        self.outQueueZ.EnQue(z)
        self.inQueueX.FreeTensor(x)
        self.inQueueY.FreeTensor(y)

    def CopyOut(self, offset, currentLength):
        z = self.outQueueZ.DeQue(self.T)
        copyParams = DataCopyExtParams(1, currentLength * sizeof(self.T), 0, 0, 0)
        DataCopyPad(self.zGm[offset:], z, copyParams)
        self.outQueueZ.FreeTensor(z)


def YShiftBytes(tileBytes, placement):
    """Spare bytes in front of y's buffers.

    On 910B address a lies in bank group (a >> 5) & 15, and a group serves one 32-byte row per
    cycle. A repeat reads 8 rows of x and 8 of y: they hit 16 different groups when y lies 256
    bytes (8 groups) further on than x, modulo the 512 bytes after which the groups start again.
    With `conflict` y simply follows x: in its groups when x takes a multiple of 512 bytes.
    """
    if placement == PLACEMENT["conflict"]:
        return 0
    return (REPEAT_BYTES - BUFFER_NUM * tileBytes) % BANK_GROUPS_BYTES
