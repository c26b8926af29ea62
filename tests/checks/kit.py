"""Small kernels that have a fault, and their twins without it, for the tests of the checks.

    @fault("memcheck:double-free")
    def double_free(k, x, out):
        ...
        k.queue.FreeTensor(a)
        if k.broken:
            k.queue.FreeTensor(a)  # fault

`k.form` is "count" or "repeat" where the fault has both. The finding must stand at the line that
ends in `# fault`; the twin (k.broken False) must be clean.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np

from ascendsim import Options
from ascendsim.ascendc import *
from ascendsim.launch import Readers, launch
from ascendsim.observe.checks import TOOLS, Checks
from ascendsim.record import Finding
from tests.kit import make_job

FULL = UnaryRepeatParams(1, 1, 8, 8)
HALF = UnaryRepeatParams(2, 2, 16, 16)  # every other datablock
PAIR = BinaryRepeatParams(1, 1, 1, 8, 8, 8)
N = 128
DATA = {"x": np.arange(N, dtype=np.float32)}
OUT = {"out": ((N,), "float32")}


@dataclass(frozen=True)
class Fault:
    """A kernel with its fault; `request` is passed to the launch, `checks` to the checks."""

    code: str
    body: Callable[..., None]
    form: str = ""
    inputs: Mapping[str, np.ndarray] = field(default_factory=lambda: DATA)
    outputs: Mapping[str, Any] = field(default_factory=lambda: OUT)
    strict: bool = False
    request: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return f"{self.body.__name__}{'-' * bool(self.form)}{self.form}"

    def run(self, broken: bool) -> list[Finding]:
        """Run the kernel, or its twin, with all checks."""

        def body(*arguments: Any) -> None:
            self.body(SimpleNamespace(broken=broken, form=self.form), *arguments)

        return findings_of(body, self.inputs, self.outputs, strict=self.strict, **self.request)

    def lines(self) -> list[int]:
        """Return the marked lines of the kernel."""
        source, first = inspect.getsourcelines(self.body)
        return [first + k for k, text in enumerate(source) if text.rstrip().endswith("# fault")]


def faults() -> tuple[list[Fault], Callable[..., Any]]:
    """Return a list and the decorator that adds to it."""
    table: list[Fault] = []

    def fault(code: str, forms: tuple[str, ...] = ("",), **more: Any) -> Callable[..., Any]:
        def add(body: Callable[..., None]) -> Callable[..., None]:
            table.extend(Fault(code, body, form, **more) for form in forms)
            return body

        return add

    return table, fault


BOTH = ("count", "repeat")
OFF = {"options": {"auto_sync": "off"}}


def findings_of(
    body: Callable[..., None],
    inputs: Mapping[str, np.ndarray],
    outputs: Mapping[str, Any],
    *,
    tools: tuple[str, ...] = TOOLS,
    strict: bool = False,
    **request: Any,
) -> list[Finding]:
    """Run `body` with checks and return what they found."""
    settings = dict(request.pop("options", {}))
    settings.setdefault("select_scratch", "off")
    options = Options.of(settings=settings)
    job = make_job(body, inputs, outputs, options=options, **request)
    checks = Checks(tools, job.options, strict=strict, defined=tuple(inputs))
    launch(job, Readers(checks=checks))
    return checks.all()


def verify(fault: Fault) -> Finding:
    """Check that the fault is found at its line and alone, and that the twin is clean."""
    (found,) = fault.run(broken=True)
    assert found.code == fault.code, found
    assert found.where is not None
    assert found.where[1] in fault.lines(), found
    assert found.where[0].endswith(inspect.getsourcefile(fault.body).rpartition("/")[2])
    assert found.message
    assert found.way_out
    assert fault.run(broken=False) == []
    return found


def pipe_with(**holders: Any) -> SimpleNamespace:
    """Return a TPipe with queues and TBufs: name=(position, buffers, bytes), or bytes of a TBuf."""
    k = SimpleNamespace(pipe=TPipe())
    for name, request in holders.items():
        if isinstance(request, int):
            holder: Any = TBuf(TPosition.VECCALC)
            setattr(k, name, holder)
            k.pipe.InitBuffer(holder, request)
        else:
            position, number, nbytes = request
            holder = TQue(position, number)
            setattr(k, name, holder)
            k.pipe.InitBuffer(holder, number, nbytes)
    return k


def flags(event: HardEvent, wanted: bool = True) -> None:
    """Set a flag and wait for it at once, when it is wanted."""
    if wanted:
        SetFlag(event, 0)
        WaitFlag(event, 0)


def buffers() -> tuple[Any, Any]:
    """Return two float32 tensors of N elements."""
    p = pipe_with(a=4 * N, b=4 * N)
    return p.a.Get(float32), p.b.Get(float32)
