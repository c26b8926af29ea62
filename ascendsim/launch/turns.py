"""Blocks that wait for one another take turns.

As long as no block waits, blocks run one after another in the launching thread, on one core. The
first call that must wait (SyncAll, IBSet, IBWait) hands over: each later block gets a core of its
own and an operating system thread, and exactly one of them runs at any moment. A turn passes only
inside those calls and at the end of a block, to the next block in the order of their numbers
(cyclic) that can go on, so every run takes the same course. Kernels that never wait see nothing of
this.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from ascendsim.core import AivCore
from ascendsim.errors import QueueError
from ascendsim.record import CURRENT

NEW, RUNNING, WAITING, DONE = range(4)


class Abandoned(BaseException):
    """Unwinds a block that cannot go on, since another one failed; kernels must not catch it."""


@dataclass(slots=True)
class Seat:
    """What is known of one block: its state, what it waits for, and the bell that wakes it."""

    state: int = NEW
    ready: Callable[[], bool] | None = None
    text: str = ""
    failure: str = ""
    bell: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))


class Turns:
    """The blocks of a launch, run to their end.

    run_one : runs a block on a core, from its beginning to its end
    """

    def __init__(self, core: AivCore, blocks: int, run_one: Callable[[AivCore, int], None]) -> None:
        self.core, self.run_one = core, run_one
        self.seats = [Seat() for _ in range(blocks)]
        self.arrivals = [0] * blocks
        self.soft: dict[tuple[int, int], int] = {}
        self.home = threading.Semaphore(0)  # wakes the launching thread when all are done
        self.here = 0  # the block that runs in the launching thread
        self.error: BaseException | None = None
        self.threads: dict[int, threading.Thread] = {}

    def run(self) -> None:
        """Run all blocks; raises what the first one that fails raises."""
        try:
            for number, seat in enumerate(self.seats):
                if seat.state == NEW:
                    self._run_here(number)
        except Abandoned:
            raise self.error from None  # type: ignore[misc]
        finally:
            self._abandon()

    def meet(self, block: int) -> None:
        """Wait until every block has called this as often as `block` has."""
        self.arrivals[block] += 1
        mine = self.arrivals[block]
        text = f"SyncAll waits for ever: not all {len(self.seats)} blocks call it {mine} times"
        self.wait(block, lambda: min(self.arrivals) >= mine, text)

    def soft_count(self, block: int, address: int) -> int:
        """Return how often `block` called SyncAll with the workspace at `address` before."""
        count = self.soft.get((block, address), 0)
        self.soft[block, address] = count + 1
        return count

    def wait(self, block: int, ready: Callable[[], bool], text: str) -> None:
        """Let the other blocks run until `ready()` and it is this block's turn.

        Raises
        ------
        QueueError
            When no block can go on: hardware hangs.
        """
        seat = self.seats[block]
        if self.error is not None:
            raise Abandoned
        seat.state, seat.ready, seat.text = WAITING, ready, text
        chosen = self._pass_from(block)
        if chosen < 0:
            seat.state = RUNNING
            raise QueueError(f"{text}; hangs on hardware", finding="synccheck:block-deadlock")
        if chosen != block:
            seat.bell.acquire()
        seat.ready = None
        if self.error is not None:
            raise Abandoned
        if seat.failure:
            raise QueueError(
                f"{seat.failure}; hangs on hardware", finding="synccheck:block-deadlock"
            )

    def _run_here(self, number: int) -> None:
        """Run a block in the launching thread; then wait until blocks that wait are done."""
        self.core.turns = self
        self.here, seat = number, self.seats[number]
        seat.state = RUNNING
        self.run_one(self.core, number)
        seat.state = DONE
        if any(each.state == WAITING for each in self.seats):
            self._leave(number)
            self.home.acquire()
            if self.error is not None:
                raise Abandoned

    def _run_apart(self, number: int) -> None:
        """Run a block on a core and in a thread of its own."""
        core = self._sibling(number)
        CURRENT.set(core)
        try:
            self.run_one(core, number)
        except Abandoned:
            return
        except BaseException as error:
            self.error = error
            at_home = self.seats[self.here]
            (at_home.bell if at_home.state == WAITING else self.home).release()
            return
        self.seats[number].state = DONE
        self._leave(number)

    def _leave(self, number: int) -> None:
        """Pass the turn on when a block has ended."""
        if self._pass_from(number) >= 0:
            return
        seat = next((each for each in self.seats if each.state == WAITING), None)
        if seat is None:
            self.home.release()
            return
        seat.failure, seat.state = f"{seat.text}: block {number} has ended", RUNNING
        seat.bell.release()

    def _pass_from(self, block: int) -> int:
        """Give the turn to the next block that can go on and return its number, -1 for none."""
        count = len(self.seats)
        for step in range(1, count + 1):
            number = (block + step) % count
            seat = self.seats[number]
            if seat.state == NEW:
                seat.state = RUNNING
                thread = threading.Thread(target=self._run_apart, args=(number,), daemon=True)
                self.threads[number] = thread
                thread.start()
                return number
            if seat.state == WAITING and seat.ready is not None and seat.ready():
                seat.state = RUNNING
                if number != block:
                    seat.bell.release()
                return number
        return -1

    def _sibling(self, number: int) -> AivCore:
        """Return the core of a block that runs apart; it shares memory and findings with ours."""
        main = self.core
        core = main.siblings.get(number)
        if core is None:
            core = AivCore(main.soc, main.ub.nbytes, main.options)
            main.siblings[number] = core
        core.gm, core.block_num, core.executing = main.gm, main.block_num, main.executing
        core.rules, core.warnings = main.rules, main.warnings
        core.bound_warnings, core.turns = main.bound_warnings, self
        core.ub.set_fill(*(main.ub.fill or ("poison", 0)))
        return core

    def _abandon(self) -> None:
        """Unwind the blocks that still wait, one at a time, and forget the turns."""
        self.core.turns = None
        if self.error is None:
            self.error = Abandoned()
        for number, thread in self.threads.items():
            if self.seats[number].state == WAITING:
                self.seats[number].bell.release()
            thread.join()
