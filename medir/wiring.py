"""The composition root: configuration in, services out. The only place where real things are chosen."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from medir.configuration import Configuration
from rag_core.calibrating import Calibrator
from rag_core.clock import SystemClock
from rag_core.database.connections import Database
from rag_core.database.migration import migrate
from rag_core.database.server import EmbeddedServer
from rag_core.embedding.providers import Providers
from rag_core.evaluation import Evaluation
from rag_core.indexing import Indexing
from rag_core.ports import Clock
from rag_core.search import Search
from rag_core.telemetry import Telemetry

LOSS_LOG = "telemetry-lost.jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """Everything that a surface needs; a context that gives back what it holds."""

    configuration: Configuration
    server: EmbeddedServer | None
    database: Database
    clock: Clock
    providers: Providers
    search: Search
    indexing: Indexing
    evaluation: Evaluation
    calibrator: Calibrator

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
        return _build(configuration, server, url)
    except BaseException:
        if server is not None:
            server.release()
        raise


def _build(configuration: Configuration, server: EmbeddedServer | None, url: str) -> Services:
    clock = SystemClock()
    database = Database(url, revive=None if server is None else _restart(server))
    database.open()
    providers = Providers(
        configured=configuration.embedding, ollama_host=configuration.ollama_host, clock=clock
    )
    loss_log = configuration.home / LOSS_LOG if configuration.home.is_dir() else None
    telemetry = Telemetry(database, loss_log=loss_log)
    search = Search(database=database, providers=providers, telemetry=telemetry, clock=clock)
    evaluation = Evaluation(database=database, search=search, clock=clock)
    return Services(
        configuration=configuration,
        server=server,
        database=database,
        clock=clock,
        providers=providers,
        search=search,
        indexing=Indexing(database=database, providers=providers, clock=clock),
        evaluation=evaluation,
        calibrator=Calibrator(database=database, search=search, evaluation=evaluation, clock=clock),
    )


def _restart(server: EmbeddedServer) -> Callable[[], None]:
    def restart() -> None:
        # taking and giving back one use starts a server that has gone away under those who use it
        server.acquire()
        server.release()

    return restart
