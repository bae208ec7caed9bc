"""A real server and a real browser for the tests of what only a browser shows."""

import importlib.util
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

CHROMIUM = Path("/usr/bin/chromium")
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # names of other sites lead here, as a name does that its owner leads to a loopback address
    "--host-resolver-rules=MAP *.example 127.0.0.1",
)
HOSTILE_OPTIONS = """
[global]
developmentMode = true
[client]
allowedOrigins = ["http://evil.example"]
[server]
enableCORS = false
enableXsrfProtection = false
baseUrlPath = "elsewhere"
enableAgentApi = true
[server.trustedUserHeaders]
X-Person = "email"
[theme]
primaryColor = "#FF0000"
backgroundColor = "#FF0000"
"""
SETTLED = (
    "document.querySelector('[data-testid=stApp]')?.getAttribute('data-test-script-state') === 'notRunning'"
    " && document.querySelector('h2') !== null"
)
TOP = Path(__file__).resolve().parents[2]
_START_S = 60.0
_PATIENCE_MS, _LOOK_EVERY_MS = 60_000, 200


def eventually(page: "Page", holds: Callable[[], bool]) -> None:
    """Wait until something holds: after a step back, the address changes before the page does."""
    for _ in range(_PATIENCE_MS // _LOOK_EVERY_MS):
        if holds():
            return
        page.wait_for_timeout(_LOOK_EVERY_MS)
    raise AssertionError("it never came to hold")


@contextmanager
def served(environment: Mapping[str, str], log: Path, *, port: int | None = None) -> Iterator[str]:
    """`medir serve` on a port, by default a free one, for as long as the context lasts; its address.

    Both the person who starts it and the folder where it starts have options of Streamlit that would let anybody in.
    """
    folder = log.parent
    if port is None:
        port = free_port()
    options = folder / ".streamlit" / "config.toml"
    options.parent.mkdir(exist_ok=True)
    options.write_text(HOSTILE_OPTIONS, encoding="utf-8")
    with log.open("wb") as output:
        server = subprocess.Popen(
            [sys.executable, "-c", "from medir.cli import main; main()", "serve", "--port", str(port)],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(TOP), **environment, "HOME": str(folder), "CI": "1"},
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    address = f"http://127.0.0.1:{port}"
    try:
        _await(address, server, log)
        yield address
    finally:
        server.terminate()
        try:
            server.wait(20)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait(10)


def why_no_browser() -> str | None:
    """Why there is no browser to test with, None where there is one."""
    if importlib.util.find_spec("playwright") is None:
        return "playwright is not installed"
    return None if CHROMIUM.exists() else f"{CHROMIUM} is not there: apt install chromium"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _await(address: str, server: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + _START_S
    while time.monotonic() < deadline and server.poll() is None:
        try:
            with urllib.request.urlopen(f"{address}/_stcore/health", timeout=2):
                return
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.1)
    raise AssertionError(f"the workbench did not start: {log.read_text(errors='replace')}")
