"""Which other orders of a block are tried, of all that its tokens permit.

First those that hold a pipe back or let it run ahead, then what depends on the races alone: every
order of the instructions that race where these are few, and instructions that start before one
that races with them is complete. The rest is drawn.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from heapq import heapify, heappop, heappush
from itertools import chain, count, islice

from ascendsim.engine.conflicts import Race
from ascendsim.engine.order import Order, bits_of, positions
from ascendsim.engine.schedules import reads_scalar
from ascendsim.enums import PIPE
from ascendsim.record import Instr

MAX_RACING = 64  # records of which all orders may be tried, where these are few

Priority = Callable[[int], float]
Sequencing = tuple[str, list[int]]


def sequences(
    records: Sequence[Instr], order: Order, number: int, seed: int, pairs: Sequence[Race] = ()
) -> Iterator[Sequencing]:
    """Yield `number` named orders that `order` permits; `pairs` are its races.

    Half of what the adversarial ones leave goes to the races, the rest is random.
    """
    named = ((name, extension(order, p, records)) for name, p in _adversaries(records).items())
    drawn = (
        (f"random {k}", extension(order, _drawn(records, random.Random(f"{seed}/{k}")), records))
        for k in count()
    )
    room = max(number - len(_adversaries(records)), 0)
    yield from islice(chain(named, _of_races(records, order, pairs, room), drawn), number)


def _of_races(
    records: Sequence[Instr], order: Order, pairs: Sequence[Race], room: int
) -> Iterator[Sequencing]:
    """Yield orders that differ in what races: instructions that start early, then all orders."""
    places = {tuple(records[at].where for at in pair): pair for pair in reversed(pairs)}
    early = (swap for pair in reversed(places.values()) for swap in swapped(order, *pair))
    yield from islice(early, room // 2)
    racing = sorted({at for pair in pairs for at in pair})
    if not 0 < len(racing) <= MAX_RACING:
        return
    every = list(islice(_linear(order, racing), room // 2 + 1))
    if len(every) <= room // 2:
        for number, chosen in enumerate(every):
            yield f"order {number + 1} of {len(every)} of what races", led_by(order, chosen)


def _linear(order: Order, racing: Sequence[int]) -> Iterator[list[int]]:
    """Yield every order of some records that `order` permits."""
    if not racing:
        yield []
    left = bits_of(racing)
    for at in racing:
        if not order.before[at] & left:
            for rest in _linear(order, [other for other in racing if other != at]):
                yield [at, *rest]


def led_by(order: Order, chosen: Sequence[int]) -> list[int]:
    """Return an order of all records with those of `chosen` in that order, others where needed."""
    every, done = (1 << len(order.before)) - 1, 0
    found: list[int] = []
    for needed in (*(order.before[at] | 1 << at for at in chosen), every):
        found += positions(needed & ~done)
        done |= needed
    return found


def _drawn(records: Sequence[Instr], draw: random.Random) -> Priority:
    """Return random priorities: pipes as a whole, single records, and the program's own order."""
    weight = {pipe: draw.random() for pipe in PIPE}
    spread = draw.choice((0.1, 1.0, 10.0))
    drawn = [weight[instr.call.pipe] + spread * draw.random() for instr in records]
    return lambda at: drawn[at] + at / len(drawn)


def _adversaries(records: Sequence[Instr]) -> dict[str, Priority]:
    """Return the priorities of the orders that try hard: low goes first."""
    size = len(records)
    pipes = [instr.call.pipe for instr in records]

    def ranked(*first: PIPE) -> Priority:
        rank = {pipe: place for place, pipe in enumerate(first)}
        return lambda at: rank.get(pipes[at], len(rank)) * size + at

    into, out = PIPE.PIPE_MTE2, PIPE.PIPE_MTE3
    return {
        "MTE2 as late as possible": lambda at: (pipes[at] is into) * size + at,
        "MTE3 as early as possible": ranked(out),
        "MTE3 early, MTE2 late": ranked(out, PIPE.PIPE_V),
        "MTE2 as early as possible": ranked(into),
        "MTE3 as late as possible": lambda at: (pipes[at] is out) * size + at,
        "MTE2 early, MTE3 late": ranked(into, PIPE.PIPE_V),
        "last in the program first": lambda at: -at,
    }


def extension(order: Order, priority: Priority, records: Sequence[Instr]) -> list[int]:
    """Return the order that takes, of all records that may start, the one with least priority.

    Records that execute nothing never hold anything up.
    """
    followers: list[list[int]] = [[] for _ in order.edges]
    missing = []
    for at, causes in enumerate(order.edges):
        sources = {edge.source for edge in causes}
        missing.append(len(sources))
        for source in sources:
            followers[source].append(at)

    def key(at: int) -> tuple[bool, float, int]:
        runs = records[at].call.execute is not None or reads_scalar(records[at].call)
        return runs, priority(at), at

    ready = [key(at) for at, left in enumerate(missing) if not left]
    heapify(ready)
    found = []
    while ready:
        at = heappop(ready)[-1]
        found.append(at)
        for follower in followers[at]:
            missing[follower] -= 1
            if not missing[follower]:
                heappush(ready, key(follower))
    return found


def swapped(order: Order, first: int, last: int) -> Iterator[Sequencing]:
    """Yield the orders that do not wait for `first` before `last`, which the graph leaves open.

    One starts `last` before `first` and lets it end after it, one runs all of `last` as early as
    possible, one holds `first` back as long as possible; the rest stays in program order.
    """
    size = len(order.before)
    needed = order.before[last] | 1 << last
    early = [at for at in range(size) if needed >> at & 1]
    ahead = [at for at in early if at != last]
    behind = [at for at in range(size) if not needed >> at & 1 or at == last]
    yield "the later one starts early", [*ahead, ~last, *behind]
    yield "the later one early", early + [at for at in range(size) if not needed >> at & 1]
    after = [at for at in range(size) if at == first or order.before[at] >> first & 1]
    held = bits_of(after)
    yield "the earlier one late", [at for at in range(size) if not held >> at & 1] + after
