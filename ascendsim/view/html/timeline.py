"""A timeline in a notebook: what limits the launch, the pipes of the slowest block, their load."""

from __future__ import annotations

from ascendsim.observe.timeline import Timeline
from ascendsim.view.html.style import face, facts, head, mono, text
from ascendsim.view.timeline_svg import timeline_svg

_NAMESPACE = ' xmlns="http://www.w3.org/2000/svg"'  # of a file; a page knows it


def timeline_html(timeline: Timeline, title: str = "") -> str:
    """Return the face of a timeline: its slowest block as a picture, and the verdict."""
    block = timeline.launch.blocks[timeline.launch.slowest].stream.blocks[0]
    pipes = ", ".join(f"{name} {load['ratio']:.0%}" for name, load in timeline.pipes.items())
    return face(
        head("timeline", title, f"{timeline.aiv_us:.2f} us predicted", "the slowest block"),
        timeline_svg(timeline, "", block).replace(_NAMESPACE, "").replace("\n<", "<"),
        facts(
            {
                "bound by": f"<b>{text(timeline.bound)}</b>: {text(timeline.advice)}",
                "busy": mono(pipes),
                "launch": text(f"{timeline.launch_us:.2f} us, {timeline.task_us:.2f} us in all"),
            }
        ),
    )
