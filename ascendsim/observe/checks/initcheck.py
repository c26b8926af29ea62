"""initcheck: values that come from bytes that nobody wrote.

A shadow of UB and of GM has a 1 for every bit that is undefined. It follows the calls by the rules
of taint.py; a finding is made where such bits reach GM, a scalar, or what steers the kernel. What
ends in GM slack only is no value of the result (memcheck says that it was touched). Contents of a
tensor are undefined again after AllocTensor, though UB still holds what an earlier tile left.
Source: asc-devkit docs, AllocTensor (documented); the rules are those of the instructions.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from ascendsim.observe.checks import taint
from ascendsim.observe.checks.findings import Findings, at
from ascendsim.observe.checks.touched import Touched
from ascendsim.record import GM, UB, Access, Instr

UNDEFINED = 0xFF
MAX_CLEAN = 4096  # spans that are remembered
WRITTEN, UNWRITTEN, PAD = range(3)  # of a byte of UB, for strict reads


class UndefinedInGm:
    """The undefined bits of GM, one byte for each; tensors in `defined` hold values at the start.

    The shadow of a tensor is made when first needed: what is only read needs none.
    """

    def __init__(self, defined: Collection[str]) -> None:
        self.defined = frozenset(defined)
        self._shadows: dict[int, tuple[Any, np.ndarray]] = {}
        self._spare: list[np.ndarray] = []  # shadows of UB of blocks that have ended

    def shadow_of_ub(self, nbytes: int) -> np.ndarray:
        """Return a shadow of UB in which everything is undefined, uint8."""
        if not self._spare:
            return np.full(nbytes, UNDEFINED, np.uint8)
        shadow = self._spare.pop()
        shadow[:] = UNDEFINED
        return shadow

    def give_back(self, shadow: np.ndarray) -> None:
        """Take the shadow of a block that has ended: new memory for each costs more than it."""
        self._spare.append(shadow)

    def clean(self, holder: Any, stop: int) -> bool:
        """Tell without a shadow that all bytes before `stop` are defined."""
        untouched = id(holder) not in self._shadows and holder.name in self.defined
        return untouched and stop <= holder.nbytes

    def of(self, holder: Any) -> np.ndarray:
        """Return the shadow of a tensor with its slack, uint8."""
        found = self._shadows.get(id(holder))
        if found is None:
            shadow = np.full(holder.nbytes + holder.slack, UNDEFINED, np.uint8)
            if holder.name in self.defined:
                shadow[: holder.nbytes] = 0
            found = self._shadows[id(holder)] = holder, shadow
        return found[1]


class Undefined:
    """The undefined bits of the UB of one block."""

    MANAGED = ("AllocTensor", "InitBuffer")

    def __init__(
        self, findings: Findings, in_gm: UndefinedInGm, core: Any, *, strict: bool
    ) -> None:
        self.findings, self.in_gm, self.core = findings, in_gm, core
        self.ub = in_gm.shadow_of_ub(core.ub.nbytes)
        self.state = np.full(core.ub.nbytes, UNWRITTEN, np.uint8) if strict else None
        self.clean: set[tuple[int, int]] = set()  # spans that are known to hold no undefined bit
        self.origins: dict[int, Instr] = {}  # buffer -> last call that stored undefined bits there

    def manage(self, instr: Instr) -> None:
        """Forget the contents of buffers that are given anew."""
        name = instr.call.name
        if name == "AllocTensor":
            buffer = instr.call.accesses[0].holder
            self._forget(buffer.start, buffer.start + buffer.nbytes)
        elif name == "InitBuffer":
            fields = instr.call.fields
            self._forget(fields["ub"], fields["ub"] + fields["num"] * fields["len32"])

    def access(self, instr: Instr, touched: tuple[Touched, ...]) -> None:
        """Follow a call."""
        name = instr.call.name
        if self.state is not None:
            self._strict(instr, touched)
        if name in ("DataCopy", "DataCopyPad"):
            self._copy(instr)
        elif name == "GetValue":
            self._scalar(instr, touched[0])
        else:
            self._compute(instr, touched)

    def release(self) -> None:
        """End the block: its shadow may be used again."""
        self.in_gm.give_back(self.ub)

    def _forget(self, start: int, stop: int) -> None:
        self.clean.clear()
        self.ub[start:stop] = UNDEFINED
        if self.state is not None:
            self.state[start:stop] = UNWRITTEN

    def _compute(self, instr: Instr, touched: tuple[Touched, ...]) -> None:
        """Follow a vector instruction, or a fill of GM."""
        tainted = [each for each in touched if not each.writes and self._any(each)]
        name = instr.call.name
        if not tainted and name != "GatherMask":
            for each in touched:
                if each.writes:
                    self._define(instr, each)
            if name.startswith("Reduce"):
                taint.scratch(self.ub, instr.call)
                self.clean.clear()
            return
        steered = [each for each in tainted if (name, each.access.role) in taint.STEERING]
        if steered:
            operand = taint.STEERING[name, steered[0].access.role]
            what = f"{name} takes {operand} from undefined bytes"
            self._report("initcheck:uninitialized-branch", instr, what, steered[0])
        taint.follow(self.ub, instr, touched)
        self.clean.clear()
        if tainted:
            for each in touched:
                if each.writes:
                    self.origins[id(each.access.holder)] = instr

    def _any(self, touched: Touched) -> bool:
        """Tell whether any bit that is read in UB is undefined."""
        span = touched.start, touched.stop
        if span in self.clean:
            return False
        part = self.ub[touched.start : touched.stop]
        if touched.mask is not None:
            return bool(part[touched.mask].max())
        if part.max():
            return True
        self._know(span)
        return False

    def _know(self, span: tuple[int, int]) -> None:
        """Remember that a span of UB has no undefined bit, until some are stored anywhere."""
        if len(self.clean) >= MAX_CLEAN:
            self.clean.clear()
        self.clean.add(span)

    def _define(self, instr: Instr, touched: Touched) -> None:
        if touched.holder is None:
            span = touched.start, touched.stop
            if span not in self.clean:
                self.ub[touched.start : touched.stop][touched.index] = 0
                if touched.mask is None:
                    self._know(span)
        else:
            if touched.atomic:
                self._combine(instr, touched.holder, touched.start, touched.stop)
            self.in_gm.of(touched.holder)[touched.start : touched.stop][touched.index] = 0

    def _scalar(self, instr: Instr, touched: Touched) -> None:
        if touched.holder is None:
            undefined = self._any(touched)
        else:
            clean = self.in_gm.clean(touched.holder, touched.stop)
            shadow = None if clean else self.in_gm.of(touched.holder)
            undefined = shadow is not None and bool(shadow[touched.start : touched.stop].max())
        if undefined:
            text = f"GetValue takes a scalar from undefined bytes of {_name(touched.access)}"
            self._report("initcheck:uninitialized-scalar", instr, text, touched)

    def _copy(self, instr: Instr) -> None:
        into, out_of = instr.call.accesses
        blocks = instr.call.geometry.blocks  # type: ignore[union-attr]
        if out_of.space == GM:
            pad = instr.call.row.pad
            rows = _view(self.ub, into, blocks, into.element)
            left = 0 if pad is None else pad.left
            data = rows[:, left : left + out_of.element]
            if self._load(data, out_of, blocks) and blocks == 1:
                for start, size in ((0, into.element), (left, out_of.element)):
                    self._know((into.start + start, into.start + start + size))
            if pad is not None:
                _pads(rows, data, pad, left)
                if self.state is not None:
                    states = _view(self.state, into, blocks, into.element)
                    states[:, :left] = states[:, left + out_of.element :] = PAD
            return
        rows = _view(self.ub, out_of, blocks, out_of.element)
        if into.space == UB:
            self.clean.clear()
            _view(self.ub, into, blocks, into.element)[...] = rows.copy()
        else:
            self._store(instr, rows, into, blocks)

    def _load(self, data: np.ndarray, out_of: Access, blocks: int) -> bool:
        """Copy the bits from GM; return False when some of them may be undefined."""
        holder = out_of.holder
        stop = out_of.start + (blocks - 1) * max(out_of.block_stride, 0) + out_of.element
        if self.in_gm.clean(holder, stop):
            data[...] = 0
            return True
        self.clean.clear()
        data[...] = _view(self.in_gm.of(holder), out_of, blocks, out_of.element)
        return False

    def _store(self, instr: Instr, rows: np.ndarray, into: Access, blocks: int) -> None:
        """Undefined bits that reach GM are reported, and count as defined from then on."""
        holder, source = into.holder, instr.call.accesses[1]
        shadow = _view(self.in_gm.of(holder), into, blocks, into.element)
        if instr.call.fields.get("atomic"):
            stop = into.start + (blocks - 1) * into.block_stride + into.element
            self._combine(instr, holder, into.start, stop)
        shadow[...] = 0
        if blocks == 1 and (source.start, source.start + source.element) in self.clean:
            return
        if not rows.max():
            return
        block, byte = np.nonzero(rows)
        reached = into.start + block * into.block_stride + byte
        reached = reached[reached < holder.nbytes]
        if not reached.size:
            return
        origin = self.origins.get(id(source.holder))
        made = "" if origin is None else f", made by {origin.call.name} at "
        made += "" if origin is None else at(self.findings.place(origin.where))
        self.findings.add(
            "initcheck:uninitialized-to-gm",
            instr,
            f"{instr.call.name} stores undefined bytes of {source.holder.name} in {holder.name} "
            f"({reached.size} bytes{made})",
            memory=holder.name,
            span=(int(reached[0]), int(reached[-1]) + 1),
            partner=origin,
        )

    def _combine(self, instr: Instr, holder: Any, start: int, stop: int) -> None:
        """Check what an atomic copy finds in GM."""
        stop = min(stop, holder.nbytes)
        if self.in_gm.clean(holder, stop) or stop <= start:
            return
        if self.in_gm.of(holder)[start:stop].max():
            text = f"{instr.call.name} combines with bytes of {holder.name} that nobody wrote"
            self.findings.add(
                "initcheck:uninitialized-to-gm", instr, text, memory=holder.name, span=(start, stop)
            )

    def _strict(self, instr: Instr, touched: tuple[Touched, ...]) -> None:
        """Report reads of bytes that nobody wrote, or padding only; note what is written."""
        assert self.state is not None
        for each in touched:
            if each.writes or each.holder is not None or instr.call.name == "GetValue":
                continue
            part = self.state[each.start : each.stop]
            part = part if each.mask is None else np.where(each.mask, part, WRITTEN)
            worst = UNWRITTEN if (part == UNWRITTEN).any() else int(part.max())
            if worst:
                pad = worst == PAD
                code = "initcheck:pad-read" if pad else "initcheck:uninitialized-read"
                what = "that only padding wrote" if pad else "that nobody wrote"
                found = np.flatnonzero(part == worst) + each.start
                text = f"{instr.call.name} reads {found.size} bytes of {_name(each.access)} {what}"
                span = int(found[0]), int(found[-1]) + 1
                self.findings.add(code, instr, text, memory=UB, span=span)
        for each in touched:
            if each.writes and each.holder is None:
                self.state[each.start : each.stop][each.index] = WRITTEN

    def _report(self, code: str, instr: Instr, text: str, touched: Touched) -> None:
        origin = self.origins.get(id(touched.access.holder))
        span = touched.start, touched.stop
        self.findings.add(code, instr, text, memory=touched.memory, span=span, partner=origin)


def _view(memory: np.ndarray, access: Access, blocks: int, width: int) -> np.ndarray:
    """Return the blocks of a copy as rows: a view of uint8 (blocks, width)."""
    strides = (access.block_stride, 1)
    return np.ndarray((blocks, width), np.uint8, memory.data, access.start, strides)


def _pads(rows: np.ndarray, data: np.ndarray, pad: Any, left: int) -> None:
    """Define the padding; where it repeats the first element it is what that one is."""
    rows[:, :left] = 0
    behind = rows[:, left + data.shape[1] :]
    behind[...] = 0
    if pad.tail is None:
        element = pad.element
        for start in range(pad.right, behind.shape[1], element):
            behind[:, start : start + element] = data[:, :element]


def _name(access: Access) -> str:
    return str(access.holder.name)
