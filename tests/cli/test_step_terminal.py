"""`ascendsim step` on a terminal: a prompt, and a session that survives mistakes."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo terminal")
def test_a_terminal_gets_a_prompt():
    import pty

    ours, theirs = pty.openpty()
    start = "from ascendsim.cli import main; main()"
    command = [sys.executable, "-c", start, "step", "add", "--n", "40", "--random"]
    environment = os.environ | {"NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "200"}
    child = subprocess.Popen(
        command, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    )
    os.close(theirs)
    os.write(ours, b"n 3\n\nbogus\nq\n")
    out, err = child.communicate(timeout=120)
    os.close(ours)
    assert child.returncode == 0
    assert b"0 of " in out
    assert b"3 of " in out
    assert b"6 of " in out
    assert b"'bogus' is no command" in err
