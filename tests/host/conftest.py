"""Every test leaves the runtime as a program finds it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ascendsim.host import acl


@pytest.fixture(autouse=True)
def finished() -> Iterator[None]:
    """Finalise before and after."""
    acl.finalize()
    yield
    acl.finalize()
