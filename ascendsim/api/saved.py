"""A run as one file, and back: `run.save(path)` and `asim.open(path)`.

The file is described in `ascendsim.observe.saved.archive`. What comes back answers as before
without the kernel's folder; only `explain_lane` needs the operator's definition.
"""

from __future__ import annotations

import os
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from ascendsim import __version__
from ascendsim.api.run import Run
from ascendsim.errors import RequestError
from ascendsim.host import Op, load
from ascendsim.host.tiling import Origin
from ascendsim.memory import UbImage
from ascendsim.observe.saved import Archive, Member, packed, read_recordings, recorded_members
from ascendsim.observe.saved.archive import FORMAT, MOST_BYTES, VERSION, document
from ascendsim.observe.saved.outputs import read_output, saved_outputs
from ascendsim.observe.saved.values import name_of, number, plain, plain_text, type_of, value_of
from ascendsim.record import Finding
from ascendsim.view.capsule import capsule_page, extra_of
from ascendsim.view.defined import Defined
from ascendsim.view.stepper import Stepper

_TEXTS = ("op", "dtype", "soc", "mode", "fallback")
_BROKEN = (
    ValueError,
    KeyError,
    TypeError,
    IndexError,
    AttributeError,
    OverflowError,
    RecursionError,
    NotImplementedError,
    RuntimeError,
    EOFError,
    MemoryError,
    struct.error,
    zlib.error,
    zipfile.BadZipFile,
)


def saved_bytes(run: Run) -> bytes:
    """Return the file of a run.

    Raises
    ------
    RequestError
        When it would be too large to be read again.
    """
    return packed(_members(run))


def page_bytes(run: Run, notes: list[str]) -> bytes:
    """Return the capsule of a run: a page that shows it and carries its file."""
    if not any(recording.entries for recording in run.recordings.values()):
        raise RequestError('a capsule needs recorded calls: launch with record="bytes"')
    title = f"{run.op} {run.dtype} n={run.n} on {run.soc}"
    return capsule_page(saved_bytes(run), title, extra_of(run, notes))


def _members(run: Run) -> Iterator[Member]:
    tables: dict[str, Any] = {}
    yield from recorded_members(run.recordings, tables)
    outputs, members = saved_outputs(run.outputs, run.recordings, run.block_dim)
    yield from members
    kept = run.recordings or run.ub_images
    images = {block: image for block, image in run.ub_images.items() if block in kept}
    for block, image in images.items():
        yield Member(f"ub/{block}", image.array.tobytes())
    yield document("calls.json", [] if run.log is None else run.calls)
    facts = {name: getattr(run, name) for name in _TEXTS}
    facts |= {"n": run.n, "block_dim": run.block_dim, "seconds": float(run.seconds)}
    facts |= {"tiling": run.tiling, "warnings": run.warnings, "evidence": run.evidence}
    facts |= {"findings": [asdict(each) for each in run.findings], "checks": list(run.checks)}
    facts |= {"outputs": outputs, "ub_images": list(images), "origin": _origin(run)}
    head = {"format": FORMAT, "version": VERSION, "made_by": f"ascendsim {__version__}"}
    yield document("run.json", {**head, "run": facts, "recording": tables})


def _origin(run: Run) -> dict[str, Any] | None:
    """Return what the definition is called with: shapes, types and attributes."""
    origin = getattr(run.wanted, "origin", None)
    if origin is None:
        return None
    return {
        "op": origin.op,
        "soc": origin.soc,
        "shapes": {name: list(shape) for name, shape in origin.shapes.items()},
        "dtypes": {name: kind.name for name, kind in origin.dtypes.items()},
        "attrs": {name: plain(value) for name, value in origin.attrs.items()},
        "outputs": {name: list(shape) for name, shape in origin.outputs.items()},
    }


def open_run(path: str | os.PathLike[str], op: Op | str | None = None) -> Run:
    """Return the run that `run.save` wrote to `path`, or that a capsule page there carries.

    No code of the file is run, and no kernel is needed. `op` is the operator whose definition
    `explain_lane` asks; default: the one of the run's name on the search path, if it is there.

    Raises
    ------
    RequestError
        When the file cannot be read, or is none of these, or damaged.
    """
    data = _content(path)
    try:
        archive = Archive(data)
        head = archive.json("run.json")
        _check_version(path, head)
        return _run(archive, head, op)
    except _BROKEN as error:
        why = str(error) or type(error).__name__
        raise RequestError(
            f"{path}: cannot be opened as a run: {why}; a file of run.save(), or a page of "
            f"`ascendsim capsule`, is needed, whole"
        ) from error


