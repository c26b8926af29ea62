"""GlobalTensor and LocalTensor: typed windows on GM and UB.

Source of the rules: asc-devkit impl/basic_api, tensor headers, and the data structure pages.
"""

from ascendsim.tensor.gm import GlobalTensor, GmAddress
from ascendsim.tensor.local import LocalTensor

__all__ = ["GlobalTensor", "GmAddress", "LocalTensor"]
