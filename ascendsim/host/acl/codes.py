"""Numbers of the ACL interface: return codes, element types, formats, kinds of a copy.

Names and values are those of the public headers (acl_base.h, acl_rt.h, aclnn/acl_meta.h).
"""

from __future__ import annotations

from ascendsim.dtypes import (
    DType,
    bfloat16,
    float16,
    float32,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)

ACL_SUCCESS = 0
ACL_ERROR_INVALID_PARAM = 100000
ACL_ERROR_UNINITIALIZE = 100001
ACL_ERROR_REPEAT_INITIALIZE = 100002
ACL_ERROR_RT_PARAM_INVALID = 107000
ACL_ERROR_RT_INVALID_DEVICEID = 107001
ACL_ERROR_RT_CONTEXT_NULL = 107002
ACL_ERROR_RT_STREAM_CONTEXT = 107003
ACL_ERROR_RT_MEMORY_ALLOCATION = 207001

ACLNN_SUCCESS = 0
ACLNN_ERR_PARAM_NULLPTR = 161001
ACLNN_ERR_PARAM_INVALID = 161002
ACLNN_ERR_RUNTIME_ERROR = 361001

ACL_MEM_MALLOC_HUGE_FIRST, ACL_MEM_MALLOC_HUGE_ONLY, ACL_MEM_MALLOC_NORMAL_ONLY = 0, 1, 2
ACL_MEMCPY_HOST_TO_HOST, ACL_MEMCPY_HOST_TO_DEVICE = 0, 1
ACL_MEMCPY_DEVICE_TO_HOST, ACL_MEMCPY_DEVICE_TO_DEVICE = 2, 3
ACL_DEVICE, ACL_HOST = 0, 1
ACL_DDR_MEM, ACL_HBM_MEM = 0, 1

ACL_DT_UNDEFINED = -1
ACL_FLOAT, ACL_FLOAT16, ACL_INT8, ACL_INT32, ACL_UINT8 = 0, 1, 2, 3, 4
ACL_INT16, ACL_UINT16, ACL_UINT32, ACL_INT64, ACL_UINT64 = 6, 7, 8, 9, 10
ACL_DOUBLE, ACL_BOOL, ACL_STRING, ACL_COMPLEX64, ACL_COMPLEX128 = 11, 12, 13, 16, 17
ACL_BF16 = 27

ACL_FORMAT_NCHW, ACL_FORMAT_NHWC, ACL_FORMAT_ND, ACL_FORMAT_NC1HWC0 = 0, 1, 2, 3
ACL_FORMAT_FRACTAL_Z, ACL_FORMAT_FRACTAL_NZ = 4, 29

#: element types that the simulator computes with
DTYPES: dict[int, DType] = {
    ACL_FLOAT: float32,
    ACL_FLOAT16: float16,
    ACL_BF16: bfloat16,
    ACL_INT8: int8,
    ACL_INT16: int16,
    ACL_INT32: int32,
    ACL_INT64: int64,
    ACL_UINT8: uint8,
    ACL_UINT16: uint16,
    ACL_UINT32: uint32,
    ACL_UINT64: uint64,
}
#: every element type that a tensor or scalar may be described with, and its bytes per element
DTYPE_BYTES = {number: each.nbytes for number, each in DTYPES.items()} | {
    ACL_BOOL: 1,
    ACL_DOUBLE: 8,
    ACL_COMPLEX64: 8,
    ACL_COMPLEX128: 16,
}
DTYPE_NAMES = {number: each.name for number, each in DTYPES.items()} | {
    ACL_BOOL: "bool",
    ACL_DOUBLE: "double",
    ACL_COMPLEX64: "complex64",
    ACL_COMPLEX128: "complex128",
}
FORMAT_NAMES = {
    ACL_FORMAT_ND: "ND",
    ACL_FORMAT_NCHW: "NCHW",
    ACL_FORMAT_NHWC: "NHWC",
    ACL_FORMAT_NC1HWC0: "NC1HWC0",
    ACL_FORMAT_FRACTAL_Z: "FRACTAL_Z",
    ACL_FORMAT_FRACTAL_NZ: "FRACTAL_NZ",
}

__all__ = [name for name in globals() if name.startswith("ACL")]
