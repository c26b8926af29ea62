"""The observer that runs the wanted checks over the stream of a launch."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from ascendsim.enums import PIPE
from ascendsim.errors import AscendError
from ascendsim.observe.checks.blocks import SYNCS, Traffic
from ascendsim.observe.checks.codes import CODES, TOOLS, tool_of
from ascendsim.observe.checks.findings import Findings
from ascendsim.observe.checks.hang import Hang
from ascendsim.observe.checks.initcheck import Undefined, UndefinedInGm
from ascendsim.observe.checks.memcheck import Memory
from ascendsim.observe.checks.overwrite import Overwritten
from ascendsim.observe.checks.racecheck import Race
from ascendsim.observe.checks.synccheck import SyncState
from ascendsim.observe.checks.touched import Touched, TouchedBytes
from ascendsim.observe.checks.unused import Unused, Unwritten
from ascendsim.observe.checks.warned import Warned
from ascendsim.options import Options
from ascendsim.record import Call, Finding, Instr

_RAISE = {"initcheck": "uninitialized", "racecheck": "race", "synccheck": "sync"}


class _Block:
    """What the wanted checks know of one block.

    `managers` take the calls that order, give or take back; `accesses` those that touch bytes. The
    words that blocks wait with (SyncAll, IBSet, IBWait) are nobody else's, so those calls order.
    """

    def __init__(self, checks: Checks, core: Any) -> None:
        findings, tools = checks.findings, checks.findings.tools
        self.sync = SyncState(findings)
        self.error: AscendError | None = None  # of a wait that finds no flag
        self.hang: Hang | None = None  # once its record came
        self.checks: list[Any] = [self.sync]
        self.known: dict[str, list[Callable[[Instr], None]]] = {}
        self.accesses: list[Callable[[Instr, tuple[Touched, ...]], None]] = []
        if "memcheck" in tools:
            self._add(Memory(findings))
            self.checks.append(checks.unwritten)
            if checks.strict:
                self._add(Overwritten(findings, core))
                self._add(checks.unused)
        if "initcheck" in tools:
            self._add(Undefined(findings, checks.in_gm, core, strict=checks.strict))
        if "racecheck" in tools:
            automatic = core.options.auto_sync == "on"
            in_order = automatic or core.soc.arch == "3510"
            self._add(Race(findings, auto_sync=automatic, ordered_v=in_order))
        if core.block_num > 1 and tools & {"memcheck", "racecheck"}:
            self._add(checks.traffic)

    def _add(self, check: Any) -> None:
        self.checks.append(check)
        self.accesses.append(check.access)

    def managers(self, name: str) -> list[Callable[[Instr], None]]:
        """Return what takes the calls `name`; `known` is what was found before."""
        wanted = (c for c in self.checks if c.MANAGED is None or name in c.MANAGED)
        found = self.known[name] = [each.manage for each in wanted]
        return found


class Checks:
    """An observer; blocks may run one after another or by turns.

    tools : names of the checks
    strict : report what may be meant, too: reads of undefined bytes, double writes, unused GM
    defined : names of the GM tensors that hold values when the launch begins
    outputs : names of those that the kernel must write as a whole
    """

    def __init__(
        self,
        tools: Collection[str],
        options: Options,
        *,
        strict: bool = False,
        defined: Collection[str] = (),
        outputs: Collection[str] = (),
    ) -> None:
        raising = [tool for tool, name in _RAISE.items() if getattr(options, name) == "raise"]
        self.findings = Findings(tools, raising)
        self.tools = tuple(tool for tool in TOOLS if tool in self.findings.tools)
        self.strict = strict
        self.in_gm = UndefinedInGm(defined)
        self.traffic = Traffic(self.findings)
        self.unused = Unused(self.findings, outputs)
        self.unwritten, self.warned = Unwritten(self.findings, outputs), Warned(self.findings)
        self._bytes = TouchedBytes()
        self._blocks: dict[int, _Block] = {}

    def all(self) -> list[Finding]:
        """Return what was found."""
        return self.findings.all()

    def before(self, instr: Instr) -> None:
        """Check a call, before its bytes change."""
        block = self._blocks.get(instr.block)
        if block is None:
            block = self._blocks[instr.block] = _Block(self, instr.call.core)
        if block.error is not None:
            self._behind(block, instr)
            return
        call = instr.call
        name = call.name
        if (call.beyond or call.warned) and "memcheck" in self.findings.tools:
            for error in call.beyond:
                self.findings.add_beyond(error, instr)
            self.warned.see(instr, self._bytes.of(call))
        if call.geometry is None or name in SYNCS:
            for manage in block.known.get(name) or block.managers(name):
                manage(instr)
            return
        touched = self._bytes.of(call)
        if touched:
            for access in block.accesses:
                access(instr, touched)

    def _behind(self, block: _Block, instr: Instr) -> None:
        """Follow a call that is, or comes behind, a wait that finds no flag."""
        if block.hang is not None:
            block.hang.see(instr)
        elif block.error is not None:
            block.hang = Hang(self.findings, instr, block.error, block.sync.flags)

    def after(self, instr: Instr) -> None:
        """Nothing is left to see."""

    def end_block(self, core: Any) -> None:
        """Report what the block that ended on `core` leaves behind."""
        state = self._blocks.pop(core.block, None)
        if state is not None and state.hang is not None:
            raise state.hang.report()
        if state is not None:
            state.sync.end()
            for each in state.checks:
                if isinstance(each, Undefined):
                    each.release()
        if core.masks is not None and "synccheck" in self.findings.tools:
            self._masks(core)

    def _masks(self, core: Any) -> None:
        """Report a mask or its mode that lasts into the next kernel."""
        what, where = core.masks.left_on, core.masks.where
        if what and where is not None:
            call = Call("SetMask", PIPE.PIPE_S, core, ())
            instr = Instr(core.seq, core.block, call, None, (), (), where)
            text = f"block {core.block} ends with {what} set: it lasts into the next kernel"
            self.findings.add("synccheck:mask-left-on", instr, text)

    def end_launch(self, stopped: bool = False) -> None:
        """Report what only all blocks together show; `stopped`: the launch ended at a finding."""
        self.traffic.end()
        if not stopped:  # what was not reached says nothing
            self.unused.end()
            self.unwritten.end()

    @property
    def told(self) -> frozenset[str]:
        """The warnings of a launch that findings tell already: codes, `coverage NAME`."""
        told = self.warned.told | self.unwritten.told
        if any(code.endswith("out-of-bounds") for code in self.findings.codes()):
            told |= {"out-of-bounds"}
        return frozenset(told)

    def hangs(self, core: Any, error: AscendError) -> bool:
        """Take the error of a wait that finds no flag, to say at the end who waits for whom."""
        tools = self.findings.tools - self.findings.raising
        if "synccheck" not in tools:
            return False
        block = self._blocks.get(core.block)
        if block is None:
            block = self._blocks[core.block] = _Block(self, core)
        if block.hang is None:
            block.error = error
        return True

    def takes(self, error: AscendError, core: Any) -> bool:
        """Report an error that ended a block, where a running check knows this fault."""
        block = self._blocks.get(core.block)
        if block is not None and block.hang is not None:  # what comes behind a wait that hangs
            first = block.hang.report()
            error.message, error.where = first.message, first.where
            return True
        tool = tool_of(error.finding)
        if error.finding not in CODES or tool not in self.findings.tools:
            return False
        if tool in self.findings.raising:
            return False
        partner = None if block is None else block.sync.partner_of(error.about)
        self.findings.add_error(error, (core.block, core.seq - error.executed), partner)
        return True
