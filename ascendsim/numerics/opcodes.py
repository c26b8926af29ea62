"""The contract between a bound call and the compiled bodies: one row of int64 words.

A row says everything about a call but its scalar, so the same row runs in step mode and in replay.
Addresses are absolute byte addresses. A row whose GEOMETRY word is 0 is a plain loop over COUNT
lanes; otherwise GEOMETRY is the address of a block of words (fields G_*) and the call runs one
repeat at a time: read all operands of the repeat, compute, write under the mask.
"""

from __future__ import annotations

# --- words of a row
OP, COUNT, DST, SRC0, SRC1, MASK, MODE, ENV, GEOMETRY = range(9)
ROW_WORDS = 10

# --- bits of the ENV word: the model choices that change what a body computes
ENV_NAN_ONES = 1  # produced NaNs are 0x7fffffff / 0x7fff, else 0x7fc00000 / 0x7e00 / 0x7fc0
ENV_SATURATE = 2  # half/bf16 results: inf -> +-max, NaN -> +0 (CTRL[48] = 0)
ENV_FLUSH = 4  # subnormal operands and results of this instruction become zero, sign kept
ENV_NE_ORDERED = 8  # NE is 0 when an operand is NaN (c220 by report), else 1
ENV_REGISTER = 16  # 950: multiply-add rounds once, Rsqrt is a quotient by a rounded root
ENV_TRUNCATE = 32  # casts to integers keep the low bits, else they clamp (CTRL[59] = 1)

# --- words of a geometry block
G_REPEATS, G_LANES, G_MASK_LO, G_MASK_HI, G_COMPARE_MASKED = range(5)
# four operands, in the order DST, SRC0, SRC1, MASK, three words each
G_OPERANDS = 5
G_ELEMENT, G_BLOCK_STRIDE, G_REPEAT_STRIDE = range(3)  # all in bytes
# G_ELEMENT: bytes of an element; 0 = a run of mask bits (LANES / 8 bytes a repeat);
# -1 = the operand is absent
GEOMETRY_WORDS = G_OPERANDS + 4 * 3

MAX_LANES = 128  # 16-bit elements in 256 bytes: the lanes that a mask can name

# --- words of a parameter block: what GEOMETRY points to for a program (programs.py), a body that
# reads its operands itself. The first four words are those of a geometry block.
(
    P_STATUS,  # written by the program: elements kept by GatherMask, 1 + first bad lane of Gather
    P_ELEMENT,  # bytes per element
    P_DST_BLOCK,
    P_DST_REPEAT,
    P_SRC_BLOCK,
    P_SRC_REPEAT,
    P_PATTERN_REPEAT,  # all strides in bytes
    P_BODY,  # address of the compiled entry that adds, or takes the larger or smaller one
    P_BODY_OP,
    P_LEVELS,  # of the tree of additions
    P_GROUPS,  # results per repeat
    P_KIND,  # order of patterns: infinity of a float format, KIND_SIGNED or KIND_UNSIGNED
    P_SMALLEST,  # smallest normal pattern where subnormals count as zero, else 0
    P_MINIMUM,  # 1 for Min
    P_ORDER,  # which of value and index are stored (ORDER_*)
    P_EMPTY,  # pattern stored for a group whose lanes are all masked off; -1: nothing is stored
    P_STEP,  # index of a repeat's first lane, per repeat
    P_METHOD,  # how the sums of the repeats are added (METHOD_*)
    P_SCRATCH,  # address of memory of the call for the sums of its repeats
    P_POISON,  # bytes of SRC1 that are left undefined
    P_BASE,
    P_LIMIT,  # a gather reads bytes below this
    P_PATTERN,  # mask bits of four lanes, or -1: bits at MASK
    P_CHECKED,  # 1 where P_STATUS is not 0 after data that the instruction refuses
) = range(4, 28)
PARAMETER_WORDS = 28

KIND_SIGNED, KIND_UNSIGNED = 0, -1
ORDER_VALUE_INDEX, ORDER_INDEX_VALUE, ORDER_ONLY_VALUE, ORDER_ONLY_INDEX = range(4)
METHOD_SEQUENCE, METHOD_TREE, METHOD_VECTORS = range(3)
