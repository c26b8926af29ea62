"""The process that runs one job after another, each in a child of its own with a time limit.

It has imported what the jobs need, so a child starts at once; a mutant that hangs, ends Python or
changes modules harms nobody but its child. A request is one line of JSON on standard input: the
name of a job (jobs.py), its argument, seconds, a file for the answer and one for what it prints.
The reply is a line with how the child ended. When its parent is gone, nobody stays.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

DONE, DIED, TIMEOUT = "done", "died", "timeout"
_LOOK_SECONDS = 0.02  # between looks at a child


def serve(empty: str) -> None:
    """Take requests until standard input ends; `empty` is a directory without tests, or ""."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started this ends it
    replies = os.dup(1)  # what is printed in this process goes nowhere
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    from ascendsim.explore.mutate import jobs

    jobs.prepare(empty)
    while request := sys.stdin.buffer.readline():
        ended = _run(json.loads(request))
        os.write(replies, json.dumps({"ended": ended}).encode() + b"\n")


def _run(request: dict[str, Any]) -> str:
    child = os.fork()
    if child == 0:
        _child(request)
    limit = time.monotonic() + request["seconds"]
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            _end(child)
            return DONE if os.waitstatus_to_exitcode(status) == 0 else DIED
        late = time.monotonic() > limit
        if late or _parent_is_gone():
            _end(child)
            with suppress(ProcessLookupError):  # it may not have made its group yet
                os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            if not late:
                sys.exit(1)
            return TIMEOUT
        time.sleep(_LOOK_SECONDS)


def _child(request: dict[str, Any]) -> NoReturn:
    """Do the job, write the answer, leave without running what the server registered."""
    code = 1
    try:
        os.setpgid(0, 0)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        nothing = os.open(os.devnull, os.O_RDONLY)
        printed = os.open(request["log"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        sys.stdin = open(os.devnull)  # noqa: SIM115
        for source, target in ((nothing, 0), (printed, 1), (printed, 2)):
            os.dup2(source, target)
        from ascendsim.explore.mutate import jobs

        answer = jobs.JOBS[request["job"]](**request["given"])
        Path(request["answer"]).write_text(json.dumps(answer), encoding="utf-8")
        code = 0
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        with suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def _parent_is_gone() -> bool:
    """Say whether standard input has ended: nobody writes there while a job runs."""
    return bool(select.select([sys.stdin.buffer], [], [], 0)[0])


def _end(child: int) -> None:
    """Kill a child, if it still runs, and what it started."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)
