"""Every argument combination of rows.py: its code and reason, and on success every byte."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from ascendsim.host import acl, aclnn
from tests.helpers import assert_same_bits
from tests.host import oracle
from tests.host.calls import T, Tensor, first_phase, rounded_up, second_phase, start
from tests.host.rows import CALLS

FORMULAS = {
    "HardsigmoidBackward": oracle.hard_sigmoid,
    "HardswishBackward": oracle.hard_swish,
    "SwishBackward": oracle.swish,
}
SCALARS = {"ACL_FLOAT": np.float32, "ACL_FLOAT16": np.float16, "ACL_BF16": ml_dtypes.bfloat16}
GROUPS = [
    (name, soc, [row for row in rows if row[1] == soc])
    for name, rows in CALLS.items()
    for soc in dict.fromkeys(row[1] for row in rows)
]


def test_there_are_enough_combinations():
    for name, rows in CALLS.items():
        labels = [(label, soc) for label, soc, _, _ in rows]
        assert len(labels) == len(set(labels)) >= 120, name
        assert {code for _, _, _, code in rows} == {0, 161001, 161002}


@pytest.mark.parametrize(
    ("name", "soc", "rows"), GROUPS, ids=lambda each: each if isinstance(each, str) else len(each)
)
def test_code_and_bytes(name, soc, rows):
    stream = start(soc)
    for number, (label, _, specs, want) in enumerate(rows):
        made = [make(spec, 3 * number + at) for at, spec in enumerate(specs)]
        status, size, executor = first_phase(name, *(handle(each) for each in made))
        message = acl.get_recent_err_msg()
        assert status == want, f"{label}: {status}, {message}"
        if want:
            assert (size, executor) == (0, None), label
            assert message.startswith(f"aclnn{name}GetWorkspaceSize: {want}: "), label
            assert len(message.split(": ", 2)[2]) > 8, label
        else:
            assert size == workspace(name, specs), f"{label}: workspace {size}"
            assert second_phase(name, size, executor, stream) == 0, acl.get_recent_err_msg()
        check_bytes(name, made, want == 0, label)


def make(spec: Any, seed: int) -> Any:
    if isinstance(spec, T):
        return Tensor(spec, seed)
    if spec is None:
        return None
    value, dtype = spec
    scalar = aclnn.aclCreateScalar(value, getattr(acl, dtype))
    assert scalar is not None, acl.get_recent_err_msg()
    return scalar, spec


def handle(made: Any) -> Any:
    return made.handle if isinstance(made, Tensor) else made and made[0]


def check_bytes(name: str, made: list[Any], runs: bool, label: str) -> None:
    """Check that inputs are as before and that of the output the view alone has changed."""
    grad, x, out = (each for each in made if isinstance(each, Tensor))
    for tensor in (grad, x) if runs else (each for each in (grad, x, out) if each.handle):
        assert tensor.after().tobytes() == tensor.before.tobytes(), label
    if not runs:
        return
    want = out.before.copy()
    attrs = [beta(each[1]) for each in made if isinstance(each, tuple)]
    if 0 not in out.spec.shape:
        values = FORMULAS[name](grad.view(grad.before), x.view(x.before), want.dtype, *attrs)
        out.view(want)[...] = values
    try:
        assert_same_bits(out.after(), want)
    except AssertionError as error:
        raise AssertionError(f"{label}: {error}") from None


def beta(spec: tuple[Any, str]) -> float:
    value, dtype = spec
    return float(SCALARS.get(dtype, float)(value))


def workspace(name: str, specs: tuple[Any, ...]) -> int:
    """Return the sum of the intermediates, each rounded up to 512 bytes."""
    grad, x, out = (spec for spec in specs if isinstance(spec, T))
    count = int(np.prod(grad.shape, dtype=object))
    common = grad.dtype if grad.dtype == x.dtype else "float32"
    total = 0
    for spec in (grad, x):
        total += 0 if spec.dense else rounded_up(count, spec.dtype)
        total += 0 if spec.dtype == common else rounded_up(count, common)
    casts = common != out.dtype
    total += rounded_up(count, common) if casts or not out.dense else 0
    total += rounded_up(count, out.dtype) if casts and not out.dense else 0
    return total


def test_rows_of_a_group_are_together():
    assert sum(len(rows) for _, _, rows in GROUPS) == sum(map(len, CALLS.values()))
    assert len(GROUPS) == len([key for key, _ in groupby(GROUPS, key=lambda each: each[:2])])
