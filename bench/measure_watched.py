"""What it costs a calibration to be watched: in a terminal, and on a page that two browsers look at.

Eight cases of the sample, calibrated by turns with `medir calibrate` and by a click in Chromium while a second
browser looks on, on an idle machine and beside eight busy processes. Counted is the processor time of the whole tree of
the command, or of the server with its processes, and of PostgreSQL; not that of the browsers, which are other people's
machines. Drawing the pages after the end is told apart: it comes when the work is done. Writes
`bench/results/watched.md`. Needs Chromium.
"""

import contextlib
import json
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
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import psycopg

from material import TOP

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PROJECT, CASES, ROUNDS, BUSY, WATCHERS = "watched", 8, 4, 8, 2
CHROMIUM = "/usr/bin/chromium"
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
)
SETTLED = (
    "document.querySelector('[data-testid=stApp]')?.getAttribute('data-test-script-state') === 'notRunning'"
    " && document.querySelector('h2') !== null"
)
PATIENCE_MS = 120_000
MEDIR = (sys.executable, "-m", "medir")


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibrated:
    """One calibration: seconds from asking for it to its end and of the run alone, and processor seconds.

    `drawn_s` is the processor time of drawing both pages after the end; 0 in a terminal.
    """

    asked_s: float
    run_s: float
    cpu_s: float
    drawn_s: float = 0.0


def main() -> None:
    """Measure both, idle and busy, and write the ratios down."""
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
    text = told(measured)
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
    """By turns in a terminal and watched, over one server, so that noise meets both alike."""
    found: dict[str, list[Calibrated]] = {"terminal": [], "watched": [], "watched, first": []}
    with serving(environment) as (server, address), browsers() as opened, working(busy):
        url = json.loads(run([*MEDIR, "db", "status", "--json"], environment))["url"]
        postmaster = postmaster_of(url)
        pages = [open_page(browser, address) for browser in opened]
        # caches of the file system and of PostgreSQL are warm for both
        in_terminal(environment, url, [server, postmaster])
        found["watched, first"].append(on_page(pages, url, [server, postmaster]))
        for _ in range(ROUNDS):
            found["terminal"].append(in_terminal(environment, url, [server, postmaster]))
            found["watched"].append(on_page(pages, url, [server, postmaster]))
    return found


def in_terminal(environment: Mapping[str, str], url: str, trees: list[psutil.Process]) -> Calibrated:
    """The command, from its start to its end."""
    before, started = spent(trees), time.monotonic()
    with subprocess.Popen(
        [*MEDIR, "calibrate", "--project", PROJECT, "--json"],
        env=dict(environment),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        # a terminal is a session of its own, and the scheduler may share by session
        start_new_session=True,
    ) as command:
        _, status, usage = os.wait4(command.pid, 0)
        command.returncode = os.waitstatus_to_exitcode(status)
    asked_s = time.monotonic() - started
    if command.returncode:
        raise RuntimeError(f"the calibration ended with {command.returncode}")
    own = usage.ru_utime + usage.ru_stime
    return Calibrated(asked_s=asked_s, run_s=last_run(url)[1], cpu_s=own + spent(trees) - before)


def on_page(pages: list["Page"], url: str, trees: list[psutil.Process]) -> Calibrated:
    """A click in one browser while the other looks on, from the click to the end of the run."""
    last, _ = last_run(url)
    before, started = spent(trees), time.monotonic()
    for page in pages:
        page.locator(".st-key-calibrate button").first.click()
    while (now := last_run(url))[0] == last:
        # the playwright of each browser must be let go on
        pages[0].wait_for_timeout(50)
    asked_s, ended = time.monotonic() - started, spent(trees)
    for page in pages:
        page.locator(".st-key-calibrate button").first.wait_for(timeout=PATIENCE_MS)
        page.wait_for_timeout(500)
        page.wait_for_function(SETTLED, timeout=PATIENCE_MS)
    return Calibrated(asked_s=asked_s, run_s=now[1], cpu_s=ended - before, drawn_s=spent(trees) - ended)


def spent(trees: list[psutil.Process]) -> float:
    """Processor seconds of processes, all that they started, and all that these had started and outlived."""
    total = 0.0
    for tree in trees:
        for process in (tree, *tree.children(recursive=True)):
            with contextlib.suppress(psutil.NoSuchProcess):
                times = process.cpu_times()
                total += times.user + times.system + times.children_user + times.children_system
    return total


def last_run(url: str) -> tuple[str, float]:
    """The id and the seconds of the calibration that ended last."""
    with psycopg.connect(url, autocommit=True) as connection:
        row = connection.execute(
            """
            select id::text, extract(epoch from finished_at - started_at)::float8
            from runs where kind = 'calibration' and state = 'done' order by finished_at desc limit 1
            """
        ).fetchone()
    return (str(row[0]), float(row[1])) if row else ("", 0.0)


def postmaster_of(url: str) -> psutil.Process:
    """The server that the backend of a connection belongs to."""
    with psycopg.connect(url, autocommit=True) as connection:
        return psutil.Process(psutil.Process(connection.info.backend_pid).ppid())


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


def told(measured: Mapping[str, Mapping[str, list[Calibrated]]]) -> str:
    """The medians and their ratios as a page."""
    lines = [
        "# What watching costs a calibration",
        "",
        (
            f"Written by `bench/measure_watched.py` on {datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} cores: {CASES} "
            f"cases, {ROUNDS} rounds by turns,"
        ),
        f"medians. Watched: begun by a click, with {WATCHERS} Chromium windows on the page. The ratios are of one run",
        "on one noisy machine; absolute times mean little.",
        "",
        "- **asked**: from the command's start, or the click, to the end of the run. **run**: the run's row alone.",
        "- **processor**: of the command, of the server and the processes it started, and of PostgreSQL, until the",
        "  end of the run. The browsers' own is not counted; drawing both pages after the end stands apart.",
        "- The command loads its libraries each time (about 0.8 s of processor time), the process beside the",
        "  server has them already and stays for two minutes: asked and processor flatter the watched side by",
        "  that much. **first** is the one calibration before which it had just been started.",
        "- Command, server, its process and each busy process have a session of their own: the scheduler may share by",
        "  session.",
        "",
        "| machine | how | asked, s | run, s | processor, s | drawing afterwards, processor s |",
        "|---|---|---|---|---|---|",
    ]
    ratios: list[str] = []
    for machine, both in measured.items():
        for how, rows in both.items():
            cells = (median(rows, name) for name in ("asked_s", "run_s", "cpu_s", "drawn_s"))
            lines.append(f"| {machine} | {how} | " + " | ".join(f"{cell:.2f}" for cell in cells) + " |")
        parts = (
            f"{word} {median(both['watched'], name) / median(both['terminal'], name):.2f}"
            for word, name in (("asked", "asked_s"), ("run", "run_s"), ("processor", "cpu_s"))
        )
        ratios.append(f"- {machine}: {', '.join(parts)}")
    return "\n".join([*lines, "", "Watched over terminal:", "", *ratios]) + "\n"


def median(rows: list[Calibrated], name: str) -> float:
    """The median of one number."""
    return statistics.median(float(getattr(row, name)) for row in rows)


if __name__ == "__main__":
    main()
