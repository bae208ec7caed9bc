"""The pool, and the one place where driver errors become ours.

Every connection is in autocommit mode, so that a read leaves no transaction open between two page runs;
writes and snapshots open transactions explicitly.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Self

import psycopg
from pgvector.psycopg.vector import register_vector_info
from psycopg import sql
from psycopg.types import TypeInfo
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from rag_core.database.connecting import CONNECT_TIMEOUT_S, Connection, connect, require_answer
from rag_core.database.refusal_sentences import Asking
from rag_core.database.refusals import refusal_of
from rag_core.errors import DatabaseBusy, DatabaseUnavailable, MedirError

_WAIT_FOR_CONNECTION_S = 5.0
# whatever the server's or the caller's defaults are, dates and texts are read in one form; a pooler in between keeps
# these apart for each of its clients
_FORM = {"client_encoding": "UTF8", "timezone": "UTC", "datestyle": "ISO"}
# nothing waits for another's lock without end, and nothing that was forgotten holds its own
_BOUNDS = {"idle_in_transaction_session_timeout": "60s", "lock_timeout": "30s"}


class Database:
    """A pool of connections to one database. Recovers by itself when the server comes back.

    `url` is a libpq connection string or URL. `revive` is called when no connection can be had, before one more
    try: it starts a server that is ours to start.
    """

    def __init__(self, url: str, *, max_size: int = 8, revive: Callable[[], None] | None = None) -> None:
        self.url = url
        self._revive = revive
        # what a pooler would not keep for this client alone, and each transaction therefore sets for itself
        self._of_transactions: Mapping[str, str] = {}
        self._asking = Asking()
        self._pool: ConnectionPool[Connection] = ConnectionPool(
            url,
            min_size=0,
            max_size=max_size,
            open=False,
            timeout=_WAIT_FOR_CONNECTION_S,
            # a server that is down is reported at once, not retried for minutes behind the caller's back
            reconnect_timeout=2.0,
            configure=self._configure,
            kwargs={"autocommit": True, "connect_timeout": CONNECT_TIMEOUT_S, "prepare_threshold": None},
        )

    def open(self) -> None:
        """Make the pool ready; connects only when a connection is asked for."""
        self._pool.open()

    def close(self) -> None:
        """Give all connections back to the server."""
        self._pool.close()

    def __enter__(self) -> Self:
        """Open."""
        self.open()
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        """Close."""
        self.close()

    @contextmanager
    def connection(self, *, within_s: float | None = None) -> Iterator[Connection]:
        """A connection in autocommit mode.

        Args:
            within_s: For what can be done without one: how long it is waited for, and no reason looked for.

        Raises:
            DatabaseUnavailable: The server does not answer, or went away in the middle.
            Unavailable: It answers, and refuses; the message says what, the hint what mends it.
        """
        connection = self._take() if within_s is None else self._take_at_once(within_s)
        try:
            with translated_errors(self._asking), connection:
                yield connection
        finally:
            self._pool.putconn(connection)

    def _take(self) -> Connection:
        try:
            return self._answering(_WAIT_FOR_CONNECTION_S)
        except PoolTimeout as error:
            if self._revive is None:
                raise self._why_none() from error
        self._revive()
        try:
            return self._answering(_WAIT_FOR_CONNECTION_S)
        except PoolTimeout as error:
            raise self._why_none() from error

    def _take_at_once(self, within_s: float) -> Connection:
        try:
            return self._answering(within_s)
        except PoolTimeout as error:
            raise _all_in_use() from error

    def _answering(self, within_s: float) -> Connection:
        """One that answers. Those that the server ended meanwhile are put aside at once, as long as there are any.

        The pool's own check waits longer from one to the next than a hasty server leaves them alone.
        """
        ends = time.monotonic() + within_s
        while True:
            try:
                connection = self._pool.getconn(timeout=max(0.0, ends - time.monotonic()))
            except PoolClosed as error:
                raise _closed() from error
            try:
                require_answer(connection)
            except BaseException as error:
                connection.close()
                self._pool.putconn(connection)
                if not isinstance(error, psycopg.Error):
                    raise
            else:
                return connection

    def _why_none(self) -> MedirError:
        """The reason that the pool kept to itself: it tries to connect in threads of its own."""
        try:
            with translated_errors(self._asking), connect(self.url) as connection:
                self._configure(connection)
        except MedirError as error:
            return error
        return _all_in_use()

    @contextmanager
    def snapshot(self, *, within_s: float | None = None, same_as: str | None = None) -> Iterator[Connection]:
        """A read-only transaction that sees one state of the database from its first query to its last.

        `same_as` is the id of a snapshot whose state it shall see; `within_s` is as for a connection.
        """
        with self.connection(within_s=within_s) as connection, connection.transaction():
            connection.execute("set transaction isolation level repeatable read, read only")
            if same_as is not None:
                # before any query, and what a pooler's transaction is told comes by one
                connection.execute(sql.SQL("set transaction snapshot {}").format(sql.Literal(same_as)))
            set_parameters(connection, self._of_transactions)
            yield connection

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """A transaction that is committed on leaving and rolled back on an error."""
        with self.connection() as connection, connection.transaction():
            set_parameters(connection, self._of_transactions)
            yield connection

    def _configure(self, connection: Connection) -> None:
        require_answer(connection)
        found = find_vector(connection)
        if found is not None:
            register_vector_info(connection, TypeInfo("vector", found.oid, found.array_oid))
        who = connection.execute(
            "select pg_backend_pid(), current_user::text, coalesce(current_schema(), 'public')::text"
        ).fetchone()
        pid, role, schema = who or (0, "", "")
        self._asking = Asking(role=role, schema=schema, vector_schema=found.schema if found else None)
        settings = dict(_BOUNDS)
        if found is not None and found.path is not None:
            settings["search_path"] = found.path
        # a pooler answers under a number of its own
        pooled = pid != connection.info.backend_pid
        self._of_transactions = settings if pooled else {}
        set_parameters(connection, _FORM if pooled else _FORM | settings, local=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorType:
    """pgvector's type in one database. `path` is the search path that finds it; None where the role's own does."""

    version: str
    schema: str
    oid: int
    array_oid: int
    path: str | None


def find_vector(connection: Connection) -> VectorType | None:
    """Where the extension `vector` stands, which need not be on the search path; None where there is none."""
    # one row at most
    row = connection.execute(
        """
        select e.extversion, n.nspname::text, t.oid::bigint, t.typarray::bigint,
            case when not n.nspname = any(current_schemas(false)) then
                concat_ws(', ', nullif(current_setting('search_path'), ''), quote_ident(n.nspname))
            end
        from pg_extension e
            join pg_namespace n on n.oid = e.extnamespace
            join pg_type t on t.typnamespace = n.oid and t.typname = 'vector'
        where e.extname = 'vector'
        """
    ).fetchone()
    if row is None:
        return None
    version, schema, oid, array_oid, path = row
    return VectorType(version=version, schema=schema, oid=oid, array_oid=array_oid, path=path)


def set_parameters(connection: Connection, settings: Mapping[str, str], *, local: bool = True) -> None:
    """Set the server's parameters until the transaction at hand ends, or else the session."""
    if settings:
        connection.execute(
            "select set_config(name, value, %s) from unnest(%s::text[], %s::text[]) as given (name, value)",
            (local, list(settings), list(settings.values())),
        )


def set_known_parameters(connection: Connection, settings: Mapping[str, str]) -> None:
    """Set until the transaction ends those of the parameters that this version of the server has."""
    connection.execute(
        """
        select set_config(p.name, given.value, true)
        from unnest(%s::text[], %s::text[]) as given (name, value) join pg_settings p on p.name = given.name
        """,
        (list(settings), list(settings.values())),
    )


def _all_in_use() -> DatabaseBusy:
    return DatabaseBusy(
        "All connections that this process may open are in use.",
        hint="Try again when what is at work has ended.",
    )


def _closed() -> DatabaseUnavailable:
    return DatabaseUnavailable(
        "The database's connections are closed: this process is ending.", hint="Try again when it runs again."
    )


@contextmanager
def translated_errors(asking: Asking | None = None) -> Iterator[None]:
    """Turn what the server refuses, or the driver says of one that is missing, into errors of ours.

    What only the driver objects to is a fault of this program, and passes.
    """
    try:
        yield
    except psycopg.Error as error:
        refusal = refusal_of(error, asking)
        if refusal is None:
            raise
        raise refusal from error
