"""The process that long work runs in: `medir.work.process` starts it, gives it tasks, and is told how they ended."""

import gc
import logging
import os
import queue
import signal
import sys
import threading
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING

from medir.work.process import BEGUN, ENDED, STEP, STOP, Task
from medir.work.work import fault
from rag_core.errors import MedirError
from rag_core.project.runs import Cancelled

if TYPE_CHECKING:
    from medir.wiring import Services

_IDLE_S = 120.0
_ABANDONED = 1

_logger = logging.getLogger(__name__)


class _Worker:
    """Takes tasks from a connection. The process that started it is gone when the connection ends."""

    def __init__(self, connection: Connection, services: "Services") -> None:
        self._connection = connection
        self._services = services
        self._tasks: queue.SimpleQueue[Task | None] = queue.SimpleQueue()
        self._stopping = threading.Event()

    def work(self) -> None:
        """One task after the other, until there was none for a while or none is wanted any more."""
        threading.Thread(target=self._listen, name="medir-tasks", daemon=True).start()
        signal.signal(signal.SIGTERM, lambda *_: self._stop())
        # what most runs need is loaded before one is asked for
        _ = self._services.calibrator
        gc.freeze()
        gc.enable()
        while not self._stopping.is_set():
            try:
                task = self._tasks.get(timeout=_IDLE_S)
            except queue.Empty:
                return
            if task is None:
                return
            self._connection.send((BEGUN, None))
            self._connection.send((ENDED, self._carry_out(task)))

    def _carry_out(self, task: Task) -> MedirError | None:
        last: str | None = None

        def heed(step: str, _done: int, _total: int) -> None:
            nonlocal last
            if self._stopping.is_set():
                raise Cancelled("The workbench was stopped.", hint="Start the run again.")
            if step != last:
                last = step
                self._connection.send((STEP, step))

        try:
            task(self._services, heed)
        except MedirError as error:
            return error
        except Exception as error:
            # the edge of a process: nobody above would ever see it
            _logger.exception("long work failed")
            return fault(error)
        return None

    def _listen(self) -> None:
        try:
            while (message := self._connection.recv()) != STOP:
                self._tasks.put(message)
            self._stop()
            # the end of the connection is waited for all the same
            self._connection.recv()
        except (EOFError, OSError):
            # whoever wanted the work is gone, and with it whoever could stop it: the run's row tells that it was
            # interrupted, as after any other death
            os._exit(_ABANDONED)

    def _stop(self) -> None:
        self._stopping.set()
        self._tasks.put(None)


def main() -> None:
    """Serve the process at the other end of the connection whose descriptor is the first argument."""
    # as `medir.entry` does: the one is read when numpy is loaded, the other costs a third of what loading takes
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    gc.disable()
    from medir.wiring import services_at  # noqa: PLC0415

    with Connection(int(sys.argv[1])) as connection:
        try:
            configuration, url = connection.recv()
        except EOFError:
            return
        with services_at(configuration, url) as services:
            _Worker(connection, services).work()


if __name__ == "__main__":
    main()
