"""The words of a row of a plan, for who writes rows and for the compiled code that reads them.

The first ROW_WORDS of `numerics/opcodes.py` come first, unchanged.
"""

from ascendsim.numerics import opcodes

# words of a row behind those of opcodes.py
FUNCTION, DST_SPACE, SRC_SPACE = 10, 11, 12
ROW_WORDS = 16
# words of a row that moves bytes (its FUNCTION is 0)
BLOCKS, NBYTES, DST_PITCH, SRC_PITCH = opcodes.COUNT, opcodes.SRC1, opcodes.MASK, opcodes.MODE
UB_SPACE = -1
