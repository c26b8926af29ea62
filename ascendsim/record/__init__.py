"""What one call leaves behind: the record that every reader of a run shares.

A kernel's call that touches memory, a buffer or order becomes one `Instr` in the stream of its
core, made only when someone reads along. It carries everything an observer needs (operands with
start, dtype and strides, tokens, the kernel's line), so observers know nothing of the
instruction set. The one context variable of the package, the current core, lives here.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from ascendsim.dtypes import DType
from ascendsim.enums import PIPE
from ascendsim.errors import BoundsError, RequestError
from ascendsim.record.where import Line, Where

UB, GM = "UB", "GM"


class Buffer(Protocol):
    """What a record needs of a UB buffer: a slot of a queue, or a TBuf."""

    start: int
    nbytes: int
    slot: int
    state: int

    @property
    def name(self) -> str:
        """Name of the kernel object's attribute that holds the buffer."""


class Operand(Protocol):
    """What an instruction needs of a tensor in UB."""

    space: str
    core: Any  # the core stands above the record
    buffer: Any
    dtype: DType
    start: int  # byte offset in UB
    address: int  # absolute byte address
    nbytes: int
    calls: dict


class Token(NamedTuple):
    """One edge between two pipes: a flag and event id, or a buffer mutex on 950."""

    serial: int
    source: PIPE
    destination: PIPE
    id: int


class Shape(Protocol):
    """The geometry of a call: of repeats and lanes, or of the blocks of a copy."""

    def ranges(self, access: Access) -> list[tuple[int, int]]:
        """Return the byte ranges (start, stop) that the call touches at `access`."""


class Access(NamedTuple):
    """One operand of a call: which bytes of which buffer it stands on.

    `start` is a byte offset in UB, or in the GM allocation `holder`. Strides are in bytes;
    `element` is the bytes per element, 0 for a run of mask bits.
    """

    role: str
    space: str
    holder: Any
    start: int
    dtype: DType
    writes: bool
    element: int
    block_stride: int
    repeat_stride: int


class Move(NamedTuple):
    """What a copy executes: `blocks` of `nbytes` at two pitches, and what it stores around them.

    dst_space, src_space : the name of a GM tensor, "" for UB; dst, src : byte offsets there.
    `pad` is what DataCopyPad stores beside the blocks (isa/padding.PadBytes; None: nothing).
    """

    blocks: int
    nbytes: int
    dst_pitch: int
    src_pitch: int
    dst_space: str
    dst: int
    src_space: str
    src: int
    pad: Any


class Store(NamedTuple):
    """What SetValue executes: the raw bits of one element of `nbytes` at byte `start`.

    space : the name of a GM tensor, "" for UB.
    """

    space: str
    start: int
    nbytes: int
    bits: int


class Span(NamedTuple):
    """A byte range of UB, or of the GM allocation `holder`."""

    space: str
    holder: Any
    start: int
    stop: int


@dataclass(slots=True, eq=False)
class Call:
    """A bound call: all of it but the scalar, checked once and shared by its records.

    Never changed once made (and not frozen only because freezing makes each one slower to make).

    `execute(address, scalar)` runs the compiled body over the row at `address`; `encode` turns
    the kernel's scalar into the one that the row expects (None: it is passed as it is).
    `row` is the same as data, for engines: (row of words, geometry block), Move or Store.
    `fields` are the call's other parameters under the names of the manual, for logs and pages;
    `hidden` the UB bytes that it stores beside its operands; `meets` says that it waits for other
    blocks, or lets them go on; `sets` are the registers that it sets (record/registers.py);
    `beyond` are the errors of leaving its tensors that out_of_bounds=report keeps it from raising;
    `warned` are code and text of each warning that it gave when it was bound.
    """

    name: str
    pipe: PIPE
    core: Any
    accesses: tuple[Access, ...]
    execute: Callable[[int, float], Any] | None = None
    address: int = 0
    encode: Callable[[Any], float] | None = None
    row: Any = None
    geometry: Shape | None = None
    fields: dict[str, Any] = field(default_factory=dict)
    hidden: tuple[tuple[int, int], ...] = ()
    meets: bool = False
    sets: tuple[tuple[str, Any], ...] = ()
    beyond: tuple[BoundsError, ...] = ()
    warned: tuple[tuple[str, str], ...] = ()
    _stores: tuple[Span, ...] | None = field(default=None, init=False, repr=False)

    @property
    def stores(self) -> tuple[Span, ...]:
        """The byte ranges that its operands are stored to, in program order."""
        if self._stores is None:
            self._stores = tuple(
                Span(access.space, access.holder, start, stop)
                for access in self.accesses
                if access.writes
                for start, stop in self.ranges(access)
            )
        return self._stores

    @property
    def words(self) -> Any:
        """The row of a vector call; None of other calls."""
        return None if self.row is None or isinstance(self.row, (Move, Store)) else self.row[0]

    def ranges(self, access: Access) -> list[tuple[int, int]]:
        """Return the byte ranges of `access`, in program order, at element granularity."""
        return [] if self.geometry is None else self.geometry.ranges(access)


class Instr(NamedTuple):
    """One record of the stream of a core."""

    seq: int
    block: int
    call: Call
    scalar: Any
    waits: tuple[Token, ...]
    signals: tuple[Token, ...]
    where: Where | Line


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check has to say about a call, number `seq` of block `core`, at `where`.

    bytes : (start, stop) in `memory`, "UB" or a GM tensor; buffer : the queue or TBuf that they
    lie in, "" of GM; partner : the other call and its line
    """

    code: str
    severity: str
    message: str
    core: int
    seq: int
    other_seq: int | None = None
    where: tuple[str, int] | None = None
    bytes: tuple[int, int] | None = None
    count: int = 1
    instruction: str = ""
    partner: str = ""
    memory: str = ""
    way_out: str = ""
    buffer: str = ""


class Observer(Protocol):
    """A reader of the stream. `before` sees a record before its bytes change, `after` then."""

    def before(self, instr: Instr) -> None:
        """Look at the core before the call executes."""

    def after(self, instr: Instr) -> None:
        """Look at the core after the call executed."""


CURRENT: ContextVar[Any] = ContextVar("current_core")


def current_core() -> Any:
    """Return the core whose kernel is running.

    Raises
    ------
    RequestError
        Outside a launch.
    """
    core = CURRENT.get(None)
    if core is None:
        raise RequestError(
            "no kernel is running: Ascend C calls work inside a kernel that ascendsim.launch() runs"
        )
    return core
