"""Rules of the reductions, of moved elements and of several blocks: rows for rules.py.

A row is (id, text, source, default grade, grade by architecture).
"""

from __future__ import annotations

_REDUCE = "asc-devkit docs/zh/api/SIMD-API, reduction pages"
Row = tuple[str, str, str, str, dict[str, str]]

TEXTS: tuple[Row, ...] = (
    (
        "reduce-tree",
        "a sum of lanes is a tree: neighbours are added, then neighbours of the sums; each "
        "addition rounds in the element type",
        f"{_REDUCE}, ReduceDataBlock",
        "documented",
        {},
    ),
    (
        "reduce-sum-order",
        "ReduceSum adds the sums of its repeats in order (count form of 910B), lane by lane before "
        "the tree (count form of 950, 256 to 1024 bytes), else as a tree; a last tree that is not "
        "full is filled with +0",
        f"{_REDUCE}, ReduceSum (which way is documented; its details are our choice)",
        "documented",
        {"3510": "assumed", "m200": "assumed", "c100": "assumed"},
    ),
    (
        "reduce-masked-lanes",
        "a lane that is masked off, or lies behind the count, adds +0 to a sum",
        "our choice; seen only in sums of -0",
        "assumed",
        {},
    ),
    (
        "reduce-empty",
        "a datablock or pair without any lane in the mask keeps its destination; 950 stores 0, "
        "-inf or +inf",
        f"{_REDUCE}, ReduceDataBlock and ReducePairElem",
        "documented",
        {"m200": "assumed", "c100": "assumed"},
    ),
    (
        "reduce-first",
        "of equal largest or smallest elements the one with the lowest index is found",
        f"{_REDUCE}, ReduceRepeat and ReduceMax",
        "documented",
        {},
    ),
    (
        "reduce-nan",
        "a NaN is larger and smaller than every number to a reduction, and -0 is below +0",
        "our choice, as Max and Min",
        "assumed",
        {},
    ),
    (
        "reduce-scratch",
        "sharedTmpBuffer holds poison after a reduction that uses it (hardware leaves intermediate "
        "results there)",
        f"{_REDUCE}; that it is used: documented, what it holds: our choice",
        "assumed",
        {},
    ),
    (
        "progression-chain",
        "a progression is a base (one datablock; one repeat on 950 and under a bit mask), extended "
        "by additions of multiples of the difference; seen only where numbers are not exact",
        "asc-devkit impl, CreateVecIndex of dav_c220 and ArithProgression",
        "code",
        {"3510": "assumed"},
    ),
    (
        "sort-records",
        "a sorted pair is a record of 8 bytes: the score in the low 4 (half: in the low 2), the "
        "index in the high 4; Extract takes such records apart",
        "asc-devkit docs, pages of Sort32 and Extract",
        "documented",
        {},
    ),
    (
        "sort-stable",
        "sorting is by score in descending order, equal scores keep their order (MrgSort: the "
        "earlier queue first); a NaN is refused, since no page says where it goes",
        "asc-devkit docs, pages of Sort32, MrgSort and Sort",
        "documented",
        {},
    ),
    (
        "sort-zeros",
        "-0 and +0 are equal scores; the two reserved bytes of a half record are 0",
        "our choice",
        "assumed",
        {},
    ),
    (
        "merge-suspension",
        "with suspension a merge ends right after the last record of a queue (the page's text; the "
        "numbers of its example go on)",
        "asc-devkit docs, pages of MrgSort and GetMrgSortResult",
        "assumed",
        {},
    ),
    (
        "broadcast-exact",
        "BroadCast stores exactly the elements of dstShape, and leaves its scratch as it is here",
        "asc-devkit docs, Broadcast page (the elements: documented; the scratch: our choice)",
        "assumed",
        {},
    ),
    (
        "gather-bounds",
        "an offset of Gather outside src, or no multiple of the element (Gatherb: of 32 bytes), is "
        "an error (hardware reads what is there)",
        "our choice",
        "assumed",
        {},
    ),
    (
        "gather-mask",
        "GatherMask stores the chosen elements one after another; mask bits of a repeat run on "
        "without gaps",
        "asc-devkit docs/zh/api/SIMD-API, GatherMask page (examples recomputed)",
        "documented",
        {},
    ),
    (
        "format-lists",
        "TransDataTo5HD makes datablock i of element i of all sources; in 32 bits the first eight "
        "sources make dstList[2i], the last eight dstList[2i + 1]",
        "asc-devkit docs, TransDataTo5HD page (the order of the two is our reading of its picture)",
        "documented",
        {"3510": "assumed", "m200": "assumed"},
    ),
    (
        "atomic-op",
        "a copy to GM under SetAtomicAdd, Max or Min gives what Add, Max or Min of the old and the "
        "new element gives; integer sums wrap",
        "asc-devkit docs/zh/api/SIMD-API, atomic pages; rounding and NaN are our choice",
        "assumed",
        {},
    ),
    (
        "atomic-order",
        "atomic copies of several blocks take effect in the order in which the blocks run here; "
        "hardware gives no order, so rounded sums of three or more may differ",
        "asc-devkit docs/zh/api/SIMD-API, key features of atomic operations",
        "assumed",
        {},
    ),
    (
        "block-turns",
        "blocks that wait for one another take turns at SyncAll, IBSet and IBWait alone, in the "
        "order of their numbers",
        "our choice; correctly synchronised kernels cannot tell",
        "assumed",
        {},
    ),
    (
        "soft-sync",
        "SyncAll with a workspace counts up the block's own word, 32 bytes apart, and waits until "
        "all words have come as far; ubWorkspace holds their copy",
        "asc-devkit impl/basic_api/dav_c220, sync",
        "code",
        {"3510": "assumed", "m200": "assumed", "c100": "assumed"},
    ),
    (
        "ib-flags",
        "IBSet waits for 0 in the word of (eventID, blockIdx) and stores 1; IBWait waits for 1 and "
        "stores 0",
        "asc-devkit docs/zh/api/SIMD-API, IBSet and IBWait pages; that the word is cleared is our "
        "choice",
        "assumed",
        {},
    ),
    (
        "data-cache",
        "scalar accesses to GM are coherent here, so cleaning the data cache changes nothing; on "
        "hardware a missing call leaves stale or lost bytes",
        "our choice",
        "assumed",
        {},
    ),
)
