"""The programs: compiled bodies that walk their operands themselves, in units like the families.

A program reads its row as every body does; GEOMETRY is the address of a parameter block (P_* of
opcodes.py).
"""

from __future__ import annotations

from collections.abc import Callable

from ascendsim.numerics import families
from ascendsim.numerics.bodies_move import (
    accumulate_program,
    broadcast_program,
    format_program,
    gather_blocks_program,
    gather_program,
    select_program,
    spread_program,
    transpose_program,
)
from ascendsim.numerics.bodies_reduce import (
    extreme_all_program,
    extreme_program,
    integer_sum_program,
    sum_program,
    tree_program,
    word,
)
from ascendsim.numerics.bodies_sort import extract_program, merge_program, sort_program
from ascendsim.numerics.opcodes import OP

_NUMBERS = families.opcodes()
TREE, SUM = _NUMBERS["tree"], _NUMBERS["sum"]
EXTREME, EXTREME_ALL = _NUMBERS["extreme"], _NUMBERS["extreme_all"]
BROADCAST, GATHER, SELECTED = _NUMBERS["broadcast"], _NUMBERS["gather"], _NUMBERS["gather_mask"]
TRANSPOSE, FORMAT = _NUMBERS["transpose"], _NUMBERS["format"]
SORT, MERGE, GATHER_BLOCKS = _NUMBERS["sort"], _NUMBERS["merge"], _NUMBERS["gather_blocks"]


def function(unit: str) -> Callable:
    """Return the function of a unit, to be compiled."""
    units = {
        "reduce": _reduce,
        "move_elements": _move_elements,
        "move_blocks": _move_blocks,
        "sort": _sort,
        "accumulate": _accumulate,
    }
    return units[unit]


def _reduce(row, scalar):
    op = word(row, OP)
    if op == TREE:
        tree_program(row)
    elif op == SUM:
        sum_program(row)
    elif op == EXTREME:
        extreme_program(row)
    elif op == EXTREME_ALL:
        extreme_all_program(row)
    else:
        integer_sum_program(row)


def _move_elements(row, scalar):
    op = word(row, OP)
    if op == BROADCAST:
        broadcast_program(row)
    elif op == GATHER:
        gather_program(row)
    elif op == SELECTED:
        select_program(row)
    elif op == TRANSPOSE:
        transpose_program(row)
    elif op == FORMAT:
        format_program(row)


def _move_blocks(row, scalar):
    if word(row, OP) == GATHER_BLOCKS:
        gather_blocks_program(row)
    else:
        spread_program(row)


def _sort(row, scalar):
    op = word(row, OP)
    if op == SORT:
        sort_program(row)
    elif op == MERGE:
        merge_program(row)
    else:
        extract_program(row)


def _accumulate(row, scalar):
    accumulate_program(row)
