"""Tiling of GmCopy: which rows a core reads, and in which pieces."""

from ascendsim.host import CeilAlign, CeilDiv, Tiling, TilingError

DATABLOCK_BYTES = 32
MAX_BURSTS = 4095  # 12 bits of the copy parameters
MAX_SLOTS = 8
L2 = {"allocate": 0, "bypass": 1}
ORDER = {"own": 0, "same": 1, "staggered": 2}


def tiling(ctx):
    blockDim, coreRows = core_rows(ctx)
    rows, columns = ctx.shape
    nbytes, first = ctx.dtype.nbytes, number(ctx, "unaligned", 0, 1)
    burstBytes = number(ctx, "burst_bytes", DATABLOCK_BYTES)
    if burstBytes % DATABLOCK_BYTES:
        raise TilingError(f"attribute burst_bytes = {burstBytes}: a multiple of 32 is needed")
    slices = number(ctx, "slices", 1)
    sliceColumns = CeilAlign(CeilDiv(columns, slices), DATABLOCK_BYTES // nbytes)
    fields = {
        "rows": rows,
        "columns": columns,
        "coreRows": coreRows,
        "bursts": number(ctx, "bursts", 1, MAX_BURSTS),
        "burstColumns": burstBytes // nbytes,
        "sliceColumns": sliceColumns,
        "passes": number(ctx, "passes", 1),
        "firstColumn": first,
        "order": word(ctx, "order", ORDER),
        "l2": word(ctx, "l2", L2),
    }
    check_tails(fields, columns, DATABLOCK_BYTES // nbytes)
    slotBytes = fields["bursts"] * burstBytes
    room = ctx.platform.GetCoreMemSize()
    if slotBytes > room:
        raise TilingError(f"a copy of {slotBytes} bytes does not fit into UB of {room} bytes")
    fields |= {"slotBytes": slotBytes, "slots": min(room // slotBytes, MAX_SLOTS)}
    return Tiling(blockDim, 0, fields)


def core_rows(ctx):
    """Return the number of blocks and the rows of each (the last may have fewer)."""
    if len(ctx.shape) != 2 or ctx.n == 0:
        raise TilingError(f"x {ctx.shape}: two dimensions that are not empty are needed")
    rows, cores = ctx.shape[0], ctx.platform.GetCoreNumAiv()
    if ctx.attr("order") != "own":
        return cores, rows
    coreRows = CeilDiv(rows, cores)
    return CeilDiv(rows, coreRows), coreRows


def check_tails(fields, columns, perBlock):
    """Z takes 32 bytes of the last piece, so it may not be narrower."""
    for start in range(0, columns, fields["sliceColumns"]):
        stop = min(start + fields["sliceColumns"], columns)
        width = stop - max(start, fields["firstColumn"])
        tail = width % fields["burstColumns"] or width
        if tail < perBlock:
            raise TilingError(
                f"x has {columns} columns: a piece at the end would have {tail} elements, and "
                f"{perBlock} (32 bytes) are needed; use another burst_bytes or slices"
            )


def number(ctx, name, low, high=None):
    value = ctx.attr(name)
    if value < low or (high is not None and value > high):
        limits = f"{low} or more" if high is None else f"{low}..{high}"
        raise TilingError(f"attribute {name} = {value}: use {limits}")
    return value


def word(ctx, name, words):
    if ctx.attr(name) not in words:
        raise TilingError(f"attribute {name} = {ctx.attr(name)!r}: use one of {', '.join(words)}")
    return words[ctx.attr(name)]
