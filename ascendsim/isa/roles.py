"""The roles that an operand can play, as annotations of a declaration."""

from __future__ import annotations

from enum import Enum, auto
from typing import Annotated, Any

import numpy as np


class Role(Enum):
    """What a call does with an operand; the order is dst, sources, mask bits."""

    OUT = auto()
    IN_OUT = auto()
    BITS_OUT = auto()
    IN = auto()
    BITS_IN = auto()
    SCALAR = auto()


DESTINATIONS = (Role.OUT, Role.BITS_OUT)
BITS = (Role.BITS_OUT, Role.BITS_IN)
TENSORS = (Role.OUT, Role.IN_OUT, Role.BITS_OUT, Role.IN, Role.BITS_IN)

Out = Annotated[np.ndarray, Role.OUT]  # the destination tensor
InOut = Annotated[np.ndarray, Role.IN_OUT]  # a destination that is read first
BitsOut = Annotated[np.ndarray, Role.BITS_OUT]  # a destination of mask bits, one per lane
In = Annotated[np.ndarray, Role.IN]  # a source tensor
BitsIn = Annotated[np.ndarray, Role.BITS_IN]  # a source of mask bits, one per lane
Scalar = Annotated[Any, Role.SCALAR]  # a scalar of the element type
