"""The states of the slots of all queues."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ascendsim.view.html.style import face, head, table, text
from ascendsim.view.html.ub_map import states_html

_LEGEND = "FREE, then OCCUPIED by the producer, ENQUE in the queue, DEQUE at the consumer"


def queues_html(states: Mapping[str, Sequence[str]]) -> str:
    """Return the face of the states by queue; each slot is a pill."""
    rows = [(f"<b>{text(name)}</b>", states_html(tuple(slots))) for name, slots in states.items()]
    return face(
        head("queues", _LEGEND if rows else "none at this moment"),
        table(("queue", "slots"), rows),
    )
