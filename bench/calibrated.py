"""One calibration, metered: in a terminal, in a terminal whose libraries are loaded, in a process, or on pages."""

import contextlib
import json
import os
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import psutil
import psycopg

from medir.configuration import load_configuration
from medir.wiring import services_at
from medir.work import tasks
from medir.work.process import NotBegun, WorkProcess
from rag_core.evaluation.calibrations import Demands
from rag_core.model import Actor
from rag_core.project.overview import all_projects

if TYPE_CHECKING:
    from playwright.sync_api import Page

PROJECT = "watched"
PATIENCE_MS = 120_000
MEDIR = (sys.executable, "-m", "medir")
SETTLED = (
    "document.querySelector('[data-testid=stApp]')?.getAttribute('data-test-script-state') === 'notRunning'"
    " && document.querySelector('h2') !== null"
)
# the command again and again in one process, begun and ended by a line
_LOADED = """
import os, sys
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
from medir.cli import medir
answers = os.fdopen(os.dup(1), "w")
os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
for _ in sys.stdin:
    medir.main(["calibrate", "--project", sys.argv[1], "--json"], standalone_mode=False)
    print("done", file=answers, flush=True)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibrated:
    """One calibration: seconds from asking for it to its end and of the run alone, and processor seconds.

    `server_s` is the part of `cpu_s` that the serving process had, without the process that works for it; `drawn_s` is
    what drawing both pages after the end takes.
    """

    asked_s: float
    run_s: float
    cpu_s: float
    server_s: float = 0.0
    drawn_s: float = 0.0


class Meter:
    """Reads what the last run was, and what processor time went into serving and PostgreSQL."""

    def __init__(self, url: str, server: psutil.Process) -> None:
        self._connection = psycopg.connect(url, autocommit=True)
        backend = psutil.Process(self._connection.info.backend_pid)
        self._server = server
        self._trees = (server, psutil.Process(backend.ppid()))

    def close(self) -> None:
        """Let go of the database."""
        self._connection.close()

    def spent(self, *others: psutil.Process) -> float:
        """Processor seconds of the server, of PostgreSQL and of others, with all that they started."""
        return sum(_spent(tree) for tree in (*self._trees, *others))

    def served(self) -> float:
        """Processor seconds of the serving process alone."""
        times = self._server.cpu_times()
        return times.user + times.system

    def last_run(self) -> tuple[str, float, float]:
        """The calibration that ended last: its id, its seconds, and when it ended, in seconds of the Unix clock."""
        row = self._connection.execute(
            """
            select id::text, extract(epoch from finished_at - started_at)::float8,
                extract(epoch from finished_at)::float8
            from runs where kind = 'calibration' and state = 'done' order by finished_at desc limit 1
            """
        ).fetchone()
        return (str(row[0]), float(row[1]), float(row[2])) if row else ("", 0.0, 0.0)


def in_terminal(meter: Meter, environment: Mapping[str, str]) -> Calibrated:
    """The command, from its start to its end."""
    before, started = meter.spent(), time.monotonic()
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
    return Calibrated(asked_s=asked_s, run_s=meter.last_run()[1], cpu_s=own + meter.spent() - before)


@contextmanager
def loaded_terminal(environment: Mapping[str, str]) -> Iterator[subprocess.Popen[str]]:
    """A process that carries out the command at each line, with its libraries loaded."""
    with subprocess.Popen(
        [sys.executable, "-c", _LOADED, PROJECT],
        env=dict(environment),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def in_loaded_terminal(meter: Meter, terminal: "subprocess.Popen[str]") -> Calibrated:
    """The command's own work, its libraries loaded."""
    if terminal.stdin is None or terminal.stdout is None:
        raise RuntimeError("the terminal has no pipes")
    own = psutil.Process(terminal.pid)
    before, started = meter.spent(own), time.monotonic()
    terminal.stdin.write("\n")
    terminal.stdin.flush()
    if not terminal.stdout.readline():
        raise RuntimeError("the calibration failed")
    asked_s = time.monotonic() - started
    return Calibrated(asked_s=asked_s, run_s=meter.last_run()[1], cpu_s=meter.spent(own) - before)


class Alone:
    """The process that long work runs in, with nobody who looks on."""

    def __init__(self, environment: Mapping[str, str], url: str) -> None:
        self._installation = (load_configuration(environment), url)
        with services_at(*self._installation) as services:
            self._project = next(
                each for each in all_projects(services.database) if each.project_id == PROJECT
            )
        self._process = WorkProcess(*self._installation)

    def close(self) -> None:
        """End the process."""
        self._process.close()

    def calibrate(self, meter: Meter) -> Calibrated:
        """One calibration, from giving it to the process to its end."""
        task = partial(
            tasks.calibrate,
            project=self._project,
            actor=Actor(kind="human", id="bench", surface="app"),
            demands=Demands(),
            run_id=uuid.uuid4(),
        )
        try:
            return self._carried_out(meter, task)
        except NotBegun:
            # it had ended for want of work
            self._process = WorkProcess(*self._installation)
            self._carried_out(meter, partial(task, run_id=uuid.uuid4()))
            return self._carried_out(meter, task)

    def _carried_out(self, meter: Meter, task: "partial[None]") -> Calibrated:
        own = psutil.Process(self._process.pid)
        before, started = meter.spent(own), time.monotonic()
        self._process.carry_out(task)
        asked_s = time.monotonic() - started
        return Calibrated(asked_s=asked_s, run_s=meter.last_run()[1], cpu_s=meter.spent(own) - before)


def on_pages(meter: Meter, pages: list["Page"]) -> Calibrated:
    """A click in one browser while the others look on, from the click to the end of the run."""
    last = meter.last_run()[0]
    # PostgreSQL runs on this machine, and by its clock
    before, served, started = meter.spent(), meter.served(), time.time()
    for page in pages:
        page.locator(".st-key-calibrate button").first.click()
    while (now := meter.last_run())[0] == last:
        # the playwright of each browser must be let go on
        pages[0].wait_for_timeout(50)
    ended, served_until = meter.spent(), meter.served()
    for page in pages:
        page.locator(".st-key-calibrate button").first.wait_for(timeout=PATIENCE_MS)
        page.wait_for_timeout(500)
        page.wait_for_function(SETTLED, timeout=PATIENCE_MS)
    return Calibrated(
        asked_s=now[2] - started,
        run_s=now[1],
        cpu_s=ended - before,
        server_s=served_until - served,
        drawn_s=meter.spent() - ended,
    )


def url_of(environment: Mapping[str, str]) -> str:
    """The database of an installation that is being served."""
    told = subprocess.run(
        [*MEDIR, "db", "status", "--json"],
        env=dict(environment),
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return str(json.loads(told.stdout)["url"])


def _spent(tree: psutil.Process) -> float:
    """Processor seconds of a process, all that it started, and all that these had started and outlived."""
    total = 0.0
    for process in (tree, *tree.children(recursive=True)):
        with contextlib.suppress(psutil.NoSuchProcess):
            times = process.cpu_times()
            total += times.user + times.system + times.children_user + times.children_system
    return total
