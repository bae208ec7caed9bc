"""The services of this process: opened once, on first use, and shared by its pages, its HTTP API and its tools."""

import atexit
import threading
import time
from dataclasses import dataclass
from functools import partial

from medir.configuration import Configuration
from medir.wiring import Services, open_services
from medir.work.work import Work
from rag_core.errors import MedirError
from rag_core.project.runs import close_died

# whoever waited for a failed opening is told the same, and the next one tries again
_FAILURE_KEPT_S = 1.0

Identity = tuple[str, str | None, str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Workbench:
    """The services, and the long work that goes on in this process whoever asked for it."""

    services: Services
    work: Work

    def close(self) -> None:
        """Wait for the work at hand, then give the connections and the database back."""
        self.work.close()
        self.services.close()


def identity_of(configuration: Configuration) -> Identity:
    """What two configurations share that may share one workbench."""
    return (
        str(configuration.home),
        configuration.database_url,
        configuration.ollama_host,
        configuration.embedding,
    )


_guard = threading.Lock()
_open: dict[Identity, Workbench] = {}
_failures: dict[Identity, tuple[float, MedirError]] = {}


def open_workbench(configuration: Configuration) -> Workbench:
    """This process's workbench over an installation.

    Raises:
        Unavailable: The database can't be started or reached; a later call tries again.
        Refused: Its schema is newer than this program, or was edited.
    """
    identity = identity_of(configuration)
    with _guard:
        if identity in _open:
            return _open[identity]
        _repeat_failure(identity)
        try:
            services = open_services(configuration)
        except MedirError as error:
            _failures[identity] = (time.monotonic(), error)
            raise
        database = services.database
        work = Work(configuration, database.url, on_death=partial(close_died, database))
        _open[identity] = Workbench(services=services, work=work)
        return _open[identity]


def close_workbench(workbench: Workbench) -> None:
    """Close it; whoever asks for one of the same installation afterwards opens a new one."""
    with _guard:
        for identity, opened in list(_open.items()):
            if opened is workbench:
                del _open[identity]
    workbench.close()


@atexit.register
def _close_all() -> None:
    for workbench in list(_open.values()):
        close_workbench(workbench)


def _repeat_failure(identity: Identity) -> None:
    failed_at, error = _failures.get(identity, (0.0, None))
    if error is not None and time.monotonic() - failed_at < _FAILURE_KEPT_S:
        # an error of its own for each caller: one that is raised twice gathers the traces of both
        raise type(error)(error.message, hint=error.hint, where=error.where)
