"""A capsule: one HTML page that shows a saved run, and carries its file.

The page's script reads that very file (it is inlined from the `.js` beside this), so that what it
shows is what `asim.open` gives. Nothing is loaded from anywhere: the page forbids it itself.
"""

from __future__ import annotations

import base64
import hashlib
import json
from html import escape
from pathlib import Path
from typing import Any

from ascendsim.errors import AscendError, RequestError
from ascendsim.observe.saved.archive import CLOSING, OPENING
from ascendsim.observe.timeline import Timeline
from ascendsim.view.html.style import themes
from ascendsim.view.lanes import pieces_of

SCRIPTS = (
    "archive.js",
    "numbers.js",
    "stepper.js",
    "lanes.js",
    "compare.js",
    "draw_run.js",
    "draw_code.js",
    "draw_ub.js",
    "page.js",
)
MOST_BYTES = 40 << 20  # of a page: above it a browser takes its time
_HERE = Path(__file__).parent


class PageSizeError(RequestError):
    """A page of `size` bytes is too large; `fits` is the share of it that would not be."""

    def __init__(self, size: int) -> None:
        self.fact = (
            f"the page would have {size >> 20} MiB, and at most {MOST_BYTES >> 20} can be used in "
            f"a browser"
        )
        super().__init__(f"{self.fact}: record fewer blocks, or a smaller tensor")
        self.fits = MOST_BYTES / size


def capsule_page(saved: bytes, title: str, extra: dict[str, Any]) -> bytes:
    """Return the page of a run.

    Parameters
    ----------
    saved : the file of the run
    extra : what the page shows beside it; `extra_of` makes it

    Raises
    ------
    PageSizeError
        When the page would be too large.
    """
    script = "".join(_text(name) for name in SCRIPTS)
    parts = {
        "title": escape(title),
        "style": themes(":root") + _text("page.css"),
        "script_hash": _hash(f'"use strict";\n{script}'),
        "extra": json.dumps(extra, separators=(",", ":")).replace("<", "\\u003c"),
        "run": f"{OPENING.decode()}{base64.b64encode(saved).decode()}{CLOSING.decode()}",
        "script": f'"use strict";\n{script}',
    }
    page = _filled(_text("page.html"), parts)
    if len(page) > MOST_BYTES:
        raise PageSizeError(len(page))
    return page


def extra_of(run: Any, notes: list[str]) -> dict[str, Any]:
    """Return what a page shows beside the run's file: its timelines, and `notes` on what is not.

    Timelines are of the recorded blocks: [seq, pipe, start, stop, until, name] of each piece.
    """
    timelines: dict[str, Any] = {}
    missing = ""
    try:
        timelines = {str(block): _timeline(run.timeline, block) for block in run.recordings}
    except AscendError as error:
        missing = f"no timeline: {error}"
    return {
        "notes": notes,
        "checked": bool(run.checks or run.findings),
        "facts": {},
        "timelines": timelines,
        "no_timeline": missing,
    }


def _timeline(timeline: Timeline, block: int) -> dict[str, Any]:
    pieces = [
        [piece.instr.seq, piece.pipe, piece.start, piece.stop, piece.until, piece.name]
        for piece in pieces_of(timeline, block)
        if piece.instr is not None
    ]
    summary = f"the launch takes {timeline.aiv_us:.2f} us on the cores, bound by {timeline.bound}"
    return {"mhz": timeline.launch.soc.clock_mhz, "pieces": pieces, "summary": summary}


def _filled(template: str, parts: dict[str, str]) -> bytes:
    """Return the template with each `{{name}}` replaced once; what is filled in is not read."""
    found = []
    for piece in template.split("{{"):
        name, closing, rest = piece.partition("}}")
        found.append(parts[name] + rest if closing else piece)
    return "".join(found).encode("utf-8")


def _hash(script: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _text(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")
