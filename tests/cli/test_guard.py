"""From what went wrong to an exit code and one line; output files whole or absent."""

from __future__ import annotations

import io
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from ascendsim.cli import execute
from ascendsim.cli.arrays import write_outputs
from ascendsim.cli.files import Outputs, writing
from ascendsim.cli.guard import guarded
from ascendsim.cli.show import ReaderGoneError
from ascendsim.errors import QueueError, RequestError, TilingError
from tests.house.tree import ROOT


def _raising(error: BaseException) -> object:
    def command() -> None:
        raise error

    return command


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (RequestError("no\nsuch\tthing"), 2, "no such thing"),
        (TilingError("no room"), 1, "no room"),
        (QueueError("spins"), 1, "spins"),
        (MemoryError(), 2, "not enough memory"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (ZeroDivisionError("x"), 70, "internal error"),
        (StopIteration(), 70, "StopIteration ("),
        (SystemExit(0), 70, "SystemExit: 0"),
        (GeneratorExit(), 70, "GeneratorExit"),
    ],
)
def test_codes(
    error: BaseException, code: int, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert guarded(_raising(error), json=False) == code  # type: ignore[arg-type]
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("ascendsim: error: ")
    assert line in err
    assert err.count("\n") == 1


def test_place_of_a_kernel_error(capsys: pytest.CaptureFixture[str]) -> None:
    error = QueueError("spins for ever")
    error.where, error.block = ("op_kernel.py", 12), 3
    assert guarded(_raising(error), json=False) == 1  # type: ignore[arg-type]
    assert "op_kernel.py:12: spins for ever [block 3]" in capsys.readouterr().err


def test_python_error_in_a_kernel(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "op_kernel.py"
    source = "def kernel():\n    return 1 / 0\n"
    space: dict[str, object] = {}
    exec(compile(source, str(file), "exec"), space)
    assert guarded(space["kernel"], json=False) == 1  # type: ignore[arg-type]
    assert f"{file}:2: ZeroDivisionError" in capsys.readouterr().err


def test_exit_in_a_kernel(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "op_kernel.py"
    space: dict[str, object] = {}
    exec(compile("def kernel():\n    raise SystemExit(0)\n", str(file), "exec"), space)
    assert guarded(space["kernel"], json=False) == 1  # type: ignore[arg-type]
    assert f"{file}:2: SystemExit: 0" in capsys.readouterr().err


def test_exit_as_people_write_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "demo.py"
    space: dict[str, object] = {}
    exec(compile("def kernel():\n    exit(3)\n", str(file), "exec"), space)
    assert guarded(space["kernel"], json=False) == 1  # type: ignore[arg-type]
    assert f"{file}:2: SystemExit: 3" in capsys.readouterr().err


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Answer SIGINT as a shell in the foreground has it: one in the background ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_signals(number: int, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    def command() -> None:
        os.kill(os.getpid(), number)
        time.sleep(5)

    assert guarded(command, json=False) == code
    assert capsys.readouterr().err.count("\n") == (number == signal.SIGINT)


@pytest.mark.usefixtures("interruptible")  # what is not ignored is the default in a child
def test_signal_before_the_command(tmp_path: Path) -> None:
    source = (
        "import sys, signal\n"
        "class Stop:\n"
        "    def find_spec(self, name, path, target=None):\n"
        "        if name == 'typer':\n"
        "            signal.raise_signal(signal.SIGINT)\n"
        "sys.meta_path.insert(0, Stop())\n"
        "from ascendsim.cli import main\n"
        "main()\n"
    )
    ended = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True)
    assert ended.returncode == 130
    assert ended.stderr == "ascendsim: error: interrupted; no output file was written\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_an_unwritable_standard_error_changes_no_exit_code() -> None:
    source = "from ascendsim.cli import main; main()"
    for words, code in ((("tiling", "nothing", "--n", "1"), 2), (("--version",), 0)):
        with open("/dev/full", "w") as full:
            command = [sys.executable, "-c", source, *words]
            assert (
                subprocess.run(command, stderr=full, stdout=full if code else None).returncode
                == code
            )


def test_debug_shows_the_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ASCENDSIM_DEBUG", "1")
    assert guarded(_raising(ZeroDivisionError("x")), json=False) == 70  # type: ignore[arg-type]
    assert "Traceback" in capsys.readouterr().err


def test_closed_pipe_is_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    assert guarded(_raising(ReaderGoneError()), json=False) == 0  # type: ignore[arg-type]
    assert capsys.readouterr().err == ""


def test_help_into_a_closed_pipe_is_quiet() -> None:
    def stopped() -> None:  # as typer ends then
        try:
            raise BrokenPipeError
        except OSError:
            sys.exit(1)

    assert guarded(stopped, json=False) == 0
    assert guarded(lambda: sys.exit(1), json=False) == 70


def test_file_appears_with_commit(tmp_path: Path) -> None:
    target = tmp_path / "out"
    with Outputs() as outputs:
        hidden = outputs.reserve(str(target), "--output")
        hidden.write_text("new")
        assert not target.exists()
        outputs.commit()
    assert target.read_text() == "new"
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE(target.stat().st_mode) == 0o666 & ~mask
    assert list(tmp_path.iterdir()) == [target]


def test_failure_leaves_the_old_file(tmp_path: Path) -> None:
    target = tmp_path / "out"
    target.write_text("old")
    target.chmod(0o640)
    with Outputs() as outputs:
        outputs.reserve(str(target), "--output").write_text("half")
        outputs.directory(str(tmp_path / "a"), "--ub-images")
        outputs.reserve(str(tmp_path / "a" / "core0.bin"), "--ub-images")
    assert target.read_text() == "old"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert list(tmp_path.iterdir()) == [target]


def test_link_keeps_pointing(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    with Outputs() as outputs:
        outputs.reserve(str(tmp_path / "link"), "--output").write_text("new")
        outputs.commit()
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


def test_a_device_takes_arrays() -> None:
    write_outputs(Path(os.devnull), {"out": np.ones(3, np.float32)})


def test_outputs_through_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE)
    write_outputs(pipe, {"out": np.ones(3, np.float32)})
    content, _ = reader.communicate()
    with np.load(io.BytesIO(content)) as archive:
        assert archive["out"].view(np.float32).tolist() == [1, 1, 1]


def test_device_is_written_to_and_stays() -> None:
    with Outputs() as outputs:
        assert outputs.reserve(os.devnull, "--output") == Path(os.devnull)
        outputs.commit()
    assert not Path(os.devnull).is_file()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_full_disk_is_one_line() -> None:
    with Outputs() as outputs:
        path = outputs.reserve("/dev/full", "--output")

    def write() -> None:
        with writing("--output", "/dev/full"):
            path.write_bytes(b"x" * 100_000)

    with pytest.raises(RequestError, match="No space left"):
        write()


def test_images_of_an_earlier_run_go(tmp_path: Path) -> None:
    for name in ("core0.bin", "core7.bin", "core.bin", "notes.txt"):
        (tmp_path / name).write_text("old")
    with Outputs() as outputs:
        directory = outputs.directory(str(tmp_path), "--ub-images", images=True)
        outputs.reserve(str(directory / "core0.bin"), "--ub-images").write_text("new")
        outputs.commit()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["core.bin", "core0.bin", "notes.txt"]
    assert (tmp_path / "core0.bin").read_text() == "new"


def test_a_directory_that_takes_no_files_exists() -> None:
    with pytest.raises(RequestError, match="/proc takes no new files"), Outputs() as outputs:
        outputs.reserve("/proc/x.html", "--out")


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_stopped_atlas_says_one_line(
    number: int,
    code: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    state = tmp_path / "state"

    def survey(*_: object, **__: object) -> None:
        os.kill(os.getpid(), number)
        time.sleep(5)

    monkeypatch.setattr("ascendsim.explore.atlas.atlas", survey)
    words = ["atlas", "swish_grad", "--resume", str(state)]
    assert execute(words) == code
    assert "go on" not in capsys.readouterr().err  # there is no state yet
    state.write_text("{}")
    assert execute(words) == code
    line = f"ascendsim: error: interrupted; the same command goes on from {state}\n"
    assert capsys.readouterr().err == line


def test_nothing_is_imported_before_the_guard() -> None:
    source = (
        "import sys\n"
        "import os, __future__\n"
        "before = set(sys.modules)\n"
        "import ascendsim.cli\n"
        "print(sorted(set(sys.modules) - before))\n"
    )
    ended = subprocess.run(
        [sys.executable, "-S", "-c", source],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert ended.stdout == "['ascendsim', 'ascendsim.cli']\n"
