"""A stepper in a notebook: where it stands, the call that comes next, UB, and the mask it uses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ascendsim.record import UB, Access, Instr
from ascendsim.view.html.call import calls_html, operands_html, pipe_of, source_html
from ascendsim.view.html.mask import mask_parts
from ascendsim.view.html.style import face, facts, head, text
from ascendsim.view.html.ub_map import ub_map_parts
from ascendsim.view.mask import Mask
from ascendsim.view.registers import set_words_of

if TYPE_CHECKING:
    from ascendsim.view.stepper import Stepper

WIDTH, HEIGHT, TOP = 940, 26, 4
PHASES = {"CopyIn": "#2f6fb5", "Compute": "#a65f12", "CopyOut": "#23835d", "": "#6b7480"}
MOST_RUNS = 100  # stretches of one phase that the strip of a long block still draws
MASK_ROWS = 4


def stepper_html(at: Stepper) -> str:
    """Return the whole face of a stepper at its moment."""
    return face(*stepper_parts(at))


def stepper_parts(at: Stepper) -> Iterator[str]:
    """Yield the parts of the face, to stand inside a box."""
    instr = at.instr
    block = at.entries[0].instr.block if at.entries else 0
    place = f"call {at.position} of {len(at)}"
    yield head(f"block {block}", place, *_where(at))
    yield strip_svg(at)
    if instr is not None:
        yield source_html(instr.where)
        yield calls_html(at)
        yield operands_html(at)
    yield registers_html(at)
    yield '<div class="asim-b"></div>'
    yield from ub_map_parts(at.map())
    mask = mask_at(at)
    if mask is not None:
        yield '<div class="asim-b"></div>'
        yield from mask_parts(mask, MASK_ROWS)


def registers_html(at: Stepper) -> str:
    """Return the registers that are not as the block found them; "" when all are."""
    words = set_words_of(at.registers())
    return facts({name: text(word) for name, word in words.items()})


def _where(at: Stepper) -> tuple[str, ...]:
    instr = at.instr
    if instr is None:
        return ("end of the block",)
    tile = f"tile {at.tile}" if at.tile >= 0 else "before tile 0"
    file = "/".join(instr.where.file.replace("\\", "/").split("/")[-2:])
    phase = instr.where.phase or "outside the phases"
    return f"next {instr.call.name} on {pipe_of(instr)}", phase, tile, file


def strip_svg(at: Stepper) -> str:
    """Return all calls of the block as one strip, coloured by phase, and where we stand."""
    total = max(len(at), 1)
    marks = [
        f'<rect x="{WIDTH * start / total:.1f}" y="{TOP}" '
        f'width="{WIDTH * (stop - start) / total:.1f}" height="8" fill="{PHASES.get(name)}"/>'
        for name, start, stop in _runs(at)
    ]
    x = WIDTH * at.position / total
    marks.append(f'<path fill="var(--ink)" d="M{x:.1f} {TOP + 9}l-5 9h10z"/>')
    return (
        f'<svg viewBox="-6 0 {WIDTH + 12} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img">'
        f"<title>{text(_legend())}</title>{''.join(marks)}</svg>"
    )


def _legend() -> str:
    return "the calls of the block: blue CopyIn, brown Compute, green CopyOut, grey outside"


def _runs(at: Stepper) -> list[tuple[str, int, int]]:
    """Return the stretches of one phase; all as one where they are too many to see."""
    found: list[tuple[str, int, int]] = []
    for position, entry in enumerate(at.entries):
        phase = entry.instr.where.phase
        if found and found[-1][0] == phase:
            found[-1] = phase, found[-1][1], position + 1
        else:
            found.append((phase, position, position + 1))
        if len(found) > MOST_RUNS:
            return [("", 0, len(at))]
    return found


def mask_at(at: Stepper) -> Mask | None:
    """Return the mask that the next call reads, else the one that the last call stored."""
    for instr, writes in ((at.instr, False), (at.done, True)):
        access = _mask_of(instr, writes)
        if instr is not None and access is not None:
            spans = instr.call.ranges(access)
            start, stop = min(a for a, _ in spans), max(b for _, b in spans)
            name = f"{access.holder.name} {'stored by' if writes else 'read by'} {instr.call.name}"
            count = instr.call.fields.get("count")
            lanes = min(int(count), 8 * (stop - start)) if count else None
            return Mask.of(name, at.ub[start:stop], lanes)
    return None


def _mask_of(instr: Instr | None, writes: bool) -> Access | None:
    """Return the operand of a call that is a run of mask bits in UB."""
    if instr is None or instr.call.execute is None:
        return None
    for access in instr.call.accesses:
        if access.element == 0 and access.space == UB and access.writes is writes:
            return access if instr.call.ranges(access) else None
    return None
