"""`ascendsim capsule`: run OP once and write one HTML page that steps through it, from disk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from ascendsim.cli.common import Request
from ascendsim.cli.files import Outputs, writing
from ascendsim.cli.groups import takes_groups
from ascendsim.cli.run import Data, Model
from ascendsim.cli.show import Show, progress, warn
from ascendsim.errors import RequestError

_SUFFIXES = (".html", ".htm")
_PIECE = 1 << 20  # bytes that are packed at a time


@dataclass(frozen=True, slots=True)
class Page:
    """What to write, and of which blocks."""

    out: Annotated[str, typer.Option("--out", "-o", metavar="run.html", help="The page to write.")]
    blocks: Annotated[
        str | None,
        typer.Option(
            metavar="0,2:5", help="The blocks to record, ranges without their end (default: 0)."
        ),
    ] = None

    def check(self) -> None:
        """Refuse a name that no browser would open."""
        if not self.out.lower().endswith(_SUFFIXES):
            raise RequestError(f"--out {self.out}: a capsule is a page; end the name in .html")

    def chosen(self, block_dim: int) -> list[int]:
        """Return the numbers of the blocks to record."""
        if self.blocks is None:
            return [0] if block_dim else []
        found: set[int] = set()
        for word in self.blocks.split(","):
            first, colon, last = word.strip().partition(":")
            try:
                start = int(first) if first or not colon else 0
                stop = start + 1 if not colon else int(last) if last else block_dim
            except ValueError:
                raise RequestError(f"--blocks {self.blocks!r}: write numbers like 0,2:5") from None
            if not 0 <= start < stop <= block_dim:
                raise RequestError(
                    f"--blocks {word.strip()}: this launch has blocks 0..{block_dim - 1}"
                )
            found.update(range(start, stop))
        return sorted(found)


@takes_groups
def capsule(request: Request, data: Data, model: Model, page: Page, show: Show) -> None:
    """Write one HTML page that steps through a run of OP: source, bits, queues, timeline."""
    data.check()
    page.check()
    options, op = model.options(), request.kernel.load()
    request.chip.checked()
    with Outputs() as outputs:
        path = outputs.reserve(page.out, "--out")
        arrays = data.arrays(request, op)
        made = request.tiled(op, {name: array.shape for name, array in arrays.items()})
        choices = {"mode": model.mode, "seed": data.seed, "options": options}
        choices["call_sink"] = _Gauge(arrays, op.definition.outputs).call
        run = _recorded(op, arrays, made, page.chosen(made.block_dim), choices)
        content = _page(run)
        with writing("--out", page.out):
            path.write_bytes(content)
        outputs.commit()
    for warning in (*request.chip.beyond(made.soc), *run.warnings):
        warn(warning)
    document = _document(run, page.out, len(content))
    show.result(document, lambda: _readable(document))


class _Gauge:
    """What a page must hold at least: whole, in base64, every tensor that a recorded call reads.

    So a launch that no page could show ends at the call that makes it so.
    """

    def __init__(self, arrays: Mapping[str, Any], outputs: Sequence[str]) -> None:
        self._arrays = arrays
        self._all = sum(array.nbytes for array in arrays.values())
        self._all += len(outputs) * max((a.nbytes for a in arrays.values()), default=0)
        self._read: set[str] = set()
        self._raw = self._packed = 0

    def call(self, record: dict[str, Any]) -> None:
        """Take a call; refuses it when its tensor is too much for a page."""
        for role, place in record.items():
            if isinstance(place, dict) and "gm" in place and not role.startswith("dst"):
                self._take(place["gm"])

    def _take(self, name: str) -> None:
        from ascendsim.view.capsule import MOST_BYTES

        if name in self._read or name not in self._arrays:
            return
        self._read.add(name)
        array = self._arrays[name]
        self._raw += array.nbytes
        if self._raw * 4 // 3 <= MOST_BYTES:  # it fits as it is, more or less
            self._packed += array.nbytes
            return
        self._packed += _deflated(array)
        if self._packed * 4 // 3 > MOST_BYTES:
            whole = self._all / self._raw * self._packed * 4 / 3
            error = RequestError(
                f"the page would have more than {MOST_BYTES >> 20} MiB, too many for a browser: "
                f"it holds every tensor that a recorded block reads, whole, and the outputs; "
                f"{_fewer(array.size * MOST_BYTES / whole)}"
            )
            error.located = True  # it is not the kernel's fault
            raise error


def _deflated(array: Any) -> int:
    """Return how many bytes an array takes in the file of a run."""
    import zlib

    import numpy as np

    packer, count = zlib.compressobj(6), 0
    flat = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    for start in range(0, flat.size, _PIECE):
        count += len(packer.compress(flat[start : start + _PIECE].data))
    return count + len(packer.flush())


def _fewer(size: float) -> str:
    """Return the way out: a size below `size` with room for the recorded calls, two digits."""
    size = max(int(size * 0.8), 1)
    unit = 10 ** max(len(str(size)) - 2, 0)
    return f"ask for fewer elements (--n {size // unit * unit} or so)"


def _recorded(op: Any, arrays: Any, made: Any, blocks: list[int], choices: dict[str, Any]) -> Any:
    from ascendsim.api import launch

    with progress(op.name) as tick:
        run = launch(op, arrays, made, record="bytes", blocks=blocks, progress=tick, **choices)
    run.ub_images = {block: run.ub_images[block] for block in run.recordings}
    return run


def _page(run: Any) -> bytes:
    from ascendsim.api.saved import page_bytes
    from ascendsim.view.capsule import PageSizeError

    if not run.recordings:
        size = "n = 0: " if run.n == 0 else ""
        way = "give --n 1 or more" if run.n == 0 else "choose other blocks (--blocks)"
        raise RequestError(f"{size}the kernel made no call, a page would show nothing; {way}")
    left = run.block_dim - len(run.recordings)
    notes = [f"{left} of {run.block_dim} blocks are not in this page (--blocks)."] if left else []
    try:
        return page_bytes(run, notes)
    except PageSizeError as error:
        way = _fewer(run.n * error.fits)
        if len(run.recordings) > 1:
            way = f"record fewer blocks (--blocks), or {way}"
        elif run.block_dim > 1 or run.n > 1:
            way += ", or split them over more cores (--cores)"
        raise RequestError(f"{error.fact}: {way}") from error


def _document(run: Any, name: str, size: int) -> dict[str, Any]:
    blocks = list(run.recordings)
    return {
        "file": name,
        "bytes": size,
        "op": run.op,
        "dtype": run.dtype,
        "n": run.n,
        "soc": run.soc,
        "block_dim": run.block_dim,
        "blocks": blocks,
        "left_out": run.block_dim - len(blocks),
        "calls": sum(len(recording.entries) for recording in run.recordings.values()),
        "out_crc32": run.to_json()["out_crc32"],
        "warnings": run.warnings,
    }


def _readable(document: dict[str, Any]) -> str:
    from ascendsim.view import text

    blocks = ", ".join(map(str, document["blocks"]))
    left = document["left_out"]
    head = {
        "file": document["file"],
        "bytes": document["bytes"],
        "calls": document["calls"],
        "blocks": f"{blocks} of {document['block_dim']}" + (" (--blocks)" if left else ""),
        "out_crc32": f"{document['out_crc32']:#010x}",
        "open": "in any browser; in Python asim.open(file)",
    }
    return text.joined(text.facts(f"capsule of {document['op']}", head))
