"""What recording costs: a launch in step mode that is recorded, beside the same one that is not.

Timed is the launch, in CPU time: it is long enough to be interrupted in every round on a busy
machine. Dicts, the bytes before each call, and views are made when they are asked for.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

from ascendsim.dtypes import float32
from ascendsim.explore.speed.measure import Work, alternated
from ascendsim.explore.speed.row import Row, compared
from ascendsim.explore.speed.subject import Subject
from ascendsim.host import Op
from ascendsim.launch import Readers
from ascendsim.observe.calls import CallLog
from ascendsim.observe.recorder import Recorder


def recordings(op: Op, elements: int, rounds: int, most: float) -> list[Row]:
    """Time launches with each kind of recording; a ratio of 0.25 is four times as long."""
    subject = Subject.of(op, float32, elements)
    kinds: dict[str, Callable[[], Readers]] = {
        "record=calls": lambda: Readers((CallLog(),), images={}),
        "record=bytes": lambda: Readers((Recorder(),), images={}),
        "call_sink": lambda: Readers(call_sink=_take),
        "step": Readers,
    }
    works: dict[str, Work] = {
        kind: partial(_seconds, subject, made) for kind, made in kinds.items()
    }
    times = alternated(works, rounds, 10 * most)
    rows = []
    for kind in list(kinds)[:-1]:
        name = f"{kind} / step"
        target = getattr(op.ref, "TARGETS", {}).get(name, {}).get("float32")
        label = f"{subject.label}: {name} at {elements:.0e} elements".replace("e+0", "e")
        rows.append(compared(label, target, {kind: times[kind], "step": times["step"]}))
    return rows


def _seconds(subject: Subject, readers: Callable[[], Readers]) -> float:
    start = time.process_time()
    subject.launch("step", readers())
    return time.process_time() - start


def _take(call: dict[str, Any]) -> None:
    """Take a dict and let it go."""
