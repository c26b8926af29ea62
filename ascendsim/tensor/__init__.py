"""GlobalTensor and LocalTensor: typed windows on GM and UB; lists of GM tensors.

Source of the rules: asc-devkit impl/basic_api, tensor headers, and the data structure pages.
"""

from ascendsim.tensor.gm import GlobalTensor, GmAddress
from ascendsim.tensor.lists import GmAddressList, ListTensorDesc, TensorDesc
from ascendsim.tensor.local import LocalTensor

__all__ = [
    "GlobalTensor",
    "GmAddress",
    "GmAddressList",
    "ListTensorDesc",
    "LocalTensor",
    "TensorDesc",
]
