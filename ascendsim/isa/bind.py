"""Bind a call: every rule of the contract that does not depend on the scalar, checked once.

The result is one immutable Call with one row for the compiled body; later calls with the same
operands find it in the destination's `calls` and check only that the buffers are still alive.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ascendsim.enums import DATABLOCK_BYTES, PIPE, SELMODE
from ascendsim.errors import (
    AlignmentError,
    AscendError,
    BoundsError,
    ContractError,
    OverlapError,
    QueueError,
    UnsupportedError,
)
from ascendsim.isa import geometry as geo
from ascendsim.isa import masks
from ascendsim.isa.beyond import beyond, tolerated
from ascendsim.isa.on_arrays import on_arrays
from ascendsim.isa.overlap import overlap_of
from ascendsim.isa.roles import BITS, DESTINATIONS, Role
from ascendsim.isa.rows import make_row, make_words
from ascendsim.isa.rules import rules_of
from ascendsim.isa.shape import shape_of
from ascendsim.isa.support import body_name, check_form, check_types, encoder, value_type
from ascendsim.numerics import opcodes
from ascendsim.record import UB, Access, Call

MAX_CALLS = 256  # bound calls kept per destination tensor before the table is cleared


def bind(
    decl: Any,
    tensors: tuple[Any, ...],
    mode: Any,
    lanes: tuple[Any, Any, Any, bool],
    key: tuple[Any, ...],
) -> Call:
    """Check a call against the contract and return it bound.

    Parameters
    ----------
    decl : the instruction (declare.Decl)
    tensors : dst, sources, mask bits
    lanes : (count or mask, repeatTimes or None, repeat parameters or None, isSetMask)
    key : the key under which dst remembers the call

    Raises
    ------
    AscendError
        When a rule is broken; the text names instruction, operand, value, rule and way out.
    """
    try:
        core = _common_core(decl, tensors, mode)
        core.binding.clear()
        sets_mask = core.masks is not None and masks.concerns(core, lanes)
        check_types(decl, tensors, mode, core)
        if decl.caution is not None:
            decl.caution(decl.name, core)
        dtype = value_type(decl, tensors)
        if lanes[1] is not None:
            check_form(decl.name, dtype, core)
        elements = [_element(role, t) for (_, role), t in zip(decl.operands, tensors, strict=True)]
        width = geo.lanes_per_repeat([e for e in elements if e])
        shape = shape_of(decl, elements, width, lanes, core)
        if mode is SELMODE.VSEL_CMPMASK_SPR:  # the bits of one repeat serve every repeat
            shape = replace(shape, layouts=(*shape.layouts[:-1], geo.Layout(0, 0, 0)))
        accesses = _accesses(decl, tensors, shape)
        left = _check_operands(decl, core, tensors, shape)
        in_order = _check_overlap(decl, core, accesses, tensors[0], shape)
        call = _bound(decl, tensors, mode, shape, accesses, in_order)
        call.beyond, call.warned = left, tuple(core.binding.items())
    except AscendError as error:
        error.message = f"{decl.name}: {error.message}"
        raise
    relied = rules_of(decl, mode, shape.counted, dtype, core.options, in_order)
    core.relied_on(relied, decl.name)
    tensors[0].written(shape.extent(shape.layouts[0]))
    if sets_mask:
        call.sets = masks.held(core)
    if masks.may_remember(core, lanes):
        _remember(tensors, key, call)
    return call


def freed(decl: Any, tensors: tuple[Any, ...]) -> AscendError:
    """Return the error for a call on a buffer that is not allocated."""
    for (name, _), tensor in zip(decl.operands, tensors, strict=True):
        if not tensor.buffer.state:
            return QueueError(
                f"{decl.name}: {name} is {tensor!r}, whose buffer was freed; on hardware another "
                f"pipe may already fill it; use it before FreeTensor or call AllocTensor again",
                finding="memcheck:use-after-free",
                about=tensor.buffer,
            )
    raise AssertionError("freed() called with live operands")


def bad_scalar(decl: Any, scalar: Any) -> AscendError:
    """Return the error for a scalar that is no number."""
    return ContractError(
        f"{decl.name}: {decl.scalar} is {scalar!r} ({type(scalar).__name__}): it must be a number "
        f"of the element type"
    )


def _common_core(decl: Any, tensors: tuple[Any, ...], mode: Any) -> Any:
    for (name, _), tensor in zip(decl.operands, tensors, strict=True):
        if getattr(tensor, "space", None) != UB:
            what = "a GlobalTensor" if hasattr(tensor, "allocation") else repr(tensor)
            raise ContractError(
                f"{name} is {what}: it must be a LocalTensor in UB (copy it in with DataCopy)"
            )
    if decl.mode is not None and not isinstance(mode, decl.mode):
        names = ", ".join(f"{decl.mode.__name__}.{m.name}" for m in decl.mode)
        raise ContractError(f"mode is {mode!r}: use one of {names}")
    core = tensors[0].core
    if any(t.core is not core for t in tensors):
        raise ContractError("operands lie in the UB of different cores")
    return core


def _element(role: Role, tensor: Any) -> int:
    return 0 if role in BITS else tensor.dtype.nbytes


def _accesses(decl: Any, tensors: tuple[Any, ...], shape: geo.Geometry) -> tuple[Access, ...]:
    found = []
    for (name, role), tensor, layout in zip(decl.operands, tensors, shape.layouts, strict=True):
        log = "mask" if role is Role.BITS_IN else name
        found.append(
            Access(
                "src0" if log == "src" else log,
                UB,
                tensor.buffer,
                tensor.start,
                tensor.dtype,
                role in DESTINATIONS,
                layout.element,
                layout.block_stride,
                layout.repeat_stride,
            )
        )
    return tuple(found)


def _check_operands(
    decl: Any, core: Any, tensors: tuple[Any, ...], shape: geo.Geometry
) -> tuple[BoundsError, ...]:
    """Check alignment and bounds; return what is reported only (out_of_bounds=report)."""
    left: tuple[BoundsError, ...] = ()
    for (name, _), tensor, layout in zip(decl.operands, tensors, shape.layouts, strict=True):
        if tensor.start % DATABLOCK_BYTES:
            raise AlignmentError(
                f"{name} starts at UB[{tensor.start:#x}] of {tensor.buffer.name}: vector operands "
                f"start at multiples of {DATABLOCK_BYTES} bytes; use an offset that is a multiple "
                f"of {DATABLOCK_BYTES // tensor.dtype.nbytes} {tensor.dtype} elements",
                about=tensor,
            )
        extent = shape.extent(layout)
        if extent > tensor.nbytes:
            error = BoundsError(
                f"{name} needs UB[{tensor.start:#x}, {tensor.start + extent:#x}), past the end of "
                f"{tensor!r} ({extent} of {tensor.nbytes} bytes); use a smaller count or a larger "
                f"buffer",
                about=beyond(tensor, extent),
            )
            if decl.on_arrays:  # it runs on the arrays of its tensors
                raise error
            left += tolerated(core, decl.name, error)
    return left


def _check_overlap(
    decl: Any, core: Any, accesses: tuple[Access, ...], dst: Any, shape: geo.Geometry
) -> bool:
    """Check which bytes operands share; return whether repeats must run in order."""
    kind = overlap_of(decl.name, accesses, shape)
    if kind == "mask":
        raise OverlapError("mask bits share bytes with another operand; give them their own buffer")
    if kind == "partial":
        core.warn(
            "overlap",
            f"{decl.name}: a source overlaps dst ({dst!r}) in part, which is undefined on "
            f"hardware; repeats ran in order here",
        )
    return kind != "none"


def _bound(
    decl: Any,
    tensors: tuple[Any, ...],
    mode: Any,
    shape: geo.Geometry,
    accesses: tuple[Access, ...],
    in_order: bool,
) -> Call:
    core, dtype = tensors[0].core, value_type(decl, tensors)
    if decl.on_arrays:
        return _on_arrays(decl, tensors, shape, accesses)
    try:
        opcode = core.bodies.opcode(body_name(decl, tensors))
    except KeyError:
        raise UnsupportedError(f"{dtype} is not modelled for {decl.name}") from None
    row = make_row(decl, tensors, mode, shape, opcode)
    words = make_words(decl, shape, in_order, core.soc.arch)
    if words is not None:
        row[opcodes.GEOMETRY] = words.ctypes.data
    execute = core.bodies.entry(opcode) if shape.count else _nothing
    if not shape.count and core.soc.arch == "3510":
        core.warn("empty-call", f"{decl.name} without elements: not promised to do nothing on 950")
    hidden: tuple[tuple[int, int], ...] = ()
    if decl.around is not None:
        execute, hidden = decl.around(execute, tensors, mode)
    return Call(
        decl.name,
        PIPE.PIPE_V,
        core,
        accesses,
        execute,
        row.ctypes.data,
        encoder(decl, tensors),
        (row, words),
        shape,
        _fields(decl, tensors, mode, shape, dtype),
        hidden,
    )


def _on_arrays(
    decl: Any, tensors: tuple[Any, ...], shape: geo.Geometry, accesses: tuple[Access, ...]
) -> Call:
    """Return the call of a function without compiled body; it has no row that an engine runs."""
    return Call(
        decl.name,
        PIPE.PIPE_V,
        tensors[0].core,
        accesses,
        on_arrays(decl, tensors, shape.count),
        encode=encoder(decl, tensors),
        geometry=shape,
        fields=_fields(decl, tensors, None, shape, tensors[0].dtype),
    )


def _nothing(address: int, scalar: float) -> None:
    """Execute a call without lanes."""


def _fields(
    decl: Any, tensors: tuple[Any, ...], mode: Any, shape: geo.Geometry, dtype: Any
) -> dict[str, Any]:
    fields: dict[str, Any] = {"dtype": dtype}
    if decl.pair or (decl.reads_dst and tensors[1].dtype is not dtype):
        fields["src_dtype"] = tensors[1].dtype
    if shape.counted:
        fields["count"] = shape.count
    else:
        fields |= {"mask": shape.mask, "repeatTimes": shape.repeats}
    if mode is not None:
        fields["mode"] = mode.name
    return fields


def _remember(tensors: tuple[Any, ...], key: tuple[Any, ...], call: Call) -> None:
    calls = tensors[0].calls
    if len(calls) >= MAX_CALLS:
        calls.clear()
    calls[key] = call
