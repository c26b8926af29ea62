"""How records of a sort lie in memory, and the words of MrgSort's own memory."""

from __future__ import annotations

RECORD_BYTES = 8
INDEX_BYTES = 4
QUEUES = 4
# lengths of the queues, where they begin (bytes from the first), how many records were taken
LENGTHS, STARTS, TAKEN = 0, QUEUES, 2 * QUEUES
MERGE_WORDS = 3 * QUEUES
