"""Copies that leave a GM tensor under `out_of_bounds=report`: what of them lies inside.

What GM holds beyond a tensor is not known here, so these bytes are neither read nor stored, and no
padding is stored either. The rest runs as one call for each run of whole blocks, and one for each
block that is cut. Assumed: hardware touches what lies there, or stops.
"""

from __future__ import annotations

from copy import copy
from typing import Any

from ascendsim.isa.transfer import Shape, Transfer
from ascendsim.record import GM


def pieces(transfer: Transfer, dst: Any, src: Any) -> list[tuple[Transfer, Any, Any]]:
    """Return the parts of a copy inside its GM tensor, at least one, which may be empty."""
    _, length, dst_pitch, src_pitch = transfer.shape
    found: list[tuple[Transfer, Any, Any]] = []
    for first, number, low, high in _inside(transfer, dst, src):
        shape = Shape(number, high - low, dst_pitch, src_pitch)
        into = _moved(dst, transfer.lead + first * dst_pitch + low)
        out_of = _moved(src, first * src_pitch + low)
        found.append((_part(transfer, shape), into, out_of))
    return found or [(_part(transfer, Shape(0, length, dst_pitch, src_pitch)), dst, src)]


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


def _part(transfer: Transfer, shape: Shape) -> Transfer:
    return Transfer(transfer.name, transfer.pipe, shape, 1, transfer.fields, 0, None)


def _moved(tensor: Any, nbytes: int) -> Any:
    """Return the tensor `nbytes` further on."""
    if tensor.space is GM:
        moved = copy(tensor)
        moved.start += nbytes
        return moved
    return type(tensor)(
        tensor.core, tensor.buffer, tensor.dtype, tensor.start + nbytes, tensor.nbytes
    )
