"""Sorting on arrays: slow, readable twins of the compiled programs of `bodies_sort.py`.

A record is 8 bytes: the score in its low bytes (4, or 2 and two bytes that are zero), a uint32
index in the high 4. Larger scores come first, equal ones keep their order; -0 equals +0, NaN is
refused.
Source: asc-devkit docs, pages of Sort32, MrgSort and Sort (descending, stable; zeros assumed).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ascendsim.numerics.words import words


def records(scores: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """Return one uint64 per pair of score and index, unsorted."""
    return words(scores).astype(np.uint64) | indices.astype(np.uint64) << np.uint64(32)


def scores_of(found: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Return the scores of records as elements of `dtype` (float32 or float16)."""
    return (
        (found & np.uint64((1 << 8 * dtype.itemsize) - 1)).astype(f"u{dtype.itemsize}").view(dtype)
    )


def sorted_records(scores: np.ndarray, indices: np.ndarray, lanes: int) -> np.ndarray:
    """Return the records, every run of `lanes` in descending order of its scores."""
    pairs = records(scores, indices).reshape(-1, lanes)
    order = np.argsort(-scores.astype(np.float64).reshape(-1, lanes), axis=1, kind="stable")
    return np.take_along_axis(pairs, order, axis=1).reshape(-1)


def merged(
    queues: Sequence[np.ndarray], dtype: np.dtype, suspend: bool
) -> tuple[np.ndarray, list[int]]:
    """Return the merge of sorted queues, and how many records of each went into it.

    Of equal scores the earlier queue's comes first. With `suspend` the merge ends as soon as one
    queue has given its last record.
    """
    taken, found = [0] * len(queues), []
    heads = [scores_of(queue, dtype).astype(np.float64) for queue in queues]
    while any(taken[k] < queue.size for k, queue in enumerate(queues)):
        left = [k for k, queue in enumerate(queues) if taken[k] < queue.size]
        best = max(left, key=lambda k: (heads[k][taken[k]], -k))
        found.append(queues[best][taken[best]])
        taken[best] += 1
        if suspend and taken[best] == queues[best].size:
            break
    return np.array(found, np.uint64), taken
