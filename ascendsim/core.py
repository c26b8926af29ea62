"""The vector core: its UB, registers, pools, and the one place where calls become records.

A call executes at once, in program order. Without readers that is all; with readers
`observed()` makes the record, shows it before and after, and executes the very same call.
Event ids and buffer mutexes are pools of the core, not of TPipe (as in the published headers).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Any

from ascendsim.enums import HardEvent
from ascendsim.errors import AscendError, ContractError, QueueError
from ascendsim.memory import GlobalMemory, UbImage, UnifiedBuffer
from ascendsim.numerics import opcodes
from ascendsim.options import Options
from ascendsim.record import Call, Instr, Observer, Token, Where
from ascendsim.soc import Soc

PAD_AT_START = 0xDEADBEEF  # the pad register is unspecified when a kernel starts
_tuple = tuple.__new__
MAX_INTERNED = 4096  # buffers kept per UB before the table is cleared


class AivCore:
    """One simulated vector core that runs blocks one after another.

    readers : True when records are made; the quiet path tests only this.
    executing : False when records are made without touching bytes.
    trusted : False when a block failed here, so that no other launch may use this core.
    tape : takes (call, waits, signals, scalar) in place of records, for readers that need no more.
    env : ENV_* bits common to all calls of this core (options are fixed per core).
    seq, serial : numbers of the call, and of the token that was signalled last.
    rules : evidence, rule id to the names of the instructions that relied on it.
    warnings : code to text of what a run has to tell its user.
    """

    def __init__(self, soc: Soc, ub_bytes: int, options: Options) -> None:
        from ascendsim.numerics import vexec  # llvmlite loads with the first core, not at import

        self.soc, self.options, self.bodies = soc, options, vexec
        self.move = vexec.mover()
        self.ub, self.gm = UnifiedBuffer(ub_bytes), GlobalMemory(options.gm_slack_fill)
        self.env = _environment(soc, options)
        self.overflow = _mode(options.overflow, soc.overflow_mode)
        self.compare_tail = _mode(options.compare_tail, soc.compare_tail)
        self.events = EventPool(soc.event_ids)
        self.buffers: dict[tuple[int, int, str, int], Any] = {}
        self.used: set[Any] = set()  # places of UB with `start` and `reach`, since the last fill
        self.grants: dict[tuple[Any, ...], Any] = {}  # InitBuffer calls that were checked
        self.copyable: set[tuple[str, Any]] = set()  # (copy, dtype) found to exist on this SoC
        self.rules: dict[str, set[str]] = {}
        self.warnings: dict[str, str] = {}
        self.bound_warnings: dict[str, str] = {}  # of bound calls, which later launches use again
        self.binding: dict[str, str] = {}  # warnings of the call that is being bound
        self.readers = False
        self.executing = self.trusted = True
        self.tape: Callable[..., None] | None = None
        self.observers: tuple[Observer, ...] = ()
        self.block = self.block_num = self.seq = self.serial = 0
        self.number: Any = None  # what GetBlockIdx returns when not the plain block
        self.pipe: Any = None
        self.resized: list[Any] = []  # tensors that SetSize took out of their buffer's table
        self.holders: list[Any] = []  # queues and TBufs of the block, in InitBuffer order
        self.unnamed = 0  # buffers that no kernel object holds by name
        self.ub_used = self.mutexes = 0  # what InitBuffer gave away: bytes from 0 on, mutexes
        self.pad_value, self.pad_set = PAD_AT_START, False
        self.store = self.move  # what copies to GM do: the mover, or an atomic operation
        self.atomic: Any = None  # (name, element type) while copies to GM are atomic
        self.on_hang: Any = None  # takes (core, error) of a wait that hangs; True lets it pass
        self.turns: Any = None  # lets the other blocks run while this one waits for them
        self.siblings: dict[int, AivCore] = {}  # cores of blocks that run by turns, kept
        self.masks: Any = None  # mask registers once the kernel sets them (isa/masks.py)
        self.deq_scale: float | None = None
        self.merged: Any = None  # what GetMrgSortResult returns
        self.sum_register: Any = None  # (type, sum) that GetAccVal returns

    def begin_block(self, block: int, observers: Iterable[Observer]) -> None:
        """Make the core new for `block`: fresh UB, no pipe, no events, records from 0."""
        self._refill()
        self.events.clear()
        self.block, self.seq, self.mutexes, self.number = block, 0, 0, None
        self.pipe, self.ub_used, self.unnamed = None, 0, 0
        self.pad_value, self.pad_set = PAD_AT_START, False
        self.store, self.atomic = self.move, None
        self.merged = self.sum_register = None
        if self.masks is not None or self.deq_scale is not None:
            self.masks = self.deq_scale = None
            self.forget_calls()  # calls bound so far know the registers of the block before
        self.holders.clear()
        self.observers, self.tape = tuple(observers), None
        self.readers = bool(self.observers) or not self.executing

    def _refill(self) -> None:
        """Give every byte of UB that may have been written its fill again."""
        ub = self.ub
        if ub.stale or self.options.out_of_bounds == "report":  # calls may leave their buffers
            ub.refill()
        else:
            for place in self.used:
                if place.reach:
                    at = place.start
                    self.move(ub.base + at, ub.fresh + at, 1, place.reach, 0, 0)
        self.used.clear()

    def image(self) -> UbImage:
        """Return what UB holds now."""
        ub = self.ub
        if self.options.out_of_bounds == "report":
            return UbImage(ub.template, [(0, ub.array.copy())])
        reached = ((p.start, p.start + p.reach) for p in self.used if p.reach)
        return UbImage(ub.template, [(start, ub.array[start:end].copy()) for start, end in reached])

    def warn(self, code: str, text: str) -> None:
        """Note a warning of a call that is being bound."""
        self.bound_warnings.setdefault(code, text)
        self.warnings.setdefault(code, text)
        self.binding.setdefault(code, text)

    def forget_calls(self) -> None:
        """Forget all bound calls; the next ones are checked anew."""
        for buffer in self.buffers.values():
            for tensor in buffer.views.values():
                tensor.forget_calls()
        for tensor in self.resized:
            tensor.forget_calls()

    def relied_on(self, rules: Iterable[str], instruction: str) -> None:
        """Note that `instruction` relied on these rules of the model."""
        for rule in rules:
            self.rules.setdefault(rule, set()).add(instruction)

    def token(self, event: HardEvent, number: int) -> Token:
        """Return a new token along `event`; `number` is the event id or the mutex id."""
        self.serial += 1
        return Token(self.serial, *event.pipes, number)


def require_data(core: AivCore, name: str, why: str = "") -> None:
    """Refuse a call that reads data in a run that makes records only.

    name : the call; why : what hangs on the data, for the text

    Raises
    ------
    ContractError
        When the run has no data.
    """
    if not core.executing:
        raise ContractError(
            f"{name}: this run makes records only (time, execute=False) and has no data"
            f"{why and '; ' + why}: launch it with data"
        )


def observed(
    core: AivCore,
    call: Call,
    scalar: Any = None,
    waits: tuple[Token, ...] = (),
    signals: tuple[Token, ...] = (),
    depth: int = 2,
) -> None:
    """Make the record of `call`, show it to the readers and execute it between.

    `depth` is how many frames above this one the kernel's own line is.
    """
    if core.tape is not None:
        core.seq += 1
        core.tape(call, waits, signals, scalar)
        return
    frame = sys._getframe(depth)
    back = frame.f_back
    # as Where(...) and Instr(...), without their layer of Python: this runs for every record
    place = (frame.f_code, frame.f_lasti, None if back is None else back.f_code)
    where = _tuple(Where, place)
    instr = _tuple(Instr, (core.seq, core.block, call, scalar, waits, signals, where))
    core.seq += 1
    for observer in core.observers:
        observer.before(instr)
    if call.execute is not None and core.executing:
        value = scalar if call.encode is None else call.encode(scalar)
        try:
            call.execute(call.address, 0.0 if value is None else value)
        except AscendError as error:
            error.recorded()
            raise
    for observer in core.observers:
        observer.after(instr)


class EventPool:
    """Event ids per event type: lowest free first, and the flags set with them.

    Source: asc-devkit impl/basic_api, TPipe AllocEventID (code); 8 ids a type, 4 on 910.
    """

    __slots__ = ("flags", "limit", "used")

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.used: dict[HardEvent, int] = {}
        self.flags: dict[tuple[HardEvent, int], Token | None] = {}

    def clear(self) -> None:
        """Give all ids back and clear all flags."""
        self.used.clear()
        self.flags.clear()

    def peek(self, event: HardEvent) -> int:
        """Return the lowest free id without taking it (FetchEventID)."""
        used = self.used.get(event, 0)
        free = ~used & (used + 1)
        if free >> self.limit:
            raise QueueError(
                f"all {self.limit} event ids of {event} are taken: hangs on hardware; at most "
                f"{self.limit} tensors of one position may be in a queue (or freed and not "
                f"allocated again) at once; use fewer buffers or release ids",
                finding="synccheck:ids-exhausted",
            )
        return free.bit_length() - 1

    def take(self, event: HardEvent) -> int:
        """Take the lowest free id (AllocEventID)."""
        used = self.used.get(event, 0)
        free = ~used & (used + 1)
        if free >> self.limit:
            self.peek(event)  # says why
        self.used[event] = used | free
        return free.bit_length() - 1

    def give(self, event: HardEvent, number: int) -> None:
        """Give an id back (ReleaseEventID); an id that is not taken stays free."""
        self.used[event] = self.used.get(event, 0) & ~(1 << number)


def _mode(option: str, of_soc: str) -> str:
    return of_soc if option == "soc" else option


def _environment(soc: Soc, options: Options) -> int:
    env = opcodes.ENV_NAN_ONES if options.nan == "ones" else 0
    if _mode(options.overflow, soc.overflow_mode) == "saturate":
        env |= opcodes.ENV_SATURATE
    if options.ne_nan == "soc" and not soc.ne_nan:
        env |= opcodes.ENV_NE_ORDERED
    if soc.arch == "3510":
        env |= opcodes.ENV_REGISTER
    if options.int_overflow == "truncate":
        env |= opcodes.ENV_TRUNCATE
    return env
