"""Programs that sort: Sort32 and Sort, MrgSort, Extract. Compiled by numba.

A record is 8 bytes, the score low and a uint32 index high; see sort.py, their twin on arrays.
"""

from __future__ import annotations

from numba.extending import register_jitable

from ascendsim.numerics.elements import load_element, store_element, word
from ascendsim.numerics.intrinsics import load32, load64, move_bytes, store32, store64
from ascendsim.numerics.opcodes import (
    DST,
    G_LANES,
    G_REPEATS,
    GEOMETRY,
    P_BASE,
    P_ELEMENT,
    P_KIND,
    P_METHOD,
    P_SCRATCH,
    P_STATUS,
    SRC0,
    SRC1,
)
from ascendsim.numerics.sort_layout import (
    INDEX_BYTES,
    LENGTHS,
    QUEUES,
    RECORD_BYTES,
    STARTS,
    TAKEN,
)
from ascendsim.numerics.strided import WORD_BYTES


@register_jitable
def score_key(params, pattern):
    """Return an integer with the order of the scores (-0 equals +0), and whether it is a NaN."""
    sign = 1 << (8 * word(params, P_ELEMENT) - 1)
    magnitude = pattern & (sign - 1)
    key = -magnitude if pattern & sign else magnitude
    return key, magnitude > word(params, P_KIND)


@register_jitable
def key_at(params, record):
    """Return the key of the record at an address, and whether its score is a NaN."""
    return score_key(params, load_element(record, word(params, P_ELEMENT)))


@register_jitable
def refuse(params, lane):
    """Leave in P_STATUS that the score at `lane` is a NaN."""
    store64(params + P_STATUS * WORD_BYTES, 1 + lane)


@register_jitable
def sort_program(row):
    """Sort runs of G_LANES pairs, or (P_METHOD 1) all of them.

    P_STATUS is 1 + the first NaN, and nothing stored.
    """
    params = word(row, GEOMETRY)
    element, lanes, repeats = (
        word(params, P_ELEMENT),
        word(params, G_LANES),
        word(params, G_REPEATS),
    )
    if word(params, P_METHOD):
        lanes, repeats = lanes * repeats, 1
    store64(params + P_STATUS * WORD_BYTES, 0)
    for lane in range(lanes * repeats):
        _, nan = score_key(params, load_element(word(row, SRC0) + lane * element, element))
        if nan:
            refuse(params, lane)
            return
    place = word(params, P_SCRATCH)
    for repeat in range(repeats):
        for lane in range(lanes):
            at = repeat * lanes + lane
            record = place + lane * RECORD_BYTES
            store32(record, load_element(word(row, SRC0) + at * element, element))
            store32(record + INDEX_BYTES, load32(word(row, SRC1) + at * INDEX_BYTES))
        found = _merge_sort(params, place, lanes)
        nbytes = lanes * RECORD_BYTES
        move_bytes(word(row, DST) + repeat * nbytes, found, nbytes)


@register_jitable
def _merge_sort(params, place, lanes):
    """Sort the records at `place`, with as much room behind them; return where they are then."""
    source, target, width = place, place + lanes * RECORD_BYTES, 1
    while width < lanes:
        for start in range(0, lanes, 2 * width):
            _merge_runs(params, source, target, start, width, lanes)
        source, target = target, source
        width *= 2
    return source


@register_jitable
def _merge_runs(params, source, target, start, width, lanes):
    """Merge the runs at `start` and `width` further on; of equal scores the first stays first."""
    middle, stop = min(start + width, lanes), min(start + 2 * width, lanes)
    first, second = start, middle
    for out in range(start, stop):
        take_first = second >= stop
        if first < middle and second < stop:
            one, _ = key_at(params, source + first * RECORD_BYTES)
            other, _ = key_at(params, source + second * RECORD_BYTES)
            take_first = one >= other
        chosen = first if take_first else second
        store64(target + out * RECORD_BYTES, load64(source + chosen * RECORD_BYTES))
        if take_first:
            first += 1
        else:
            second += 1


@register_jitable
def merge_program(row):
    """Merge up to four sorted queues; P_METHOD 1 ends when one has given its last record."""
    params = word(row, GEOMETRY)
    own, repeats = word(params, P_SCRATCH), word(params, G_REPEATS)
    store64(params + P_STATUS * WORD_BYTES, 0)
    total = 0
    for queue in range(QUEUES):
        total += word(own, LENGTHS + queue)
    for repeat in range(repeats):
        shift = repeat * total * RECORD_BYTES
        for queue in range(QUEUES):
            start = word(row, SRC0) + word(own, STARTS + queue) + shift
            for place in range(word(own, LENGTHS + queue)):
                _, nan = key_at(params, start + place * RECORD_BYTES)
                if nan:
                    refuse(params, place)
                    return
    for repeat in range(repeats):
        shift = repeat * total * RECORD_BYTES
        _merge_queues(row, params, own, shift, total)


@register_jitable
def _merge_queues(row, params, own, shift, total):
    for queue in range(QUEUES):
        store64(own + (TAKEN + queue) * WORD_BYTES, 0)
    for out in range(total):
        best, best_key, best_at = -1, 0, 0
        for queue in range(QUEUES):
            taken = word(own, TAKEN + queue)
            if taken < word(own, LENGTHS + queue):
                at = word(row, SRC0) + word(own, STARTS + queue) + shift + taken * RECORD_BYTES
                key, _ = key_at(params, at)
                if best < 0 or key > best_key:
                    best, best_key, best_at = queue, key, at
        store64(word(row, DST) + shift + out * RECORD_BYTES, load64(best_at))
        taken = word(own, TAKEN + best) + 1
        store64(own + (TAKEN + best) * WORD_BYTES, taken)
        if word(params, P_METHOD) and taken == word(own, LENGTHS + best):
            return


@register_jitable
def extract_program(row):
    """Store the scores of records at DST and their indices P_BASE bytes further on."""
    params = word(row, GEOMETRY)
    element, indices = word(params, P_ELEMENT), word(row, DST) + word(params, P_BASE)
    for lane in range(word(params, G_REPEATS) * word(params, G_LANES)):
        record = word(row, SRC0) + lane * RECORD_BYTES
        score, index = load_element(record, element), load32(record + INDEX_BYTES)
        store_element(word(row, DST) + lane * element, element, score)
        store32(indices + lane * INDEX_BYTES, index)
