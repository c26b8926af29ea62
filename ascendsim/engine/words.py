"""The words of a row of a plan, for who writes rows and for the compiled code that reads them.

The first ROW_WORDS of `numerics/opcodes.py` come first, unchanged.
"""

from ascendsim.numerics import opcodes

# words of a row behind those of opcodes.py
FUNCTION, DST_SPACE, SRC_SPACE = 10, 11, 12
CHECK = 13  # address of a word that is not 0 after data that the instruction refuses; 0: none
ROW_WORDS = 16
# words of a row that moves bytes (its FUNCTION is 0)
BLOCKS, NBYTES, DST_PITCH, SRC_PITCH = opcodes.COUNT, opcodes.SRC1, opcodes.MASK, opcodes.MODE
UB_SPACE = -1
# what a word of a row is counted from, when rows are made for a thread: its UB, its parameters
ABSOLUTE, IN_UB, IN_PARAMETERS = range(3)
WORD_BYTES = 8
