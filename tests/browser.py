"""Headless Chromium, driven through the pipe of its devtools protocol: no driver, no package."""

from __future__ import annotations

import base64
import itertools
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
NEED = "ASCENDSIM_NEED_CHROMIUM"
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--remote-debugging-pipe",
)
SECONDS = 30  # for one answer
LOCAL = ("file:", "data:", "blob:", "about:")


def chromium() -> str:
    """Return the path of Chromium; skip where there is none (fail where it is needed)."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        text = f"no Chromium ({', '.join(NAMES)}): `apt-get install chromium` runs this test"
        pytest.fail(text) if os.environ.get(NEED) == "1" else pytest.skip(text)
    return str(found)


class Browser:
    """A page in Chromium. `complaints` are console messages and errors, `requests` all URLs."""

    def __init__(self, path: str) -> None:
        self.profile = tempfile.mkdtemp(prefix="chromium-")
        inward, self._out = os.pipe()
        self._in, outward = os.pipe()
        os.set_inheritable(inward, True)
        os.set_inheritable(outward, True)
        script = f'exec "$@" 3<&{inward} 4>&{outward}'
        command = [path, *FLAGS, f"--user-data-dir={self.profile}", "about:blank"]
        self.process = subprocess.Popen(
            ["bash", "-c", script, "bash", *command],
            pass_fds=(inward, outward),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(inward)
        os.close(outward)
        self._numbers, self._buffer, self._session = itertools.count(1), b"", ""
        self._events: list[dict[str, Any]] = []
        self.complaints: list[str] = []
        self.requests: list[str] = []
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        attached = self.ask("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network", "DOM"):
            self.ask(f"{domain}.enable")

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command and return its result."""
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._message()
            if answer.get("id") == number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return answer["result"]

    def open(self, path: Path, wait: str) -> None:
        """Open a file and wait until the expression `wait` is true."""
        self._events.clear()
        self.ask("Page.navigate", url=path.as_uri() if isinstance(path, Path) else path)
        self.until(wait)

    def until(self, expression: str) -> None:
        """Wait until an expression is true in the page."""
        stop = time.monotonic() + SECONDS
        while not self.run(f"Boolean({expression})"):
            assert time.monotonic() < stop, f"never true: {expression}; {self.complaints}"
            time.sleep(0.02)

    def run(self, expression: str) -> Any:
        """Return the value of an expression, a promise awaited."""
        found = self.ask(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def key(self, key: str) -> None:
        """Press a key."""
        text = {"text": key} if len(key) == 1 else {}
        for kind in ("keyDown", "keyUp"):
            self.ask("Input.dispatchKeyEvent", type=kind, key=key, **text)

    def choose(self, selector: str, path: Path) -> None:
        """Choose a file in a file input."""
        root = self.ask("DOM.getDocument")["root"]["nodeId"]
        node = self.ask("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self.ask("DOM.setFileInputFiles", files=[str(path)], nodeId=node)

    def scheme(self, name: str) -> None:
        """Prefer `light` or `dark` colours."""
        feature = {"name": "prefers-color-scheme", "value": name}
        self.ask("Emulation.setEmulatedMedia", features=[feature])

    def size(self, width: int, height: int) -> None:
        """Set the size of the window."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.ask("Emulation.setDeviceMetricsOverride", **size)

    def picture(self, path: Path, whole: bool = False) -> None:
        """Write a picture of the page."""
        shot = self.ask("Page.captureScreenshot", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(shot["data"]))

    def close(self) -> None:
        """End Chromium and remove its profile."""
        os.close(self._out)  # it ends when its pipe does
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self._in)
        shutil.rmtree(self.profile, ignore_errors=True)

    def _message(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._in], [], [], SECONDS)
            assert ready, "Chromium does not answer"
            piece = os.read(self._in, 1 << 20)
            assert piece, f"Chromium has ended with {self.process.poll()}"
            self._buffer += piece
        text, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        self._note(message.get("method", ""), message.get("params", {}))
        return message

    def _note(self, method: str, said: dict[str, Any]) -> None:
        if method == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(said["exceptionDetails"])[:2000])
        elif method == "Runtime.consoleAPICalled":
            self.complaints.append(f"console.{said['type']}: {said['args']}")
        elif method == "Log.entryAdded":
            self.complaints.append(f"{said['entry']['level']}: {said['entry']['text']}")
        elif method == "Network.requestWillBeSent":
            self.requests.append(said["request"]["url"])
