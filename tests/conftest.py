"""What all tests share: their terminal has no width, and workers do not compile the same twice."""

from __future__ import annotations

import os

import pytest

from ascendsim.numerics import vexec

os.environ.pop("COLUMNS", None)
MANY = 300  # tests; so many need most of what there is to compile


def pytest_collection_finish(session: pytest.Session) -> None:
    """Compile, where workers share a long run, what is this one's turn and was not kept.

    Left to the tests, workers that start together compile the same families at the same time.
    """
    worker = getattr(session.config, "workerinput", None)
    if worker is not None and len(session.items) > MANY:
        one_of_each = {vexec.family_of(word): word for word in vexec.NAMES.values()}
        first = int(worker["workerid"].removeprefix("gw"))
        for word in [*one_of_each.values()][first :: worker["workercount"]]:
            vexec.entry(word)
