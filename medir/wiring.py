"""The composition root: configuration in, services out. The only place where real things are chosen."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from medir.configuration import Configuration
from rag_core.clock import SystemClock
from rag_core.database.connections import Database
from rag_core.database.migration import migrate
from rag_core.database.server.server import EmbeddedServer
from rag_core.search.losses import Losses

if TYPE_CHECKING:
    from rag_core.embedding.providers import Providers
    from rag_core.evaluation.calibrations import Calibrator
    from rag_core.evaluation.golden_runs import Evaluation
    from rag_core.index.run import Indexing
    from rag_core.ports import Clock
    from rag_core.search.asking import Search

LOSS_LOG = "telemetry-lost.jsonl"
_T = TypeVar("_T")
_MAKING = threading.RLock()


class _MadeOnce(Generic[_T]):
    """An attribute made on first use, and once also when several threads ask for it at the same time."""

    def __init__(self, make: Callable[[Any], _T]) -> None:
        self._make = make
        self._name = make.__name__

    def __get__(self, instance: object, _owner: type) -> _T:
        with _MAKING:
            held = vars(instance)
            if self._name not in held:
                held[self._name] = self._make(instance)
            # from now on the instance's own attribute is found first
            return held[self._name]


@dataclass(frozen=True, kw_only=True)
class Services:
    """Everything that a surface needs; a context that gives back what it holds.

    What can embed, search, index, measure or calibrate is made by the first who asks for it, and shared by all: its
    libraries take most of a second to load, which a report or a vote should not wait for.
    """

    configuration: Configuration
    server: EmbeddedServer | None
    database: Database
    clock: "Clock"

    @_MadeOnce
    def providers(self) -> "Providers":
        """Ollama and the embedded encoder, as configured."""
        from rag_core.embedding.providers import Providers  # noqa: PLC0415

        return Providers(
            configured=self.configuration.embedding,
            ollama_host=self.configuration.ollama_host,
            clock=self.clock,
        )

    @_MadeOnce
    def search(self) -> "Search":
        """Asking a question."""
        from rag_core.search.asking import Search  # noqa: PLC0415
        from rag_core.search.telemetry import Telemetry  # noqa: PLC0415

        home = self.configuration.home
        return Search(
            database=self.database,
            providers=self.providers,
            telemetry=Telemetry(self.database, loss_log=home / LOSS_LOG if home.is_dir() else None),
            clock=self.clock,
        )

    @_MadeOnce
    def indexing(self) -> "Indexing":
        """Bringing an index up to date."""
        from rag_core.index.run import Indexing  # noqa: PLC0415

        return Indexing(database=self.database, providers=self.providers, clock=self.clock)

    @_MadeOnce
    def evaluation(self) -> "Evaluation":
        """Golden runs."""
        from rag_core.evaluation.golden_runs import Evaluation  # noqa: PLC0415

        return Evaluation(database=self.database, search=self.search, clock=self.clock)

    @_MadeOnce
    def calibrator(self) -> "Calibrator":
        """Choosing settings."""
        from rag_core.evaluation.calibrations import Calibrator  # noqa: PLC0415

        return Calibrator(
            database=self.database, search=self.search, evaluation=self.evaluation, clock=self.clock
        )

    def close(self) -> None:
        """Close the pool; the last process to do so stops the embedded server."""
        self.database.close()
        if self.server is not None:
            self.server.release()

    def __enter__(self) -> Self:
        """The services themselves."""
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        """Close."""
        self.close()


def embedded_server(configuration: Configuration) -> EmbeddedServer | None:
    """The embedded server of the installation, None where `DATABASE_URL` names another."""
    return None if configuration.database_url else EmbeddedServer(configuration.home)


@contextmanager
def database_url(configuration: Configuration) -> Iterator[str]:
    """The URL of a database that runs while the context lasts; its schema is left as it is.

    Raises:
        Unavailable: It can't be started.
    """
    server = embedded_server(configuration)
    if server is None:
        yield configuration.database_url or ""
        return
    with server as url:
        yield url


def open_services(configuration: Configuration) -> Services:
    """Start or reach the database, bring its schema up to date, and build the services.

    Raises:
        Unavailable: The database can't be started, reached or migrated; the message says what to do.
    """
    server = embedded_server(configuration)
    url = configuration.database_url or ""
    if server is not None:
        url = server.acquire()
    try:
        migrate(url)
        return services_at(configuration, url, server=server)
    except BaseException:
        if server is not None:
            server.release()
        raise


def services_at(configuration: Configuration, url: str, *, server: EmbeddedServer | None = None) -> Services:
    """Services over a database whose schema is up to date; without its server, another process holds it open."""
    database = Database(url, revive=None if server is None else _restart(server))
    database.open()
    if configuration.home.is_dir():
        Losses(configuration.home / LOSS_LOG).prepare()
    return Services(configuration=configuration, server=server, database=database, clock=SystemClock())


def _restart(server: EmbeddedServer) -> Callable[[], None]:
    def restart() -> None:
        # taking and giving back one use starts a server that has gone away under those who use it
        server.acquire()
        server.release()

    return restart
