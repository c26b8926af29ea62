"""Cast between element types.

Manual chapter: type conversion. The pairs and modes of each SoC are rows of its file.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ascendsim.core import observed
from ascendsim.dtypes import DType, float16, float32, int32
from ascendsim.enums import PIPE, RoundMode
from ascendsim.errors import ContractError
from ascendsim.isa.declare import vector
from ascendsim.isa.roles import In, Out
from ascendsim.numerics import cast, cast_int
from ascendsim.record import Call, current_core


def dequantizes(tensors: tuple[Any, ...]) -> bool:
    """Whether a Cast of these tensors (dst, src) takes the scale of SetDeqScale."""
    return tensors[0].dtype is float16 and tensors[1].dtype is int32


def SetDeqScale(scale: Any) -> None:
    """Set the scale that Cast from int32 to half multiplies by, until the block ends.

    The scale is rounded to half. The forms with an offset or a tensor of scales are not modelled.

    Raises
    ------
    ContractError
        When `scale` is no number.
    """
    core = current_core()
    try:
        value = float(float16.from_bits(float16.to_bits(float(scale))))
    except (TypeError, ValueError, OverflowError) as error:
        raise ContractError(f"SetDeqScale: the scale is {scale!r}: it is a half") from error
    if value != core.deq_scale:
        core.deq_scale = value
        core.forget_calls()  # bound calls know the scale
    if core.readers:
        sets = (("deq_scale", value),)
        call = Call("SetDeqScale", PIPE.PIPE_S, core, (), fields={"dtype": float16}, sets=sets)
        observed(core, call, value)


def _scaled(
    execute: Callable[..., Any], tensors: tuple[Any, ...], mode: RoundMode
) -> tuple[Callable[..., Any], tuple[tuple[int, int], ...]]:
    """Let Cast from int32 to half multiply by the scale."""
    if not dequantizes(tensors):
        return execute, ()
    core = tensors[0].core
    scale = core.deq_scale
    if scale is None:
        raise ContractError(
            "int32->float16 multiplies by the scale of SetDeqScale, which the kernel did not call; "
            "call SetDeqScale(1.0) for a plain conversion"
        )
    core.relied_on(("deq-scale",), "Cast")

    def with_scale(address: int, scalar: float) -> None:
        execute(address, scale)

    return with_scale, ()


@vector(
    body="cast",
    pair=True,
    around=_scaled,
    arithmetic=False,
    rules=("cast-rounding", "cast-subnormals", "nan-word"),
)
def Cast(
    dst: Out, src: In, roundMode: RoundMode, to: DType = float32, env: int = 0, scale: float = 1.0
) -> Any:
    """Convert src to the type of dst, rounded by roundMode.

    CAST_NONE is exact where nothing is lost and rounds to nearest even otherwise; float to float
    rounds to an integral value; int32 to half multiplies by the scale of SetDeqScale. A repeat has
    256 bytes of the wider type, and the mask counts its elements. Exceptional values: inf and NaN
    are kept (NaN canonical) unless the overflow mode saturates half and bfloat16 results;
    subnormals and the sign of zero are kept. Numbers beyond an integer type are clamped (option
    int_overflow), NaN becomes 0.
    """
    if to is float16 and src.dtype == int32.numpy:
        return cast_int.dequantized(src, to, scale, env=env)
    return cast.cast(src, to, roundMode, env=env)
