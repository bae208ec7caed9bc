"""The pool, and the one place where driver errors become ours.

Every connection is in autocommit mode, so that a read leaves no transaction open between two page runs;
writes and snapshots open transactions explicitly.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Self

import psycopg
from pgvector.psycopg import register_vector
from psycopg.rows import TupleRow
from psycopg_pool import ConnectionPool, PoolTimeout

from rag_core.errors import DatabaseUnavailable

Connection = psycopg.Connection[TupleRow]

_IDLE_IN_TRANSACTION = "60s"
_WAIT_FOR_CONNECTION_S = 5.0


class Database:
    """A pool of connections to one database. Recovers by itself when the server comes back.

    Args:
        url: A libpq connection string or URL.
        max_size: How many connections at most.
        revive: Called when no connection can be had, before one more try: starts a server that is ours to start.
    """

    def __init__(self, url: str, *, max_size: int = 8, revive: Callable[[], None] | None = None) -> None:
        self.url = url
        self._revive = revive
        self._pool: ConnectionPool[Connection] = ConnectionPool(
            url,
            min_size=0,
            max_size=max_size,
            open=False,
            timeout=_WAIT_FOR_CONNECTION_S,
            # a server that is down is reported at once, not retried for minutes behind the caller's back
            reconnect_timeout=2.0,
            configure=_configure,
            check=ConnectionPool.check_connection,
            kwargs={"autocommit": True, "connect_timeout": 5, "prepare_threshold": None},
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
    def connection(self) -> Iterator[Connection]:
        """A connection in autocommit mode.

        Raises:
            DatabaseUnavailable: The server does not answer, or went away in the middle.
        """
        with translated_errors():
            connection = self._take()
            try:
                with connection:
                    yield connection
            finally:
                self._pool.putconn(connection)

    def _take(self) -> Connection:
        try:
            return self._pool.getconn()
        except PoolTimeout as error:
            if self._revive is None:
                raise _no_answer() from error
        self._revive()
        try:
            return self._pool.getconn()
        except PoolTimeout as error:
            raise _no_answer() from error

    @contextmanager
    def snapshot(self) -> Iterator[Connection]:
        """A read-only transaction that sees one state of the database from its first query to its last."""
        with self.connection() as connection, connection.transaction():
            connection.execute("set transaction isolation level repeatable read, read only")
            yield connection

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """A transaction that is committed on leaving and rolled back on an error."""
        with self.connection() as connection, connection.transaction():
            yield connection


# classes of SQLSTATE: connection, authorisation, resources (disk, memory, connections), an operator's intervention, the
# server's system; a statement that is too complex or a lock that was not given is none of them
_OUTAGES = ("08", "28", "53", "57", "58")


@contextmanager
def translated_errors() -> Iterator[None]:
    """Turn what the driver raises when a server is missing, leaves or is full into `DatabaseUnavailable`.

    Other errors of a server that does answer are faults of a statement, and pass.
    """
    try:
        yield
    except (psycopg.OperationalError, psycopg.InterfaceError) as error:
        if not (error.sqlstate or "08").startswith(_OUTAGES):
            raise
        lines = str(error).strip().splitlines() or [type(error).__name__]
        raise DatabaseUnavailable(
            f"The database does not answer: {lines[0]}",
            hint="Check that the server runs and that DATABASE_URL is right, then try again.",
        ) from error


def _no_answer() -> DatabaseUnavailable:
    return DatabaseUnavailable(
        "The database does not answer.", hint="Check DATABASE_URL, or run `medir doctor`."
    )


def _configure(connection: Connection) -> None:
    # whatever the server's or the caller's defaults are, dates and texts are read in one form; before the first
    # migration the type does not exist yet, and the runner opens its own connection
    row = connection.execute(
        """
        select to_regtype('vector') is not null,
            set_config('idle_in_transaction_session_timeout', %s, false), set_config('client_encoding', 'UTF8', false),
            set_config('timezone', 'UTC', false), set_config('datestyle', 'ISO', false)
        """,
        (_IDLE_IN_TRANSACTION,),
    ).fetchone()
    if row is not None and row[0]:
        register_vector(connection)
