"""The same call gives the same bytes: again, in another process, with another core count."""

from __future__ import annotations

import hashlib
import os

import pytest

from ascendsim.host import acl
from tests.host.calls import T, Tensor, first_phase, second_phase, start
from tests.house.tree import run_python

SOCS = {
    "HardsigmoidBackward": "ascend950",
    "HardswishBackward": "ascend910b1",
    "SwishBackward": "ascend910b1",
}
SPECS = (T((70, 90), "float16", (97, 1)), T((70, 90), "float16"), T((70, 90), "float16", (1, 71)))


def digest(name: str, cores: int | None = None) -> str:
    """Run a strided call; return a digest of every byte of its memory and of its messages."""
    stream = start(SOCS[name], cores=cores)
    tensors = [Tensor(spec, seed) for seed, spec in enumerate(SPECS)]
    handles = [each.handle for each in tensors]
    if name.startswith("Swish"):
        handles.insert(2, None)
    status, size, executor = first_phase(name, *handles)
    assert status == 0, acl.get_recent_err_msg()
    assert second_phase(name, size, executor, stream) == 0, acl.get_recent_err_msg()
    found = hashlib.sha256()
    for tensor in tensors:
        found.update(tensor.after().tobytes())
    return found.hexdigest()


@pytest.mark.parametrize("name", SOCS)
def test_again_and_with_other_core_counts(name):
    first = digest(name)
    assert [digest(name, cores) for cores in (None, 1, 3, 7, 64)] == [first] * 5


def test_in_another_process():
    code = "from tests.host.test_determinism import *; print(*(digest(n) for n in SOCS))"
    there = run_python("-c", code, env=os.environ | {"PYTHONHASHSEED": "77"})
    assert there.split() == [digest(name) for name in SOCS]
