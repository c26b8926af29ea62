"""Host program of HardSwishGrad, in the seven steps of a program for the device.

`python -m kernels.hard_swish_grad.example` prints each element. self = -4..4.
"""

import numpy as np

from ascendsim.host import acl, aclnn

SHAPE = (9,)


def check(ret):
    """Stop at the first code that is not 0."""
    if ret != 0:
        raise SystemExit(f"{ret}: {acl.get_recent_err_msg()}")


def create_tensor(values):
    """Copy an array to the device; return its address and a tensor over it."""
    address, ret = acl.rt.malloc(values.nbytes, acl.ACL_MEM_MALLOC_HUGE_FIRST)
    check(ret)
    host = acl.util.numpy_to_ptr(values)
    check(acl.rt.memcpy(address, values.nbytes, host, values.nbytes, acl.ACL_MEMCPY_HOST_TO_DEVICE))
    strides = [step // values.itemsize for step in values.strides]
    tensor = aclnn.aclCreateTensor(
        values.shape,
        acl.ACL_FLOAT,
        strides,
        0,
        acl.ACL_FORMAT_ND,
        values.shape,
        address,
    )
    return address, tensor


def finish(tensors, addresses, stream):
    """Destroy and free what the program made."""
    for tensor in tensors:
        check(aclnn.aclDestroyTensor(tensor))
    for address in addresses:
        check(acl.rt.free(address))
    check(acl.rt.destroy_stream(stream))
    check(acl.rt.reset_device(0))
    check(acl.finalize())


def main():
    # 1. Choose the chip to simulate, and initialise.
    acl.simulate("ascend910b1")
    check(acl.init())
    # 2. Device and stream.
    check(acl.rt.set_device(0))
    stream, ret = acl.rt.create_stream()
    check(ret)
    # 3. Tensors: device memory, copied in, with shape, strides and format.
    grad = np.array([1, 2, 3, -4, 5, -6, 7, 8, -9], np.float32)
    x = np.arange(-4, 5, dtype=np.float32)
    out = np.zeros(SHAPE, np.float32)
    grad_address, grad_output = create_tensor(grad)
    self_address, self_tensor = create_tensor(x)
    out_address, out_tensor = create_tensor(out)
    # 4. First phase: checks, plans, says how much workspace it needs.
    ret, workspace_size, executor = aclnn.aclnnHardswishBackwardGetWorkspaceSize(
        grad_output, self_tensor, out_tensor
    )
    check(ret)
    # 5. Workspace.
    workspace = 0
    if workspace_size > 0:
        workspace, ret = acl.rt.malloc(workspace_size, acl.ACL_MEM_MALLOC_HUGE_FIRST)
        check(ret)
    # 6. Second phase: puts the work into the stream.
    check(aclnn.aclnnHardswishBackward(workspace, workspace_size, executor, stream))
    # 7. Wait, copy the result back, free everything.
    check(acl.rt.synchronize_stream(stream))
    host = acl.util.numpy_to_ptr(out)
    check(acl.rt.memcpy(host, out.nbytes, out_address, out.nbytes, acl.ACL_MEMCPY_DEVICE_TO_HOST))
    if workspace:
        check(acl.rt.free(workspace))
    finish(
        (grad_output, self_tensor, out_tensor), (grad_address, self_address, out_address), stream
    )
    return out


if __name__ == "__main__":
    for index, value in enumerate(main().ravel()):
        print(f"out[{index}] = {value}")
