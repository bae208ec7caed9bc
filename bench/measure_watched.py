"""What it costs a calibration to be watched: in a terminal, and on a page that two browsers look at.

Eight cases of the sample, calibrated by turns with `medir calibrate`, with the same command in a process that has its
libraries loaded, in the process that long work runs in with nobody looking on, and by a click in Chromium while a
second browser looks on; on an idle machine and beside eight busy processes. Counted is the processor time of the whole
tree of the command, or of the server with its processes, and of PostgreSQL; not that of the browsers, which are other
people's machines. Drawing the pages after the end is told apart: it comes when the work is done. Writes
`bench/results/watched.md`. Needs Chromium.
"""

import contextlib
import os
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from calibrated import (
    MEDIR,
    PATIENCE_MS,
    PROJECT,
    SETTLED,
    Alone,
    Calibrated,
    Meter,
    in_loaded_terminal,
    in_terminal,
    loaded_terminal,
    on_pages,
    url_of,
)
from material import TOP

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CASES, ROUNDS, BUSY, WATCHERS = 8, 4, 8, 2
WAYS = ("terminal", "terminal, loaded", "unwatched", "watched")
MEASURES = (("asked", "asked_s"), ("run", "run_s"), ("processor", "cpu_s"))
CHROMIUM = "/usr/bin/chromium"
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
)


def main() -> None:
    """Measure all ways, idle and busy, and write the ratios down."""
    load = os.getloadavg()[0]
    home = Path(tempfile.mkdtemp(prefix="medir-watched-"))
    # as root the server runs as another account, which must be able to enter
    home.chmod(0o755)
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("MEDIR_", "DATABASE_URL"))}
    environment = {**kept, "MEDIR_HOME": str(home / "home"), "MEDIR_EMBEDDING": "embedded", "CI": "1"}
    try:
        repository = make_repository(home / "repository")
        run([*MEDIR, "project", "add", PROJECT, "--repo", str(repository)], environment)
        run([*MEDIR, "index", "--project", PROJECT], environment)
        measured = {name: compare(environment, busy=busy) for name, busy in (("idle", 0), ("busy", BUSY))}
    finally:
        shutil.rmtree(home, ignore_errors=True)
    text = told(measured, load=load)
    (TOP / "bench" / "results" / "watched.md").write_text(text, encoding="utf-8")
    print(text)


def make_repository(folder: Path) -> Path:
    """The sample's documents with the first eight of its cases, committed."""
    shutil.copytree(TOP / "golden_set" / "corpus", folder)
    sample = (TOP / "golden_set" / "cases.yaml").read_text(encoding="utf-8")
    limit = next(line for line in sample.splitlines() if line.startswith("limit:"))
    cases = re.split(r"\n(?= *- id:)", sample)[1:][:CASES]
    (folder / "golden_set").mkdir(exist_ok=True)
    (folder / "golden_set" / "cases.yaml").write_text(
        "\n".join(["floor: 0", limit, "cases:", *cases]) + "\n", encoding="utf-8"
    )
    for arguments in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "import")):
        named = ("-c", "user.name=bench", "-c", "user.email=bench@localhost")
        subprocess.run(["git", "-C", str(folder), *named, *arguments], check=True)
    return folder


def compare(environment: Mapping[str, str], *, busy: int) -> dict[str, list[Calibrated]]:
    """By turns in every way, over one server, so that noise meets all alike."""
    found: dict[str, list[Calibrated]] = {way: [] for way in WAYS}
    with ExitStack() as stack:
        server, address = stack.enter_context(serving(environment))
        opened = stack.enter_context(browsers())
        url = url_of(environment)
        meter = stack.enter_context(closing(Meter(url, server)))
        terminal = stack.enter_context(loaded_terminal(environment))
        alone = stack.enter_context(closing(Alone(environment, url)))
        pages = [open_page(browser, address) for browser in opened]
        ways: dict[str, Callable[[], Calibrated]] = {
            "terminal": lambda: in_terminal(meter, environment),
            "terminal, loaded": lambda: in_loaded_terminal(meter, terminal),
            "unwatched": lambda: alone.calibrate(meter),
            "watched": lambda: on_pages(meter, pages),
        }
        # what each loads, and the caches of the file system and of PostgreSQL, are warm for all
        for calibrate in ways.values():
            calibrate()
        stack.enter_context(working(busy))
        for _ in range(ROUNDS):
            for way, calibrate in ways.items():
                found[way].append(calibrate())
    return found


