"""A vector core as an event machine: what may start while something else is held back.

It knows nothing of graphs: the scalar unit issues into queues, pipes start what is at their head,
flags are set when all before them is complete. Holding one instruction back for ever and letting
everything else go on as far as it can shows exactly what does not wait for it.
"""

from __future__ import annotations

from collections import deque

from ascendsim.engine.order import PIPES, Rules
from ascendsim.enums import PIPE


class Machine:
    """Runs records with one of them (`held`) never completing; `started` is what ran anyway."""

    def __init__(self, records, rules: Rules, held: int) -> None:
        self.records, self.rules, self.held = records, rules, held
        self.queues = {pipe: deque() for pipe in PIPES}
        self.running = {pipe: set() for pipe in PIPES}  # started and not complete
        self.flags: set[int] = set()
        self.started: set[int] = set()
        self.next = 0

    def run(self) -> set[int]:
        """Let everything go on until nothing can; return the positions that started."""
        while self.issue() or any(self.advance(pipe) for pipe in PIPES):
            pass
        return self.started

    def issue(self) -> bool:
        """Let the scalar unit issue one record, when what it does itself is done."""
        if self.next == len(self.records):
            return False
        call = self.records[self.next].call
        if call.pipe is PIPE.PIPE_ALL:
            if any(self.queues.values()) or any(self.running.values()):
                return False
        elif self.queues[PIPE.PIPE_S] or self.running[PIPE.PIPE_S]:
            return False
        else:
            self.queues[call.pipe].append(self.next)
        self.next += 1
        return True

    def advance(self, pipe: PIPE) -> bool:
        """Start what stands at the head of a pipe's queue, when it may."""
        queue = self.queues[pipe]
        if not queue:
            return False
        at = queue[0]
        instr = self.records[at]
        if instr.call.name == "PipeBarrier" or instr.signals:
            if self.running[pipe]:
                return self.signal_aside(pipe, at)
            self.flags.update(token.serial for token in instr.signals)
        elif instr.waits:
            if not all(token.serial in self.flags for token in instr.waits):
                return False
        elif instr.call.geometry is not None:
            ordered = pipe is PIPE.PIPE_S or (pipe is PIPE.PIPE_V and self.rules.vector)
            if ordered and self.running[pipe]:
                return False
            self.started.add(at)
            if at == self.held:
                self.running[pipe].add(at)
        queue.popleft()
        return True

    def signal_aside(self, pipe: PIPE, at: int) -> bool:
        """Drop a set behind something unfinished: it never fires and holds up nothing."""
        if not self.records[at].signals:
            return False
        self.queues[pipe].popleft()
        return True
