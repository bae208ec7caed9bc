"""From clone to golden table: wall time and peak memory, first start and second.

Clones this repository's committed state into a throwaway folder, runs what `make run` runs (set up, then
`medir up`, without serving), twice. Memory is the sum over all processes of the start, PostgreSQL's included, of
their proportional set size, sampled ten times a second. Writes `bench/results/start.md`. Needs the package index
for the first start.
"""

import os
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import psutil

from material import TOP

EVERY_S = 0.1


@dataclass(slots=True)
class Peak:
    """The highest sum seen, in bytes."""

    total: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One start: what was run, seconds, and megabytes at the peak."""

    what: str
    seconds: float
    peak_mb: float


def main() -> None:
    """Measure both starts and write them down."""
    folder = Path(tempfile.mkdtemp(prefix="medir-start-"))
    folder.chmod(0o755)
    try:
        clone = folder / "medir"
        subprocess.run(["git", "clone", "-q", str(TOP), str(clone)], check=True)
        environment = {key: value for key, value in os.environ.items() if not key.startswith("MEDIR_")}
        environment |= {"MEDIR_HOME": str(folder / "home"), "MEDIR_EMBEDDING": "embedded", "CI": "true"}
        rows = [
            measure("make setup, first", ["make", "setup"], clone, environment),
            measure("medir up, first", [".venv/bin/medir", "up", "--no-serve"], clone, environment),
            measure("make setup, second", ["make", "setup"], clone, environment),
            measure("medir up, second", [".venv/bin/medir", "up", "--no-serve"], clone, environment),
        ]
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    lines = [
        "# From clone to golden table",
        "",
        f"Written by `bench/measure_start.py` on {datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} cores. Absolute times",
        "are of one noisy machine; downloads depend on the network.",
        "",
        "| step | seconds | peak memory, MB |",
        "|---|---|---|",
        *(f"| {row.what} | {row.seconds:.1f} | {row.peak_mb:.0f} |" for row in rows),
    ]
    text = "\n".join(lines) + "\n"
    (TOP / "bench" / "results").mkdir(exist_ok=True)
    (TOP / "bench" / "results" / "start.md").write_text(text, encoding="utf-8")
    print(text)


def measure(what: str, command: list[str], folder: Path, environment: dict[str, str]) -> Measured:
    """Run one step to its end; a golden set under its floor is a result, anything else stops the bench."""
    started = time.monotonic()
    with (
        subprocess.Popen(
            command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as process,
        sampled(process.pid, environment["MEDIR_HOME"]) as peak,
    ):
        code = process.wait()
    if code not in (0, 1):
        raise SystemExit(f"{' '.join(command)} ended with {code}")
    return Measured(what=what, seconds=time.monotonic() - started, peak_mb=peak.total / 1e6)


@contextmanager
def sampled(pid: int, home: str) -> Iterator[Peak]:
    """Watch the process, its children and the server of `home` from a thread."""
    peak = Peak()
    done = threading.Event()

    def watch() -> None:
        while not done.wait(EVERY_S):
            peak.total = max(peak.total, _memory(pid, home))

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield peak
    finally:
        done.set()
        thread.join()


def _memory(pid: int, home: str) -> int:
    try:
        own = psutil.Process(pid)
        processes = {own, *own.children(recursive=True)}
    except psutil.NoSuchProcess:
        return 0
    for process in psutil.process_iter(["cmdline"]):
        # the server's own children carry no folder in their title, but its postmaster does
        if any(home in argument for argument in process.info["cmdline"] or ()):
            processes |= {process, *_children(process)}
    return sum(_proportional(process) for process in processes)


def _children(process: psutil.Process) -> list[psutil.Process]:
    try:
        return process.children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def _proportional(process: psutil.Process) -> int:
    try:
        return process.memory_full_info().pss
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return 0


if __name__ == "__main__":
    main()
