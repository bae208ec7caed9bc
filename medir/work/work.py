"""Long work outside the page's thread: it goes on when the page is left, and is followed by its row in `runs`.

Runs are carried out by processes of their own, which end with this one; what is short is done in a thread.
"""

import contextlib
import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING
from uuid import UUID

from medir.work.process import NotBegun, ProcessDied, Step, Task, WorkProcess
from rag_core.errors import MedirError, Unavailable
from rag_core.project.runs import Cancelled

if TYPE_CHECKING:
    from medir.configuration import Configuration


def work_key(name: str, project_id: str) -> str:
    """The key of a project's work of that name, whoever asked for it."""
    return f"{name} {project_id}"


_logger = logging.getLogger(__name__)
_WORKERS = 2


def fault(error: Exception) -> MedirError:
    """A fault of ours, as a person is told of it."""
    return Unavailable(
        f"A fault of Medir's own: {type(error).__name__}.",
        hint="The log has the details; please report it.",
    )


class Work:
    """What is done for this process, one piece at a time for each key. Safe to share between sessions.

    `on_death` is told the project and the id of a run whose process died.
    """

    def __init__(
        self, configuration: "Configuration", url: str, *, on_death: Callable[[str, UUID], None]
    ) -> None:
        self._installation = (configuration, url)
        self._on_death = on_death
        self._pool = ThreadPoolExecutor(max_workers=_WORKERS, thread_name_prefix="medir-work")
        self._guard = threading.Lock()
        self._going: dict[str, Future[None]] = {}
        self._failures: dict[str, MedirError] = {}
        self._begun: set[str] = set()
        self._closing = threading.Event()
        self._idle: list[WorkProcess] = []
        self._busy: set[WorkProcess] = set()

    def start(self, key: str, task: Callable[[], object]) -> bool:
        """Begin the task unless one of that key is going on; false then."""
        with self._guard:
            if key in self._going:
                return False
            self._failures.pop(key, None)
            self._going[key] = self._pool.submit(self._run, key, task)
            return True

    def start_run(
        self, key: str, task: Task, *, project_id: str, run_id: UUID, step: Step | None = None
    ) -> bool:
        """Begin a run in a process of its own unless one of that key is going on; false then.

        `key` is what must not go on twice, `run_id` the id that its row will have; `step` is told of each step
        that it comes to.
        """
        return self.start(key, lambda: self.attend(task, project_id=project_id, run_id=run_id, step=step))

    def attend(self, task: Task, *, project_id: str, run_id: UUID, step: Step | None = None) -> None:
        """Have a run carried out by a process of its own and wait for its end; arguments as `start_run`.

        Raises:
            MedirError: What ended it.
        """
        process = self._take()
        try:
            try:
                process.carry_out(task, step)
            except NotBegun:
                # it had just ended for want of work
                self._discard(process)
                process = self._take()
                process.carry_out(task, step)
        except ProcessDied:
            # without a database its row tells the same as soon as its heartbeat is old
            with contextlib.suppress(MedirError):
                self._on_death(project_id, run_id)
            raise
        finally:
            self._give_back(process)

    def prepare(self) -> None:
        """Have a process ready that a run can be given to, so that whoever asks for one need not wait for it."""
        with self._guard:
            if not (self._idle or self._busy or self._closing.is_set()):
                self._idle.append(WorkProcess(*self._installation))

    def start_once(self, key: str, task: Callable[[], object]) -> None:
        """Begin the task unless one of that key was ever begun."""
        with self._guard:
            known = key in self._begun
            self._begun.add(key)
        if not known:
            self.start(key, task)

    def is_going(self, key: str) -> bool:
        """Whether a task of that key has begun and not ended."""
        with self._guard:
            return key in self._going

    def failure(self, key: str) -> MedirError | None:
        """Why the last task of that key failed, until the next one starts; None where it ended well."""
        with self._guard:
            return self._failures.get(key)

    def forget_failure(self, key: str) -> None:
        """The failure has been read."""
        with self._guard:
            self._failures.pop(key, None)

    def wait(self, key: str, timeout_s: float) -> None:
        """Wait until the task of that key has ended.

        Raises:
            TimeoutError: It goes on still.
        """
        with self._guard:
            going = self._going.get(key)
        if going is not None:
            going.result(timeout=timeout_s)

    def close(self) -> None:
        """Begin nothing more, wait until what goes on has come to its next step, and end the processes."""
        self._closing.set()
        with self._guard:
            busy = list(self._busy)
        for process in busy:
            process.stop()
        self._pool.shutdown(wait=True, cancel_futures=True)
        for process in self._idle:
            process.close()

    def _take(self) -> WorkProcess:
        with self._guard:
            if self._closing.is_set():
                raise Cancelled("The workbench was stopped.", hint="Start the run again.")
            process = self._idle.pop() if self._idle else WorkProcess(*self._installation)
            self._busy.add(process)
            return process

    def _give_back(self, process: WorkProcess) -> None:
        if not process.is_alive:
            self._discard(process)
            return
        with self._guard:
            self._busy.discard(process)
            self._idle.append(process)

    def _discard(self, process: WorkProcess) -> None:
        with self._guard:
            self._busy.discard(process)
        process.close()

    def _run(self, key: str, task: Callable[[], object]) -> None:
        failure: MedirError | None = None
        try:
            task()
        except MedirError as error:
            failure = error
        except Exception as error:
            # the edge of a thread: nobody above would ever see it
            _logger.exception("work %s failed", key)
            failure = fault(error)
        with self._guard:
            self._going.pop(key, None)
            if failure is not None:
                self._failures[key] = failure
