"""The words of a stepping command (counts, addresses, `buffer@slot`, lanes), and its answer."""

from __future__ import annotations

from typing import Any, NamedTuple

from ascendsim.errors import RequestError

MOST_LANES = 16  # that view shows without being asked for more


class Answer(NamedTuple):
    """What a command shows: as JSON and as text."""

    document: dict[str, Any]
    text: str


def times(words: list[str]) -> int:
    """Return how often, once when nothing is said."""
    found = number(words[0], "a count") if words else 1
    if found < 0:
        raise RequestError(f"{found} is no count; use next and back for the two directions")
    return found


def number(word: str, what: str) -> int:
    """Return a whole number, decimal or 0x...; `what` names it in the error."""
    try:
        return int(word, 0)
    except ValueError:
        raise RequestError(f"{word!r} is not {what}: write a whole number or 0x...") from None


def buffer_and_slot(word: str) -> tuple[str, int]:
    """Return name and slot of `inQueueX` (slot 0) or `inQueueX@1`."""
    name, at, slot = word.partition("@")
    return name, number(slot, "a slot") if at else 0


def lanes_and_kind(words: list[str]) -> tuple[str | None, str | None]:
    """Return lane and type, of which either may be left away."""
    if words and words[0][:1].isalpha():
        if len(words) > 1:
            raise RequestError(f"{' '.join(words)!r}: the lane comes before the type")
        return None, words[0]
    return (words[0] if words else None), (words[1] if len(words) > 1 else None)


def lane_range(lanes: str | None, count: int, buffer: str) -> tuple[int, int]:
    """Return first and behind-last lane of `7`, `0:8`, `8:` or nothing (the first few)."""
    if lanes is None:
        return 0, min(count, MOST_LANES)
    first, colon, last = lanes.partition(":")
    start = number(first, "a lane") if first or not colon else 0
    stop = start + 1 if not colon else number(last, "a lane") if last else count
    if not 0 <= start < stop <= count:
        raise RequestError(f"{buffer} has lanes 0..{count - 1}, not {lanes}")
    return start, stop
