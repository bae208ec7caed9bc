"""Long work outside the page's thread: it goes on when the page is left, and is followed by its row in `runs`."""

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from rag_core.errors import MedirError, Unavailable
from rag_core.runs import Cancelled


def index_run_key(project_id: str) -> str:
    """The key of a project's index runs, whoever asked for them."""
    return f"index {project_id}"


_logger = logging.getLogger(__name__)
_WORKERS = 2


class Work:
    """What this process is doing, one piece at a time for each key. Safe to share between sessions."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(max_workers=_WORKERS, thread_name_prefix="medir-work")
        self._guard = threading.Lock()
        self._going: dict[str, Future[None]] = {}
        self._failures: dict[str, MedirError] = {}
        self._begun: set[str] = set()
        self._closing = threading.Event()

    def start(self, key: str, task: Callable[[], object]) -> bool:
        """Begin the task unless one of that key is going on; false then."""
        with self._guard:
            if key in self._going:
                return False
            self._failures.pop(key, None)
            self._going[key] = self._pool.submit(self._run, key, task)
            return True

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

    def heed(self, _step: str, _done: int, _total: int) -> None:
        """The listener of a run begun here: ends it at its next step once this process is to stop.

        Raises:
            Cancelled: The process is to stop.
        """
        if self._closing.is_set():
            raise Cancelled("The workbench was stopped.", hint="Start the run again.")

    def close(self) -> None:
        """Begin nothing more, and wait until what goes on has come to its next step."""
        self._closing.set()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _run(self, key: str, task: Callable[[], object]) -> None:
        failure: MedirError | None = None
        try:
            task()
        except MedirError as error:
            failure = error
        except Exception as error:
            # the edge of a thread: nobody above would ever see it
            _logger.exception("work %s failed", key)
            failure = Unavailable(
                f"A fault of Medir's own: {type(error).__name__}.",
                hint="The log has the details; please report it.",
            )
        with self._guard:
            self._going.pop(key, None)
            if failure is not None:
                self._failures[key] = failure
