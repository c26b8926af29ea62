"""`ascendsim capsule`: run OP once and write one HTML page that steps through it, from disk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from ascendsim.cli.common import Request
from ascendsim.cli.files import Outputs, writing
from ascendsim.cli.groups import takes_groups
from ascendsim.cli.run import Data, Model
from ascendsim.cli.show import Show, progress, warn
from ascendsim.dtypes import dtype as as_dtype
from ascendsim.enums import DATABLOCK_BYTES
from ascendsim.errors import RequestError

_SUFFIXES = (".html", ".htm")


@dataclass(frozen=True, slots=True)
class Page:
    """What to write, and of which blocks."""

    output: Annotated[
        str, typer.Option("--output", "--out", "-o", metavar="run.html", help="The page to write.")
    ]
    blocks: Annotated[
        str | None,
        typer.Option(
            metavar="0,2:5", help="The blocks to record, ranges without their end (default: 0)."
        ),
    ] = None

    def check(self) -> None:
        """Refuse a name that no browser would open."""
        if not self.output.lower().endswith(_SUFFIXES):
            raise RequestError(
                f"--output {self.output}: a capsule is a page; end the name in .html"
            )

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
        path = outputs.reserve(page.output, "--output")
        arrays = data.arrays(request, op)
        made = request.tiled(op, {name: array.shape for name, array in arrays.items()})
        choices = {"mode": model.mode, "seed": data.seed, "options": options}
        blocks = page.chosen(made.block_dim)
        choices["call_sink"] = _Gauge(arrays, len(blocks), made.block_dim).call
        run = _recorded(op, arrays, made, blocks, choices)
        content = _page(run)
        with writing("--output", page.output):
            path.write_bytes(content)
        outputs.commit()
    for warning in (*request.chip.beyond(made.soc), *run.warnings):
        warn(warning)
    document = _document(run, page.output, len(content))
    show.result(document, lambda: _readable(document))


class _Gauge:
    """What a page must hold at least: packed, in base64, the bytes that recorded calls read of GM.

    So a launch that no page could show ends at the call that makes it so.
    """

    def __init__(self, arrays: Mapping[str, Any], blocks: int, block_dim: int) -> None:
        import zlib

        self._arrays, self._blocks, self._block_dim = arrays, blocks, block_dim
        self._packer, self._packed = zlib.compressobj(6), 0
        self._read: list[Any] = []
        self._read_bytes = self._stored = 0

    def call(self, record: dict[str, Any]) -> None:
        """Take a call; refuses it when with it the recording is too much for a page."""
        size = as_dtype(record["dtype"]).nbytes if "dtype" in record else 0
        nbytes = _copied(record) if "blockLen" in record else record.get("count", 0) * size
        if "dst_crc" in record:
            self._stored += nbytes
        source = record.get("src0", {})
        if source.get("gm") in self._arrays:
            self._take(self._arrays[source["gm"]], source["off"], nbytes)

    def _take(self, array: Any, start: int, nbytes: int) -> None:
        from ascendsim.view.capsule import MOST_BYTES

        self._read_bytes += nbytes
        self._read.append((array, start, start + nbytes))
        if self._read_bytes * 4 // 3 <= MOST_BYTES:  # it fits as it is, more or less
            return
        for each, first, last in self._read:
            self._packed += len(self._packer.compress(_bytes_of(each)[first:last]))
        self._read.clear()
        if self._packed * 4 // 3 > MOST_BYTES:
            error = RequestError(
                f"the page would have more than {MOST_BYTES >> 20} MiB, too many for a browser: it "
                f"holds all that recorded blocks read and store; "
                f"{_way_out(self._fitting(MOST_BYTES), self._blocks, self._block_dim)}"
            )
            error.located = True  # it is not the kernel's fault
            raise error

    def _fitting(self, most: int) -> float:
        """Return how many elements would fit, as far as the calls up to now tell."""
        size = max(array.size for array in self._arrays.values())
        share = sum(array.nbytes for array in self._arrays.values()) * self._blocks
        each = (self._read_bytes + self._stored) / self._read_bytes  # bytes kept per byte read
        packing = self._packed / self._read_bytes
        return size * most / (share / self._block_dim * each * packing * 4 / 3)


def _copied(record: dict[str, Any]) -> int:
    """Return the bytes that a copy with block parameters moves."""
    unit = 1 if record["op"] == "DataCopyPad" else DATABLOCK_BYTES
    return int(record["blockCount"]) * int(record["blockLen"]) * unit


def _bytes_of(array: Any) -> Any:
    import numpy as np

    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def _way_out(size: float, blocks: int, block_dim: int) -> str:
    """Return the way out: a size below `size` with room for the rest, two digits, or less of it."""
    size = max(int(size * 0.8), 1)
    unit = 10 ** max(len(str(size)) - 2, 0)
    way = f"ask for fewer elements (--n {size // unit * unit} or so)"
    if blocks > 1:
        return f"record fewer blocks (--blocks), or {way}"
    return f"{way}, or split them over more cores (--cores)"


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
        way = _way_out(run.n * error.fits, len(run.recordings), run.block_dim)
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
