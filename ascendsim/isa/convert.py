"""Cast between element types.

Manual chapter: type conversion. The pairs and modes of each SoC are rows of its file.
"""

from __future__ import annotations

from typing import Any

from ascendsim.dtypes import DType, float32
from ascendsim.enums import RoundMode
from ascendsim.isa.declare import vector
from ascendsim.isa.roles import In, Out
from ascendsim.numerics import cast


@vector(
    body="cast",
    pair=True,
    arithmetic=False,
    rules=("cast-rounding", "cast-subnormals", "nan-word"),
)
def Cast(dst: Out, src: In, roundMode: RoundMode, to: DType = float32, env: int = 0) -> Any:
    """Convert src to the type of dst, rounded by roundMode.

    CAST_NONE is exact where nothing is lost and rounds to nearest even otherwise; float to float
    rounds to an integral value. A repeat has 256 bytes of the wider type, and the mask counts its
    elements. Exceptional values: inf and NaN are kept (NaN canonical) unless the overflow mode
    saturates half and bfloat16 results; subnormals and the sign of zero are kept.
    """
    return cast.cast(src, to, roundMode, env=env)
