"""The observer that runs the wanted checks over the stream of a launch."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from ascendsim.errors import AscendError
from ascendsim.observe.checks.codes import CODES, TOOLS, tool_of
from ascendsim.observe.checks.findings import Findings
from ascendsim.observe.checks.synccheck import SyncState
from ascendsim.options import Options
from ascendsim.record import Finding, Instr

_RAISE = {"initcheck": "uninitialized", "racecheck": "race", "synccheck": "sync"}


class Checks:
    """An observer; blocks may run one after another or by turns.

    tools : names of the checks; strict : report reads of undefined bytes, too
    defined : names of the GM tensors that hold values when the launch begins
    """

    def __init__(
        self,
        tools: Collection[str],
        options: Options,
        *,
        strict: bool = False,
        defined: Collection[str] = (),
    ) -> None:
        raising = [tool for tool, name in _RAISE.items() if getattr(options, name) == "raise"]
        self.findings = Findings(tools, raising)
        self.tools = tuple(tool for tool in TOOLS if tool in self.findings.tools)
        self.strict, self.defined = strict, frozenset(defined)
        self._blocks: dict[int, SyncState] = {}

    def all(self) -> list[Finding]:
        """Return what was found."""
        return self.findings.all()

    def before(self, instr: Instr) -> None:
        """Check a call, before its bytes change."""
        state = self._blocks.get(instr.block)
        if state is None:
            state = self._blocks[instr.block] = SyncState(self.findings)
        state.before(instr)

    def after(self, instr: Instr) -> None:
        """Nothing is left to see."""

    def end_block(self, block: int) -> None:
        """Report what a block that ended leaves behind."""
        state = self._blocks.pop(block, None)
        if state is not None:
            state.end()

    def end_launch(self) -> None:
        """Report what only all blocks together show."""

    def takes(self, error: AscendError, core: Any) -> bool:
        """Report an error that ended a block, where a running check knows this fault."""
        tool = tool_of(error.finding)
        if error.finding not in CODES or tool not in self.findings.tools:
            return False
        if tool in self.findings.raising:
            return False
        state = self._blocks.get(core.block)
        partner = None if state is None else state.partner_of(error.about)
        self.findings.add_error(error, core.block, core.seq, partner)
        return True
