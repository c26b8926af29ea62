"""Programs of the reductions: trees of additions, and the largest or smallest element.

Compiled by numba; elements.py has the helpers. A lane that is masked off adds +0 and is never the
largest.
"""

from __future__ import annotations

from numba.extending import register_jitable

from ascendsim.numerics.elements import (
    combine,
    lane_place,
    load_element,
    order_key,
    read_repeat,
    store_element,
    word,
)
from ascendsim.numerics.intrinsics import load64, move_bytes, stack_bytes, store32, store64
from ascendsim.numerics.opcodes import (
    COUNT,
    DST,
    G_LANES,
    G_REPEATS,
    GEOMETRY,
    METHOD_SEQUENCE,
    METHOD_TREE,
    ORDER_INDEX_VALUE,
    ORDER_ONLY_INDEX,
    ORDER_ONLY_VALUE,
    P_BASE,
    P_BODY,
    P_DST_REPEAT,
    P_ELEMENT,
    P_EMPTY,
    P_GROUPS,
    P_LEVELS,
    P_METHOD,
    P_MINIMUM,
    P_ORDER,
    P_POISON,
    P_SCRATCH,
    P_SRC_BLOCK,
    P_SRC_REPEAT,
    P_STEP,
    SRC0,
    SRC1,
)
from ascendsim.numerics.strided import mask_bits

REPEAT_ROOM = 1024  # bytes of one repeat, with room
HALF_ROOM = 512
POISON = 0xDEADBEEF


@register_jitable
def fold(row, params, place, count, levels):
    """Add neighbours at `place`, `levels` times over; return how many sums are left."""
    element = word(params, P_ELEMENT)
    even, odd = stack_bytes(HALF_ROOM), stack_bytes(HALF_ROOM)
    for _ in range(levels):
        count //= 2
        for pair in range(count):
            at = place + 2 * pair * element
            move_bytes(even + pair * element, at, element)
            move_bytes(odd + pair * element, at + element, element)
        combine(row, params, place, even, odd, count)
    return count


@register_jitable
def takes_part(params, first, stop):
    """Tell whether the mask selects any of the lanes from `first` to before `stop`."""
    found = False
    for lane in range(first, stop):
        found = found or mask_bits(params, lane) & 1 != 0
    return found


@register_jitable
def tree_program(row):
    """Add pairs, datablocks or whole repeats: P_LEVELS levels of the tree."""
    params = word(row, GEOMETRY)
    element, lanes, groups = word(params, P_ELEMENT), word(params, G_LANES), word(params, P_GROUPS)
    each = lanes // groups
    place, left = stack_bytes(REPEAT_ROOM), word(row, COUNT)
    for repeat in range(word(params, G_REPEATS)):
        source = word(row, SRC0) + repeat * word(params, P_SRC_REPEAT)
        read_repeat(params, source, left, place)
        fold(row, params, place, lanes, word(params, P_LEVELS))
        target = word(row, DST) + repeat * word(params, P_DST_REPEAT)
        for group in range(groups):
            offset = group * element
            if takes_part(params, group * each, min((group + 1) * each, left)):
                move_bytes(target + offset, place + offset, element)
            elif word(params, P_EMPTY) >= 0:
                store_element(target + offset, element, word(params, P_EMPTY))
        left -= lanes


@register_jitable
def integer_sum_program(row):
    """Add the integers of each repeat, or (P_BASE 0) of all repeats: exact modulo dst's width."""
    params = word(row, GEOMETRY)
    element, stride, left = word(params, P_ELEMENT), word(params, P_SRC_BLOCK), word(row, COUNT)
    lanes, width, sum_of_all = word(params, G_LANES), word(params, P_BASE), 0
    for repeat in range(word(params, G_REPEATS)):
        source, total = word(row, SRC0) + repeat * word(params, P_SRC_REPEAT), 0
        for lane in range(min(lanes, left)):
            if mask_bits(params, lane) & 1:
                value = load_element(lane_place(source, stride, lane * element), element)
                key, _ = order_key(params, value)  # with the sign of signed types
                total += key
        left -= lanes
        sum_of_all += total
        if width != 0:
            target = word(row, DST) + repeat * word(params, P_DST_REPEAT)
            store_element(target, width, total)
    if width == 0:
        store_element(word(row, DST), element, sum_of_all)


@register_jitable
def sum_program(row):
    """Add all repeats to one sum; their own sums are added by P_METHOD."""
    params = word(row, GEOMETRY)
    element, lanes, levels = word(params, P_ELEMENT), word(params, G_LANES), word(params, P_LEVELS)
    place, sums = stack_bytes(REPEAT_ROOM), word(params, P_SCRATCH)
    method, left = word(params, P_METHOD), word(row, COUNT)
    if method != METHOD_SEQUENCE and method != METHOD_TREE:
        _add_vectors(row, params, place)
        fold(row, params, place, lanes, levels)
    else:
        repeats = word(params, G_REPEATS)
        for repeat in range(repeats):
            source = word(row, SRC0) + repeat * word(params, P_SRC_REPEAT)
            read_repeat(params, source, left, place)
            fold(row, params, place, lanes, levels)
            move_bytes(sums + repeat * element, place, element)
            left -= lanes
        if method == METHOD_SEQUENCE:
            move_bytes(place, sums, element)
            for repeat in range(1, repeats):
                combine(row, params, place, place, sums + repeat * element, 1)
        else:
            _add_sums(row, params, place, repeats)
    poison(word(row, SRC1), word(params, P_POISON))
    move_bytes(word(row, DST), place, element)


