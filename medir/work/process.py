"""The process that long work runs in, as the one that started it sees it.

Work that holds the interpreter would share it with every page that looks on. A process of its own does not; it takes
one task after another, so that libraries and weights are loaded once, and it ends with the process that started it.
"""

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from multiprocessing.connection import Pipe
from pathlib import Path
from typing import TYPE_CHECKING

from rag_core.errors import MedirError, Unavailable

if TYPE_CHECKING:
    from medir.configuration import Configuration
    from medir.wiring import Services
    from rag_core.project.runs import Progress

Task = Callable[["Services", "Progress"], object]
"""A module's own function with its arguments bound, since it is carried out elsewhere; what it returns is dropped."""

Step = Callable[[str], None]
"""Called with the name of each step that a task comes to."""

STOP = "stop"
BEGUN, STEP, ENDED = "begun", "step", "ended"
_ENDS_WITHIN_S = 10.0
_TOP = Path(__file__).resolve().parents[2]


class NotBegun(Exception):
    """The process had ended before it took the task: another one may."""


class ProcessDied(Unavailable):
    """The process died in the middle of its task."""

    code = "died"


class WorkProcess:
    """One process for long work, over one installation."""

    def __init__(self, configuration: "Configuration", url: str) -> None:
        self._guard = threading.Lock()
        ours, theirs = Pipe()
        self._connection = ours
        paths = [str(_TOP), *filter(None, [os.environ.get("PYTHONPATH")])]
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "medir.work.worker", str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                # what the starting process writes there may be one JSON document
                stdout=subprocess.DEVNULL,
                # Ctrl-C is the starting process's to answer
                start_new_session=True,
                env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
            )
        self._send((configuration, url))

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """Whether it has not ended."""
        return self._process.poll() is None

    def carry_out(self, task: Task, step: Step | None = None) -> None:
        """Have a task done, and wait for its end.

        Raises:
            NotBegun: The process has ended; the task was not touched.
            ProcessDied: It died in the middle.
            MedirError: What the task raised.
        """
        begun = False
        try:
            self._connection.send(task)
            while True:
                kind, told = self._connection.recv()
                begun = True
                if kind == STEP and step is not None:
                    step(told)
                if kind == ENDED:
                    break
        except (EOFError, OSError) as error:
            if not begun:
                raise NotBegun from error
            raise ProcessDied(
                "The process of this work died before it was done.",
                hint="Nothing of it is visible. Start it again.",
            ) from error
        if isinstance(told, MedirError):
            raise told

    def stop(self) -> None:
        """Have the task at hand end at its next step."""
        self._send(STOP)

    def close(self) -> None:
        """End the process; a task that goes on still ends with it."""
        self._connection.close()
        try:
            self._process.wait(_ENDS_WITHIN_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _send(self, message: object) -> None:
        with self._guard:
            try:
                self._connection.send(message)
            except OSError:
                # it has ended; whoever gives it a task is told so
                return