@contextmanager
def serving(environment: Mapping[str, str]) -> Iterator[tuple[psutil.Process, str]]:
    """`medir serve`, and its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    address = f"http://127.0.0.1:{port}"
    with subprocess.Popen(
        [*MEDIR, "serve", "--port", str(port)],
        env=dict(environment),
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    ) as server:
        try:
            eventually(lambda: urllib.request.urlopen(f"{address}/api/ready", timeout=5).status == 200)
            yield psutil.Process(server.pid), address
        finally:
            server.terminate()


@contextmanager
def browsers() -> Iterator[list["Browser"]]:
    """Browsers that share nothing."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415  the other benches don't need it

    with sync_playwright() as playwright:
        launched = [
            playwright.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
            for _ in range(WATCHERS)
        ]
        try:
            yield launched
        finally:
            for browser in launched:
                browser.close()


@contextmanager
def working(count: int) -> Iterator[None]:
    """Processes that do nothing but keep the processor busy."""
    command = [sys.executable, "-c", "while True: pass"]
    busy = [subprocess.Popen(command, start_new_session=True) for _ in range(count)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


def open_page(browser: "Browser", address: str) -> "Page":
    """The page Calibration, drawn."""
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.goto(f"{address}/calibration?project={PROJECT}")
    page.wait_for_function(SETTLED, timeout=PATIENCE_MS)
    page.locator(".st-key-calibrate button").first.wait_for(timeout=PATIENCE_MS)
    return page


def eventually(holds: Callable[[], bool]) -> None:
    """Wait until something holds that may be refused meanwhile."""
    for _ in range(600):
        with contextlib.suppress(OSError):
            if holds():
                return
        time.sleep(0.2)
    raise RuntimeError("the server never answered")


def run(command: list[str], environment: Mapping[str, str]) -> str:
    """What a command that must succeed writes."""
    return subprocess.run(
        command, env=dict(environment), check=True, stdout=subprocess.PIPE, text=True
    ).stdout


def told(measured: Mapping[str, Mapping[str, list[Calibrated]]], *, load: float) -> str:
    """The medians and their ratios as a page."""
    lines = [
        "# What watching costs a calibration",
        "",
        (
            f"Written by `bench/measure_watched.py` on {datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} cores: {CASES} "
            f"cases, {ROUNDS} rounds by turns,"
        ),
        f"medians. Watched: begun by a click, with {WATCHERS} Chromium windows on the page. The ratios are of one run",
        f"on one machine whose load was {load:.1f} before it began; absolute times mean little.",
        "",
        "- **asked**: from the command's start, or the click, to the end of the run. **run**: the run's row alone.",
        "- **processor**: of the command, of the server and the processes it started, and of PostgreSQL, until the",
        "  end of the run. The browsers' own is not counted, though they run on the same cores; drawing both pages",
        "  after the end stands apart. **serving**: the serving process's part of it.",
        "- **terminal**: the whole command, which loads its libraries each time. **terminal, loaded**: the same",
        "  command again and again in one process, which has them. **unwatched**: in the process that long work runs",
        "  in, which has them too, with nobody looking on.",
        "- Command, server, its process and each busy process have a session of their own: the scheduler may share by",
        "  session.",
        "",
        "| machine | how | asked, s | run, s | processor, s | serving, processor s | drawing afterwards, processor s |",
        "|---|---|---|---|---|---|---|",
    ]
    names = [name for _, name in MEASURES] + ["server_s", "drawn_s"]
    for machine, ways in measured.items():
        for way, rows in ways.items():
            cells = " | ".join(f"{median(rows, name):.2f}" for name in names)
            lines.append(f"| {machine} | {way} | {cells} |")
    for other in WAYS[:-1]:
        lines += ["", f"Watched over {other}:", ""]
        lines += [
            f"- {machine}: {ratios(ways['watched'], ways[other])}" for machine, ways in measured.items()
        ]
    return "\n".join(lines) + "\n"


def ratios(rows: list[Calibrated], others: list[Calibrated]) -> str:
    """Each measure's median over that of others."""
    return ", ".join(f"{word} {median(rows, name) / median(others, name):.2f}" for word, name in MEASURES)


def median(rows: list[Calibrated], name: str) -> float:
    """The median of one number."""
    return statistics.median(float(getattr(row, name)) for row in rows)


if __name__ == "__main__":
    main()
