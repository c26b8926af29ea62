"""The file of a saved run: a zip of JSON and raw bytes that any tool can unpack.

    run.json          what `Run` says of itself, and the tables of the records (tables.py)
    calls.json        the call log, one object per call
    out/NAME          an output's bytes, or those ranges that recorded blocks stored (outputs.py)
    ub/K              the UB of block K at its end
    gm/NAME           the bytes of a GM tensor that recorded calls read; run.json has the ranges
    blocks/K.json     the records of block K and which bytes each stored (stream.py)
    blocks/K.ub       UB before the first of them
    blocks/K.after    the bytes that they stored, in their order
    blocks/K.before   the bytes of GM that they stored over; those of UB follow from blocks/K.ub

Everything is deflated, little endian, and without pickles: reading runs no code of the file. In an
HTML page the same zip stands in base64 between `OPENING` and `CLOSING`. A reader refuses another
`version`, and files that would unpack to more than `MOST_BYTES`.
"""

from __future__ import annotations

import base64
import io
import json
import zipfile
from collections.abc import Iterable
from typing import Any, NamedTuple

from ascendsim.errors import RequestError

FORMAT, VERSION = "ascendsim-run", 2
MOST_BYTES = 1 << 30  # of all members, unpacked
MOST_JSON = 1 << 27  # of one JSON member: Python needs some twenty times as much for it
MOST_MEMBERS = 1 << 18
OPENING = b'<script type="application/x-ascendsim-run" id="run">'
CLOSING = b"</script>"
PAGE_END = b"</html>"
_THEN = (1980, 1, 1, 0, 0, 0)  # equal runs give equal files


class Member(NamedTuple):
    """One file of the archive."""

    name: str
    content: bytes


def packed(members: Iterable[Member]) -> bytes:
    """Return the archive.

    Raises
    ------
    RequestError
        When it holds more than a reader would take.
    """
    buffer, total, count = io.BytesIO(), 0, 0
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for name, content in members:
            total, count = total + len(content), count + 1
            json_limit = len(content) > MOST_JSON and name.endswith(".json")
            if total > MOST_BYTES or json_limit or count > MOST_MEMBERS:
                raise RequestError(
                    f"the recording is too large for a file ({total >> 20} MiB of at most "
                    f"{MOST_BYTES >> 20}, up to {name}); record less, with blocks= or last="
                )
            info = zipfile.ZipInfo(name, _THEN)
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, content)
    return buffer.getvalue()


class Archive:
    """The members of a saved run, from the bytes of its file or of a page that carries it.

    Raises
    ------
    ValueError, or what `zipfile` raises
        When it is none.
    """

    def __init__(self, data: bytes) -> None:
        start = data.find(OPENING)
        if not data.startswith(b"PK") and start >= 0:
            if not data.rstrip().endswith(PAGE_END):
                raise ValueError("the page is cut off: its end is missing")
            start += len(OPENING)
            data = base64.b64decode(data[start : data.index(CLOSING, start)], validate=True)
        if not data.startswith(b"PK"):
            raise ValueError("it is neither the file of run.save() nor a capsule")
        self._zip = zipfile.ZipFile(io.BytesIO(data))
        infos = self._zip.infolist()
        self._sizes = {info.filename: info.file_size for info in infos}
        if len(infos) > MOST_MEMBERS or len(self._sizes) != len(infos):
            raise ValueError("its members are too many, or of the same name")
        if sum(self._sizes.values()) > MOST_BYTES:
            raise ValueError(f"it would unpack to more than {MOST_BYTES >> 20} MiB")

    def bytes(self, name: str, size: int | None = None) -> bytes:
        """Return a member, of `size` bytes where that is known."""
        if name not in self._sizes or size not in (None, self._sizes[name]):
            raise ValueError(f"{name} is missing or has the wrong size")
        with self._zip.open(name) as member:
            content = member.read(self._sizes[name])
            if member.read(1) or len(content) != self._sizes[name]:  # reads on to the checksum
                raise ValueError(f"{name} has not the size that it says")
        return content

    def json(self, name: str) -> Any:
        """Return the document of a member."""
        if self._sizes.get(name, 0) > MOST_JSON:
            raise ValueError(f"{name} has more than {MOST_JSON >> 20} MiB of JSON")
        return json.loads(self.bytes(name).decode("utf-8"))


def document(name: str, content: Any) -> Member:
    """Return a member that holds JSON."""
    text = json.dumps(content, separators=(",", ":"), allow_nan=False, default=_number)
    return Member(name, text.encode("utf-8"))


def _number(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else str(value)
