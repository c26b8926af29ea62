"""Run a kernel body written in a test on a simulated core, without a kernel folder.

def body(x, out):
    u = Ub(a=(float32, 64))
    DataCopy(u["a"], gm(x), 64)
    Muls(u["a"], u["a"], 2.0, 64)
    DataCopy(gm(out), u["a"], 64)

block = run_block(body, {"x": x}, {"out": ((64,), "float32")})
block.outputs["out"], block.calls, block.ub[0], block.warnings, block.rules
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from ascendsim import Options
from ascendsim import soc as socs
from ascendsim.ascendc import GlobalTensor, TBuf, TPipe, TPosition
from ascendsim.dtypes import dtype as as_dtype
from ascendsim.errors import AscendError
from ascendsim.launch import Job, Readers, blocks_of, launch
from ascendsim.record import Instr

EVERY_SOC = ("ascend910", "ascend310p", "ascend910b1", "ascend910_93", "ascend950")
IEEE = Options.of("ieee")


@dataclass
class Block:
    """What a run left: outputs, call log, records, UB images by block, warnings, evidence."""

    outputs: dict[str, np.ndarray] = field(default_factory=dict)
    calls: list[dict[str, Any]] = field(default_factory=list)
    records: list[Instr] = field(default_factory=list)
    ub: dict[int, np.ndarray] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    evidence: dict[str, Any] = field(default_factory=dict)

    @property
    def rules(self) -> dict[str, str]:
        """Rule id to grade."""
        return {row["rule"]: row["grade"] for row in self.evidence["rules"]}

    def warning(self, code: str) -> str:
        """Return the text of the one warning with this code."""
        (text,) = (w for w in self.warnings if w.startswith(f"{code}: "))
        return text


class Recorder:
    """An observer that keeps every record."""

    def __init__(self, records: list[Instr]) -> None:
        self.records = records

    def before(self, instr: Instr) -> None:
        pass

    def after(self, instr: Instr) -> None:
        self.records.append(instr)


def run_block(
    body: Callable[..., None],
    inputs: Mapping[str, np.ndarray] | None = None,
    outputs: Mapping[str, tuple[tuple[int, ...], str]] | None = None,
    **request: Any,
) -> Block:
    """Run `body(*inputs, *outputs)` once per block.

    Keywords: soc, ub, options (Options or a dict), block_dim, seed, observe (False for a quiet
    run), blocks (the blocks to record), executing.
    """
    found = Block()
    observe = request.pop("observe", True)
    readers = Readers(
        observers=(Recorder(found.records),) if observe else (),
        call_sink=found.calls.append if observe else None,
        ub_sink=lambda block, image: found.ub.__setitem__(block, image.copy()),
        blocks=blocks_of(request.pop("blocks", None)),
        executing=request.pop("executing", True),
    )
    result = launch(make_job(body, inputs or {}, outputs or {}, **request), readers)
    found.outputs, found.warnings, found.evidence = result.outputs, result.warnings, result.evidence
    return found


def make_job(
    body: Callable[..., None],
    inputs: Mapping[str, np.ndarray],
    outputs: Mapping[str, tuple[tuple[int, ...], str]],
    soc: str = "ascend910b1",
    **request: Any,
) -> Job:
    chip = socs.load(soc)
    options = request.pop("options", Options())
    if isinstance(options, dict):
        options = Options.of(settings=options)

    def kernel(*arguments: Any) -> None:
        *tensors, _, _ = arguments  # without workspace and tiling
        body(*tensors)

    job = Job(
        name=body.__name__,
        kernel=kernel,
        inputs=inputs,
        input_types={name: as_dtype(array.dtype) for name, array in inputs.items()},
        outputs={name: (shape, as_dtype(T)) for name, (shape, T) in outputs.items()},
        tiling=None,
        block_dim=request.pop("block_dim", 1),
        workspace=0,
        soc=chip,
        ub_bytes=request.pop("ub", None) or chip.ub_bytes,
        options=options,
        seed=request.pop("seed", 0),
        identity=(body,),
    )
    assert not request, f"unknown {request}"
    return job


def fails(
    error: type[AscendError], match: str, body: Callable[..., None], *args: Any, **request: Any
) -> str:
    """Check that `body` raises exactly `error` with text `match`; return the whole text."""
    with pytest.raises(error, match=match) as caught:
        run_block(body, *args, **request)
    assert type(caught.value) is error
    return str(caught.value)


class Ub:
    """Named buffers of a new TPipe: `Ub(a=(float32, 64))`, then `u["a"]` is the tensor."""

    def __init__(self, **buffers: tuple[Any, int]) -> None:
        self.pipe = TPipe()
        self.types = {name: T for name, (T, _) in buffers.items()}
        for name, (T, count) in buffers.items():
            holder = TBuf(TPosition.VECCALC)
            setattr(self, name, holder)
            self.pipe.InitBuffer(holder, count * T.nbytes)

    def __getitem__(self, name: str) -> Any:
        return getattr(self, name).Get(self.types[name])


def gm(address: Any, count: int = 0) -> Any:
    """Return the whole of a kernel argument as a GlobalTensor."""
    tensor = GlobalTensor(address.dtype)
    tensor.SetGlobalBuffer(address, count)
    return tensor


def put(tensor: Any, array: np.ndarray) -> None:
    """Store host values or raw bytes at the start of a LocalTensor, unseen by the simulator."""
    raw = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    assert raw.size <= tensor.nbytes
    tensor.core.ub.array[tensor.start : tensor.start + raw.size] = raw
    tensor.written(raw.size)


def peek(tensor: Any, T: Any = None) -> np.ndarray:
    """Return a copy of what a LocalTensor holds, as values of its type or of `T`."""
    T = T or tensor.dtype
    raw = tensor.core.ub.array[tensor.start : tensor.start + tensor.nbytes]
    return raw[: raw.size // T.nbytes * T.nbytes].copy().view(T.numpy)


def interesting(T: Any, count: int, seed: int = 0) -> np.ndarray:
    """Return values of `T`: the exceptional ones, then random bits and numbers about 1."""
    rng = np.random.default_rng(seed)
    if T.kind != "float":
        return rng.integers(0, 1 << 8 * T.nbytes, count, T.bits.type).view(T.numpy)
    with np.errstate(all="ignore"):
        special = np.array([0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 3, -3, 1e-40, 6e-8, 65519])
        values = np.concatenate(
            [special.astype(T.numpy), (rng.standard_normal(count)).astype(T.numpy)]
        )
    words = values.view(T.bits)
    random = rng.integers(0, 1 << 8 * T.nbytes, values.size, T.bits.type)
    words[1::5] = random[1::5]
    rng.shuffle(words)
    return words[:count].view(T.numpy)


def fields(calls: Iterable[Mapping[str, Any]], *names: str) -> list[tuple[Any, ...]]:
    """Return the named fields of each call."""
    return [tuple(call.get(name) for name in names) for call in calls]
