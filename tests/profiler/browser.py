"""Chromium without a window, driven through a pair of pipes: no port, nothing but the library."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
    "--window-size=1400,850", "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars",
)  # fmt: skip
PATIENCE = 40.0


class Browser:
    """One page; `run` evaluates a line of JavaScript in it. Requests and errors are kept."""

    def __init__(self) -> None:
        self.folder = tempfile.mkdtemp(prefix="treadle-chromium-")
        theirs, self._to = (_high(fd) for fd in os.pipe())
        self._from, back = (_high(fd) for fd in os.pipe())
        command = f'exec "$@" 3<&{theirs} 4>&{back}'
        self._process = subprocess.Popen(
            ["bash", "-c", command, "-", str(CHROMIUM), f"--user-data-dir={self.folder}", *FLAGS],
            pass_fds=(theirs, back), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(theirs)
        os.close(back)
        self._buffer, self._last, self._session = b"", 0, ""
        self.requests: list[str] = []
        self.errors: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **given: object) -> dict:
        """Send a command and wait for its answer."""
        self._last += 1
        message = {"id": self._last, "method": method, "params": given}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            answer = self._next(until)
            if answer.get("id") == self._last:
                assert "error" not in answer, f"{method}: {answer}"
                return answer["result"]
            self._heard(answer)
        raise TimeoutError(method)

    def _next(self, until: float) -> dict:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._from], [], [], max(0.0, until - time.monotonic()))
            part = os.read(self._from, 1 << 16) if ready else b""
            if not part:
                raise TimeoutError("the browser says nothing")
            self._buffer += part
        message, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(message)

    def _heard(self, message: dict) -> None:
        given = message.get("params", {})
        if message.get("method") == "Network.requestWillBeSent":
            self.requests.append(given["request"]["url"])
        elif message.get("method") == "Runtime.exceptionThrown":
            self.errors.append(json.dumps(given["exceptionDetails"]))
        elif message.get("method") == "Log.entryAdded" and given["entry"]["level"] == "error":
            self.errors.append(given["entry"]["text"])

    def open(self, url: str) -> None:
        """Load a page and wait until it says that it is ready."""
        self.call("Page.navigate", url=url)
        self.wait("document.body && document.body.dataset.ready === 'yes'")

    def run(self, script: str) -> object:
        """The value of an expression in the page."""
        found = self.call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def wait(self, condition: str) -> None:
        until = time.monotonic() + PATIENCE
        while not self.run(condition):
            assert time.monotonic() < until, f"never true: {condition}"
            time.sleep(0.02)

    def click(self, x: float, y: float, **more: object) -> None:
        """Press and let go of the mouse."""
        for kind in ("mousePressed", "mouseReleased"):
            self.mouse(kind, x, y, button="left", clickCount=1, **more)

    def mouse(self, kind: str, x: float, y: float, **more: object) -> None:
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def key(self, key: str) -> None:
        """Press a key, as its name in a browser's events."""
        text = {"text": key} if len(key) == 1 else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def theme(self, name: str) -> None:
        """What the user's system asks for."""
        self.call(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": name}],
        )

    def picture(self, path: str) -> None:
        """A screenshot."""
        shot = self.call("Page.captureScreenshot", format="png")
        with open(path, "wb") as file:
            file.write(base64.b64decode(shot["data"]))

    def close(self) -> None:
        self._process.terminate()
        self._process.wait(10)
        os.close(self._to)
        os.close(self._from)
        shutil.rmtree(self.folder, ignore_errors=True)


def _high(fd: int) -> int:
    """The same file under a number that redirections do not touch."""
    found = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 10)
    os.close(fd)
    return found
