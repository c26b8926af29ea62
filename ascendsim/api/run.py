"""What a launch gives back: outputs, logs, evidence, and on demand its time."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ascendsim.errors import RequestError
from ascendsim.memory import UbImage
from ascendsim.observe.calls import recorded_calls
from ascendsim.observe.outputs import crc_of
from ascendsim.observe.recorder import BlockRecording
from ascendsim.record import Finding

if TYPE_CHECKING:  # loaded when they are asked for: most runs need none of them
    from ascendsim.observe.timeline import Timeline
    from ascendsim.view.diff import Diff
    from ascendsim.view.explain_lane import Explanation
    from ascendsim.view.index import Index
    from ascendsim.view.questions import Questions, Writer
    from ascendsim.view.stepper import Change, Stepper
    from ascendsim.view.why import Cause


@dataclass(slots=True)
class Run:
    """The data of a run.

    outputs : arrays by name, `out` the first (opened: observe/outputs.py); warnings : `code: text`
    each; checks : those that ran; findings : theirs; evidence : the rules it relied on and the
    weakest grade; mode : how it really ran, `fallback` why not (else ""); seconds : wall time.
    """

    op: str
    dtype: str
    n: int
    soc: str
    block_dim: int
    tiling: dict[str, Any]
    mode: str
    fallback: str
    seconds: float
    outputs: dict[str, np.ndarray]
    warnings: list[str]
    evidence: dict[str, Any]
    checks: tuple[str, ...] = ()
    findings: list[Finding] = field(default_factory=list)
    ub_images: dict[int, UbImage] = field(default_factory=dict, repr=False)
    log: Callable[[], list[dict[str, Any]]] | None = field(default=None, repr=False, compare=False)
    recordings: dict[int, BlockRecording] = field(default_factory=dict, repr=False)
    timed: Callable[[], Timeline] | None = field(default=None, repr=False, compare=False)
    wanted: Callable[[Any], Any] | None = field(default=None, repr=False, compare=False)
    _calls: list[dict[str, Any]] | None = field(default=None, init=False, repr=False, compare=False)
    _timeline: Timeline | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def out(self) -> np.ndarray:
        """The first output.

        Raises
        ------
        RequestError
            When the run made records only (execute=False).
        """
        if not self.outputs:
            raise RequestError("this run made records only; launch it with execute=True")
        return next(iter(self.outputs.values()))

    @property
    def calls(self) -> list[dict[str, Any]]:
        """The call log, one dict per call: with record="calls", or block by block of "bytes"."""
        if self._calls is None and self.log is not None:
            self._calls = self.log()
        if self._calls is None:
            self._calls = list(recorded_calls(self.recordings.values(), bool(self.outputs)))
        return self._calls

    @property
    def timeline(self) -> Timeline:
        """The predicted time of this launch; computed when first asked for.

        Raises
        ------
        UnsupportedError
            When the SoC has no costs.
        AscendError
            When the kernel reads data as scalars: timelines are made without data.
        """
        if self._timeline is None:
            if self.timed is None:
                raise RequestError("this run has no timeline: launch() it anew, or asim.time()")
            self._timeline = self.timed()
        return self._timeline

    def stepper(self, block: int = 0) -> Stepper:
        """Return a stepper at the start of `block`.

        Raises
        ------
        RequestError
            When the run was not launched with record="bytes", or not for this block.
        """
        from ascendsim.view.stepper import Stepper

        if block not in self.recordings:
            known = ", ".join(map(str, self.recordings))
            raise RequestError(
                f"block {block} was not recorded; blocks {known} were"
                if known
                else 'nothing was recorded: launch with record="bytes"'
            )
        return Stepper(self.recordings[block])

    def diff(self, other: Run) -> Diff:
        """Return the first call that stores other bytes than in `other`, and what follows of it.

        Both runs are recorded with record="bytes". Print the answer.

        Raises
        ------
        RequestError
            When a run was not recorded, or the operators or their element types differ.
        """
        from ascendsim.view.diff import diff_of

        return diff_of(self, other)

    def explain_lane(self, index: Index, output: str | None = None) -> Explanation:
        """Say in one sentence where an element of an output leaves the exact result, and why.

        `index` is flat, or one number per axis; `output` defaults to the first. Needs
        record="bytes" and a definition in op_ref.py. Print the answer.

        Raises
        ------
        RequestError
            When there is no such element or output, no recording, or no definition.
        """
        from ascendsim.view.explain_lane import explain
        from ascendsim.view.index import flat

        name = next(iter(self.outputs), "") if output is None else output
        if name not in self.outputs:
            raise RequestError(f"no output {name!r}; there are {', '.join(self.outputs)}")
        array = self.outputs[name]
        index = flat(name, index, array.shape)
        if not self.recordings or self.wanted is None:
            raise RequestError('nothing was recorded: launch with record="bytes"')
        return explain(self.recordings, name, index, self.wanted, array.size)

    def who_wrote(
        self, name: str, byte: int, *, block: int | None = None, slot: int = 0
    ) -> Writer | None:
        """Return the last call that stored a byte, None when none of the recorded ones did.

        name : an output ("out"), a buffer in UB (with `slot` of its queue), or "UB" as a whole.
        byte : counts from its start. block : whose UB, needed when several were recorded; of an
        output the last block that stored the byte, by default.

        Raises
        ------
        RequestError
            When there is no such name, byte, slot or block, or nothing was recorded.
        """
        return self._questions().who_wrote(name, byte, block, slot)

    def why(
        self, name: str, lane: Index, dtype: Any = None, *, block: int | None = None, slot: int = 0
    ) -> Cause:
        """Return the calls behind an element of an output, or a lane of a buffer at the end.

        The tree goes back to the tensors in GM, with the lane's bits at each call; print it.
        `name`, `block` and `slot` as for `who_wrote`; `dtype` is how a buffer is read, by default
        as the kernel last used it.

        Raises
        ------
        RequestError
            As `who_wrote`, and when no recorded copy stored the element.
        """
        return self._questions().why(name, lane, dtype, block, slot)

    def watch(
        self, name: str, lane: Index, dtype: Any = None, *, block: int | None = None, slot: int = 0
    ) -> list[Change]:
        """Return every call that stored to an element of an output or a lane of a buffer.

        Each has its block and position, and the bits before and after. Arguments and errors as
        for `why`.
        """
        return self._questions().watch(name, lane, dtype, block, slot)

    def _questions(self) -> Questions:
        from ascendsim.view.questions import Questions

        return Questions(self.recordings, self.outputs)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write this run with its recording to one file, whole or not at all.

        `asim.open(path)` gives it back, on any machine, without the kernel: stepper, diff, calls,
        outputs, warnings and evidence are the same to the bit. With `blocks=` the file holds what
        those blocks read and stored, their UB images, and small outputs whole. Sources go along.

        Raises
        ------
        RequestError
            When the file cannot be written, or the recording is too large for one.
        """
        from ascendsim.api.saved import saved_bytes
        from ascendsim.view.whole_file import whole_file

        content = saved_bytes(self)
        with whole_file(path) as file:
            file.write(content)

    def save_capsule(self, path: str | os.PathLike[str], notes: Iterable[str] = ()) -> None:
        """Write this run as one HTML page that steps through it, opened from disk in a browser.

        The page carries the file that `save` writes, so `asim.open` takes it too. `notes` are
        sentences that it shows, on what was left out for instance.

        Raises
        ------
        RequestError
            When nothing was recorded (record="bytes"), the page would be too large, or it cannot
            be written; nothing is left then.
        """
        from ascendsim.api.saved import page_bytes
        from ascendsim.view.whole_file import whole_file

        content = page_bytes(self, list(notes))
        with whole_file(path) as file:
            file.write(content)

    def save_trace(self, path: str | os.PathLike[str], blocks: Iterable[int] | None = None) -> None:
        """Write the timeline as Chrome trace JSON, of one block of each kind or of `blocks`.

        Raises
        ------
        RequestError
            When there is no such block, or the file cannot be written; nothing is left then.
        """
        from ascendsim.view.chrome_trace import save_trace

        save_trace(self.timeline, path, blocks)

    def ub(self, core: int) -> np.ndarray:
        """Return the whole UB of `core` when its block ended (with record="calls").

        Raises
        ------
        RequestError
            When UB images were not kept, or there is no such core.
        """
        if core not in self.ub_images:
            there = f"there are those of cores {_ranges(self.ub_images)}"
            why = there if self.ub_images else 'launch with record="calls"'
            raise RequestError(f"no UB image of core {core}: {why}")
        return self.ub_images[core].array

    def to_json(self) -> dict[str, Any]:
        """Return the document that `ascendsim run --json` prints."""
        crcs = {name: crc_of(output) for name, output in self.outputs.items()}
        facts = ("op", "dtype", "n", "soc", "block_dim", "tiling", "mode", "fallback")
        document = {name: getattr(self, name) for name in facts} | {
            "out_crc32": next(iter(crcs.values()), None),
            "seconds": self.seconds,
            "elements_per_second": self.n / self.seconds if self.seconds > 0 else 0.0,
            "warnings": self.warnings,
            "evidence": self.evidence,
        }
        return document if len(crcs) < 2 else document | {"outputs": crcs}

    def __repr__(self) -> str:
        return (
            f"Run({self.op} {self.dtype} n={self.n} on {self.soc}, {self.block_dim} blocks, "
            f"{self.mode}, weakest evidence {self.evidence['weakest']})"
        )

    def _repr_html_(self) -> str:
        from ascendsim.view.html.run import run_html

        return run_html(self)


def _ranges(numbers: Iterable[int]) -> str:
    """Return numbers in words: `0 to 3, 7`."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][-1] + 1:
            runs[-1][1:] = [number]
        else:
            runs.append([number])
    return ", ".join(" to ".join(str(each) for each in run) for run in runs)
