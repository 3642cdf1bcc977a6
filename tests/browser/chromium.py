"""A headless Chromium, driven over the pipe of its DevTools protocol. No driver program, no port, no network."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)
SECONDS = 60.0
"""Patience with one answer; a busy machine starts slowly."""


def find_chromium() -> str | None:
    """The browser's program: what CHROMIUM names, else the first known name on PATH."""
    named = os.environ.get("CHROMIUM")
    return shutil.which(named) if named else next((found for name in NAMES if (found := shutil.which(name))), None)


class Chromium:
    """One browser process with an empty profile of its own. Use as a context manager."""

    def __init__(self, program: str) -> None:
        self._program = program
        self._number = 0
        self._buffer = b""
        self.events: list[dict[str, Any]] = []

    def __enter__(self) -> Chromium:
        self._profile = tempfile.mkdtemp(prefix="page-test-")
        command_in, self._out = os.pipe()
        self._in, answer_out = os.pipe()
        # the protocol speaks on descriptors 3 and 4 of the browser
        line = f'exec "$0" "$@" 3<&{command_in} 4>&{answer_out}'
        arguments = ["/bin/bash", "-c", line, self._program, *FLAGS, f"--user-data-dir={self._profile}", "about:blank"]
        if not Path("/bin/bash").exists():  # descriptors above 9 need more than a plain shell
            raise RuntimeError("the page tests need /bin/bash")
        self._process = subprocess.Popen(
            arguments,
            pass_fds=(command_in, answer_out),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(command_in)
        os.close(answer_out)
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.call("Browser.close")
        except (OSError, RuntimeError, TimeoutError):
            self._process.kill()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._out)
        os.close(self._in)
        shutil.rmtree(self._profile, ignore_errors=True)

    def call(self, method: str, session: str | None = None, **parameters: Any) -> Any:
        """Result of a command."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        rest = memoryview(json.dumps(message).encode() + b"\0")
        while rest:
            rest = rest[os.write(self._out, rest) :]
        until = time.monotonic() + SECONDS
        while True:
            answer = self._read(until)
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer.get("result", {})
            if "method" in answer:
                self.events.append(answer)

    def _read(self, until: float) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._in], [], [], max(0.0, until - time.monotonic()))
            if not ready:
                raise TimeoutError("the browser does not answer")
            data = os.read(self._in, 1 << 20)
            if not data:
                raise RuntimeError("the browser has gone")
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\0")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def open(self, page: Path, *, width: int = 1280, height: int = 900, dark: bool = False) -> Page:
        """A tab of that size that shows a file."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        return Page(self, target, session, page, width=width, height=height, dark=dark)


class Page:
    """A tab. ``complaints``: what stands in its console as a warning or worse, failed loads included."""

    def __init__(
        self, browser: Chromium, target: str, session: str, file: Path, *, width: int, height: int, dark: bool
    ) -> None:
        self._browser, self._target, self._session = browser, target, session
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._call(f"{domain}.enable")
        self._call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.media("", dark=dark)
        self._call("Page.navigate", url=file.resolve().as_uri())
        until = time.monotonic() + SECONDS
        while self.run("document.readyState + location.protocol") != "completefile:":
            if time.monotonic() > until:
                raise TimeoutError(f"{file.name} does not load")
            time.sleep(0.02)

    def _call(self, method: str, **parameters: Any) -> Any:
        return self._browser.call(method, self._session, **parameters)

    def run(self, script: str) -> Any:
        """Value of an expression in the page."""
        answer = self._call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{script[:100]}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def media(self, name: str, *, dark: bool = False) -> None:
        """Show the page as on paper ("print"), or as it comes ("")."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._call("Emulation.setEmulatedMedia", media=name, features=[scheme])

    def names(self, *roles: str) -> list[str]:
        """What assistive software calls the elements of these roles."""
        nodes = self._call("Accessibility.getFullAXTree")["nodes"]
        return [
            str(node.get("name", {}).get("value", ""))
            for node in nodes
            if not node["ignored"] and node["role"]["value"] in roles
        ]

    def press(self, key: str, code: int) -> None:
        """Press and release a key."""
        text = "\r" if key == "Enter" else " " if key == "Space" else ""
        for kind in ("keyDown", "keyUp"):
            more = {"text": text} if text and kind == "keyDown" else {}
            self._call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, **more)

    @property
    def complaints(self) -> list[str]:
        """Errors and warnings so far."""
        self.run("1")  # whatever happened before has been told by now
        found = []
        for event in self._browser.events:
            if event.get("sessionId") != self._session:
                continue
            detail = event["params"]
            match event["method"]:
                case "Runtime.exceptionThrown":
                    found.append(str(detail["exceptionDetails"]))
                case "Runtime.consoleAPICalled" if detail["type"] in ("error", "warning", "assert"):
                    found.append(str(detail["args"]))
                case "Log.entryAdded" if detail["entry"]["level"] in ("error", "warning"):
                    found.append(detail["entry"]["text"])
                case "Network.loadingFailed":
                    found.append(str(detail))
        return found

    @property
    def requests(self) -> list[str]:
        """Addresses that the page asked for, the ones inside it (data:) left out."""
        return [
            event["params"]["request"]["url"]
            for event in self._browser.events
            if event.get("sessionId") == self._session
            and event["method"] == "Network.requestWillBeSent"
            and not event["params"]["request"]["url"].startswith("data:")
        ]

    def picture(self, file: Path) -> None:
        """Write the whole page as a PNG."""
        answer = self._call("Page.captureScreenshot", captureBeyondViewport=True, format="png")
        file.write_bytes(base64.b64decode(answer["data"]))

    def paper(self, file: Path | None = None) -> bytes:
        """The page as a PDF, as printed."""
        answer = self._call("Page.printToPDF", preferCSSPageSize=True, printBackground=True)
        data = base64.b64decode(answer["data"])
        if file is not None:
            file.write_bytes(data)
        return data

    def close(self) -> None:
        """Close the tab."""
        self._browser.call("Target.closeTarget", targetId=self._target)