@register_jitable
def _add_vectors(row, params, place):
    """Add the repeats lane by lane, in order, into `place`."""
    other, left, lanes = stack_bytes(REPEAT_ROOM), word(row, COUNT), word(params, G_LANES)
    for repeat in range(word(params, G_REPEATS)):
        source = word(row, SRC0) + repeat * word(params, P_SRC_REPEAT)
        if repeat == 0:
            read_repeat(params, source, left, place)
        else:
            read_repeat(params, source, left, other)
            combine(row, params, place, place, other, lanes)
        left -= lanes


@register_jitable
def _add_sums(row, params, place, count):
    """Reduce the sums of the repeats as if they were data, until one is left at `place`."""
    element, lanes, sums = word(params, P_ELEMENT), word(params, G_LANES), word(params, P_SCRATCH)
    while True:
        made = (count + lanes - 1) // lanes
        for chunk in range(made):
            now = min(lanes, count - chunk * lanes)
            for lane in range(lanes):
                value = 0
                if lane < now:
                    value = load_element(sums + (chunk * lanes + lane) * element, element)
                store_element(place + lane * element, element, value)
            fold(row, params, place, lanes, word(params, P_LEVELS))
            move_bytes(sums + chunk * element, place, element)
        count = made
        if count <= 1:
            break


@register_jitable
def poison(start, nbytes):
    """Leave bytes that hardware leaves with intermediate results undefined."""
    for offset in range(0, nbytes, 4):
        store32(start + offset, POISON)


@register_jitable
def beats(params, key, nan, best, best_nan):
    """Tell whether a later element replaces the best one so far; the first of equals stays."""
    if best_nan:
        return False
    if nan:
        return True
    return key < best if word(params, P_MINIMUM) else key > best


@register_jitable
def store_found(row, params, target, pattern, index):
    """Store value and index in the order asked for, the value by the rules of Max and Min."""
    element, order = word(params, P_ELEMENT), word(params, P_ORDER)
    if order == ORDER_ONLY_INDEX:
        store32(target, index)
        return
    at = target + element if order == ORDER_INDEX_VALUE else target
    store_element(at, element, pattern)
    if word(params, P_BODY) != 0:
        combine(row, params, at, at, at, 1)
    if order != ORDER_ONLY_VALUE:
        store_element(target if order == ORDER_INDEX_VALUE else target + element, element, index)


@register_jitable
def find(params, start, first, stop):
    """Return (lane, pattern) of the best of some lanes of a repeat; lane -1 when there is none."""
    element, stride = word(params, P_ELEMENT), word(params, P_SRC_BLOCK)
    lane_found, found, best, best_nan = -1, 0, 0, False
    for lane in range(first, stop):
        if mask_bits(params, lane) & 1:
            pattern = load_element(lane_place(start, stride, lane * element), element)
            key, nan = order_key(params, pattern)
            if lane_found < 0 or beats(params, key, nan, best, best_nan):
                lane_found, found, best, best_nan = lane, pattern, key, nan
    return lane_found, found


@register_jitable
def extreme_program(row):
    """Find the best of each repeat, with its lane, or of each datablock (P_GROUPS results)."""
    params = word(row, GEOMETRY)
    element, groups = word(params, P_ELEMENT), word(params, P_GROUPS)
    each = word(params, G_LANES) // groups
    results, left = stack_bytes(REPEAT_ROOM), word(row, COUNT)
    for repeat in range(word(params, G_REPEATS)):
        source = word(row, SRC0) + repeat * word(params, P_SRC_REPEAT)
        target = word(row, DST) + repeat * word(params, P_DST_REPEAT)
        for group in range(groups):  # all of them are read before the first is stored
            lane, pattern = find(params, source, group * each, min((group + 1) * each, left))
            store64(results + 16 * group, lane)
            store64(results + 16 * group + 8, pattern)
        for group in range(groups):
            lane, pattern = load64(results + 16 * group), load64(results + 16 * group + 8)
            if lane >= 0:
                store_found(row, params, target + group * element, pattern, lane)
            elif word(params, P_EMPTY) >= 0:
                store_found(row, params, target + group * element, word(params, P_EMPTY), 0)
        left -= word(params, G_LANES)


@register_jitable
def extreme_all_program(row):
    """Find the best of all repeats; its index counts P_STEP per repeat."""
    params = word(row, GEOMETRY)
    lanes, left = word(params, G_LANES), word(row, COUNT)
    index, found, best, best_nan = -1, 0, 0, False
    for repeat in range(word(params, G_REPEATS)):
        source = word(row, SRC0) + repeat * word(params, P_SRC_REPEAT)
        lane, pattern = find(params, source, 0, min(lanes, left))
        if lane >= 0:
            key, nan = order_key(params, pattern)
            if index < 0 or beats(params, key, nan, best, best_nan):
                index = repeat * word(params, P_STEP) + lane
                found, best, best_nan = pattern, key, nan
        left -= lanes
    poison(word(row, SRC1), word(params, P_POISON))
    if index >= 0:
        store_found(row, params, word(row, DST), found, index)
