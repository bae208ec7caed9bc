"""Long work has a process of its own: it ends with the one that began it, and its result is everybody's."""

import contextlib
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from functools import partial
from pathlib import Path

import psutil

import medir
from medir.configuration import load_configuration
from medir.work import tasks
from medir.work.process import ProcessDied
from medir.workbench import close_workbench, open_workbench
from rag_core.database.connections import Database
from rag_core.errors import FaultyGoldenSet, MedirError
from rag_core.evaluation.calibrations import Demands
from rag_core.model import Actor, Project, Run
from rag_core.project.following import last_run
from rag_core.project.runs import Cancelled
from workbench_material import ANA, Installation, open_page, services_of, texts

KEY = "calibration entrega"
# some seconds of work in which the process can be met
LONG = Demands(resamples=10_000)
TOP = Path(medir.__file__).resolve().parent.parent

_BEGINS = """
import sys, time, uuid
from functools import partial
from medir.work import tasks
from medir.configuration import load_configuration
from medir.workbench import open_workbench
from rag_core.evaluation.calibrations import Demands
from rag_core.model import Actor
from rag_core.project.overview import all_projects
opened = open_workbench(load_configuration())
(project,) = all_projects(opened.services.database)
actor, run_id = Actor(kind="human", id="bia", surface="app"), uuid.uuid4()
task = partial(
    tasks.calibrate, project=project, actor=actor, demands=Demands(resamples=10_000), run_id=run_id
)
opened.work.start_run("calibration entrega", task, project_id=project.project_id, run_id=run_id)
print("begun", flush=True)
time.sleep(600)
"""


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline, "it never came to hold"
        time.sleep(0.02)


def begin(project: Project, demands: Demands = LONG) -> uuid.UUID:
    opened, run_id = open_workbench(load_configuration()), uuid.uuid4()
    task = partial(tasks.calibrate, project=project, actor=ANA, demands=demands, run_id=run_id)
    assert opened.work.start_run(KEY, task, project_id=project.project_id, run_id=run_id)
    return run_id


def work_processes(parent: int | None = None) -> list[psutil.Process]:
    found: list[psutil.Process] = []
    for child in psutil.Process(parent).children():
        # one that has just ended has no command line any more
        with contextlib.suppress(psutil.NoSuchProcess):
            if "medir.work.worker" in child.cmdline():
                found.append(child)
    return found


def last(database: Database, project: Project) -> Run:
    run = last_run(database, project.project_id, "calibration")
    assert run is not None
    return run


def is_at_work(database: Database, project: Project) -> bool:
    run = last_run(database, project.project_id, "calibration")
    return run is not None and run.is_going


def test_what_ended_it_comes_back_as_the_same_error_and_the_process_takes_the_next_task(
    own_installation: Installation,
) -> None:
    opened = open_workbench(load_configuration())
    sound = own_installation.cases.read_text(encoding="utf-8")
    own_installation.cases.write_text(sound.replace("docs/frete.md", "docs/nowhere.md"), encoding="utf-8")
    begin(own_installation.project)
    until(lambda: not opened.work.is_going(KEY))
    failure = opened.work.failure(KEY)
    assert isinstance(failure, FaultyGoldenSet)
    assert failure.faults[0]["case"] == "frete"
    before = work_processes()
    own_installation.cases.write_text(sound, encoding="utf-8")
    run_id = begin(own_installation.project, Demands(resamples=5))
    until(lambda: not opened.work.is_going(KEY))
    assert opened.work.failure(KEY) is None
    assert work_processes() == before
    assert last(opened.services.database, own_installation.project).id == run_id
    close_workbench(opened)
    assert work_processes() == []


def test_a_process_that_is_killed_leaves_an_interrupted_run_and_a_sentence(
    own_installation: Installation,
) -> None:
    opened = open_workbench(load_configuration())
    database = opened.services.database
    begin(own_installation.project)
    until(lambda: is_at_work(database, own_installation.project))
    (process,) = work_processes()
    process.kill()
    until(lambda: not opened.work.is_going(KEY))
    assert isinstance(opened.work.failure(KEY), ProcessDied)
    # at once, not when its heartbeat is old
    assert last(database, own_installation.project).state == "interrupted"
    assert "died before it was done" in texts(open_page("calibration"))
    # the next one has a process again
    begin(own_installation.project, Demands(resamples=5))
    until(lambda: not opened.work.is_going(KEY))
    assert last(database, own_installation.project).state == "done"
    close_workbench(opened)


def test_a_server_that_stops_ends_the_run_at_its_next_step_and_leaves_no_process(
    own_installation: Installation,
) -> None:
    opened = open_workbench(load_configuration())
    begin(own_installation.project)
    until(lambda: bool(work_processes()))
    close_workbench(opened)
    assert work_processes() == []
    failure: MedirError | None = opened.work.failure(KEY)
    assert failure is None or isinstance(failure, Cancelled)


def test_a_server_that_is_killed_takes_its_work_with_it(own_installation: Installation) -> None:
    with (
        subprocess.Popen(
            [sys.executable, "-c", _BEGINS],
            env={**os.environ, "PYTHONPATH": str(TOP)},
            stdout=subprocess.PIPE,
            text=True,
        ) as server,
        services_of(own_installation.environment) as services,
    ):
        assert server.stdout is not None
        assert server.stdout.readline() == "begun\n"
        until(lambda: is_at_work(services.database, own_installation.project))
        (worker,) = work_processes(server.pid)
        server.send_signal(signal.SIGKILL)
        server.wait(10)
        until(lambda: not worker.is_running() or worker.status() == psutil.STATUS_ZOMBIE)
        # nobody renews its heartbeat any more: 31 seconds later it is known to have been interrupted
        with services.database.connection() as connection:
            connection.execute("update runs set heartbeat_at = heartbeat_at - interval '31 s'")
        # the database has yet to notice that the connection which held the run's lock is gone
        until(lambda: last(services.database, own_installation.project).state == "interrupted")


def test_a_calibration_made_in_a_terminal_is_drawn_on_the_page_with_who_made_it(
    own_installation: Installation,
) -> None:
    subprocess.run(
        [sys.executable, "-m", "medir", "calibrate", "--resamples", "5", "--json"],
        env={**os.environ, "PYTHONPATH": str(TOP)},
        check=True,
        stdout=subprocess.DEVNULL,
    )
    page = open_page("calibration")
    assert page.info[0].value == "**Keep today's numbers.**"
    assert len(page.get("plotly_chart")) == 2
    captions = " ".join(caption.value for caption in page.caption)
    assert "Calibrated " in captions
    assert "from 3 cases and the index at commit" in captions


def test_one_made_in_another_installation_tells_its_evidence_without_the_picture(
    own_installation: Installation,
) -> None:
    with services_of(own_installation.environment) as services:
        services.calibrator.calibrate(
            own_installation.project,
            actor=Actor(kind="human", id="bia", surface="cli"),
            demands=Demands(resamples=5),
        )
    page = open_page("calibration")
    assert page.info[0].value == "**Keep today's numbers.**"
    assert "Keep: the set can't tell" in texts(page)
    assert "human:bia" in " ".join(caption.value for caption in page.caption)
    assert not page.get("plotly_chart")
    assert not page.button(key="calibrate").disabled
