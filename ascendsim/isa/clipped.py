"""Copies that leave a GM tensor under `out_of_bounds=report`: what of them lies inside.

What GM holds beyond a tensor is not known here, so these bytes are neither read nor stored, and no
padding is stored either. The rest runs as one call for each run of whole blocks, and one for each
block that is cut. Assumed: hardware touches what lies there, or stops.
"""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ascendsim.record import GM

if TYPE_CHECKING:  # transfer.py stands on this module
    from ascendsim.isa.transfer import Transfer


def pieces(transfer: Transfer, dst: Any, src: Any) -> list[tuple[Transfer, Any, Any]]:
    """Return the parts of a copy inside its GM tensor, at least one, which may be empty."""
    _, _, dst_pitch, src_pitch = transfer.shape
    found: list[tuple[Transfer, Any, Any]] = []
    for first, number, low, high in _inside(transfer, dst, src):
        into = _moved(dst, transfer.lead + first * dst_pitch + low)
        out_of = _moved(src, first * src_pitch + low)
        found.append((_part(transfer, number, high - low), into, out_of))
    return found or [(_part(transfer, 0, transfer.shape.length), dst, src)]


def _inside(transfer: Transfer, dst: Any, src: Any) -> list[list[int]]:
    """Return [first block, blocks, first byte, stop byte within each]."""
    blocks, length, dst_pitch, src_pitch = transfer.shape
    gm, pitch = (dst, dst_pitch) if dst.space is GM else (src, src_pitch)
    runs: list[list[int]] = []
    for block in range(blocks):
        start = gm.start + block * pitch
        low, high = max(-start, 0), min(length, gm.holder.nbytes - start)
        if low >= high:
            continue
        last = runs[-1] if runs else None
        whole = (low, high) == (0, length)
        if last is not None and whole and last[2:] == [0, length] and sum(last[:2]) == block:
            last[1] += 1
        else:
            runs.append([block, 1, low, high])
    return runs


def _part(transfer: Transfer, blocks: int, length: int) -> Transfer:
    """Return the copy of so many blocks of `length` bytes, without padding."""
    shape = transfer.shape._replace(blocks=blocks, length=length)
    return replace(transfer, shape=shape, unit=1, lead=0, around=None, beyond=())


def _moved(tensor: Any, nbytes: int) -> Any:
    """Return the tensor `nbytes` further on."""
    if tensor.space is GM:
        moved = copy(tensor)
        moved.start += nbytes
        return moved
    return type(tensor)(
        tensor.core, tensor.buffer, tensor.dtype, tensor.start + nbytes, tensor.nbytes
    )