def _content(path: str | os.PathLike[str]) -> bytes:
    file = Path(path)
    if file.is_dir():
        raise RequestError(f"{path}: is a directory; give the name of a file")
    if not file.is_file():
        raise RequestError(f"{path}: there is no such file")
    try:
        if file.stat().st_size > 2 * MOST_BYTES:
            raise RequestError(f"{path}: is larger than any saved run")
        return file.read_bytes()
    except OSError as error:
        raise RequestError(f"{path}: cannot be read: {error.strerror}") from error


def _check_version(path: Any, head: dict[str, Any]) -> None:
    if head["format"] != FORMAT:
        raise ValueError(f"its format is {head['format']!r:.80}")
    if head["version"] != VERSION:
        raise RequestError(
            f"{path}: has version {head['version']!r:.20} of the format, this ascendsim reads "
            f"{VERSION}; it was made by {head.get('made_by')!r:.40}"
        )


def _run(archive: Archive, head: dict[str, Any], op: Op | str | None) -> Run:
    facts = head["run"]
    texts: dict[str, Any] = {name: name_of(facts[name]) for name in _TEXTS}
    recordings = read_recordings(archive, head["recording"])
    for recording in recordings.values():
        Stepper(recording).goto(len(recording.entries)).queues()  # every state has its buffer
    images = {
        number(block): UbImage(np.frombuffer(archive.bytes(f"ub/{block}"), np.uint8), [])
        for block in facts["ub_images"]
    }
    outputs: dict[str, Any] = dict(read_output(archive, each) for each in facts["outputs"])
    run = Run(
        **texts,
        n=number(facts["n"]),
        block_dim=number(facts["block_dim"]),
        tiling=dict(facts["tiling"]),
        seconds=float(facts["seconds"]),
        outputs=outputs,
        warnings=[plain_text(each) for each in facts["warnings"]],
        evidence=_evidence(facts["evidence"]),
        checks=tuple(plain_text(each) for each in facts.get("checks", ())),
        findings=[_finding(each) for each in facts["findings"]],
        ub_images=images,
        recordings=recordings,
    )
    calls = [dict(each) for each in archive.json("calls.json")]
    run.log = (lambda: calls) if calls else None  # else from the recording, as before
    run.wanted = Defined(_finder(run.op, op), _read_origin(facts["origin"]))
    return run


def _evidence(found: Mapping[str, Any]) -> dict[str, Any]:
    for rule in found["rules"]:
        for key in ("rule", "grade", "text", "source"):
            plain_text(rule[key])
    return {**found, "weakest": name_of(found["weakest"])}


def _finding(found: Mapping[str, Any]) -> Finding:
    pairs = {key: None if found[key] is None else tuple(found[key]) for key in ("where", "bytes")}
    return Finding(**{**found, **pairs})


def _read_origin(found: Mapping[str, Any] | None) -> Origin | None:
    if found is None:
        return None
    shapes, outputs = (
        {name: tuple(number(size) for size in shape) for name, shape in found[key].items()}
        for key in ("shapes", "outputs")
    )
    dtypes = {name: type_of(kind) for name, kind in found["dtypes"].items()}
    attrs = {name: value_of(value) for name, value in found["attrs"].items()}
    names = name_of(found["op"]), name_of(found["soc"])
    return Origin(*names, None, None, shapes, dtypes, attrs, outputs)


def _finder(name: str, op: Op | str | None) -> Any:
    """Return what finds the operator: never a folder or module that the file itself names."""

    def find() -> Op:
        if op is None and not re.fullmatch(r"\w+", name):
            raise RequestError(f"{name!r} is no name of an operator: asim.open(path, op=...)")
        try:
            return load(name if op is None else op)
        except RequestError as error:
            raise RequestError(
                f"explain_lane needs the definition of {name}: {error}; give its folder, "
                f"asim.open(path, op=FOLDER)"
            ) from error

    return find
