"""What callers hand to `launch` and `time`: options, and functions that take what a run records."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from ascendsim.errors import AscendError, RequestError
from ascendsim.launch import Job
from ascendsim.options import Options

if TYPE_CHECKING:
    from ascendsim.observe.checks import Checks

_DEFAULT = Options()


def checked_options(options: Options | None) -> Options:
    """Return the options, the default ones for None.

    Raises
    ------
    RequestError
        When it is something else, a profile's name for instance.
    """
    if options is None:
        return _DEFAULT
    if not isinstance(options, Options):
        name = options if isinstance(options, str) else "ieee"
        raise RequestError(f"options={options!r}: make them, with Options.of({name!r}) for one")
    return options


def checks_of(job: Job, tools: Iterable[str], strict: bool, execute: bool) -> Checks | None:
    """Return the observer of the wanted checks, None when there are none.

    Raises
    ------
    RequestError
        When there is no such check, or the launch has no data to check.
    """
    wanted = (tools,) if isinstance(tools, str) else tuple(tools)
    if not wanted:
        return None
    from ascendsim.observe.checks import TOOLS, Checks

    for tool in wanted:
        if tool not in TOOLS:
            raise RequestError(f"check {tool!r} is unknown; use some of {', '.join(TOOLS)}")
    if not execute:
        raise RequestError("checks look at a run with data: leave execute=False away")
    defined = (*job.inputs, *job.initial)
    outputs = tuple(name for name in job.outputs if name not in job.initial)
    return Checks(wanted, job.options, strict=strict, defined=defined, outputs=outputs)


def unlocated(sink: Callable[..., None] | None) -> Callable[..., None] | None:
    """Return `sink` such that what it raises is not taken for a mistake of the kernel."""
    if sink is None:
        return None

    def call(*record: Any) -> None:
        try:
            sink(*record)
        except AscendError as error:
            error.located = True
            raise
        except Exception as error:
            text = f"call_sink or ub_sink fails: {type(error).__name__}: {error}"
            refused = RequestError(text)
            refused.located = True
            raise refused from error

    return call
