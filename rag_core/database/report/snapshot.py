"""One state of the database for all queries of a report, and how the planner is to read its millions of rows."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from rag_core.database.connecting import Connection
from rag_core.database.connections import Database
from rag_core.errors import InvalidInput

_MEMORY = "128MB"
_WORTH_WAITING_S = 1.0
_PATIENCE = "10min"


@contextmanager
def shared_snapshot(database: Database, snapshot_id: str | None = None) -> Iterator[tuple[Connection, str]]:
    """A read-only transaction, and the id by which another connection sees the same state while it lasts.

    One that is to see the state of another is a help and no need: it is not waited for.
    """
    within_s = None if snapshot_id is None else _WORTH_WAITING_S
    with database.snapshot(within_s=within_s, same_as=snapshot_id) as connection:
        # one connection may stand idle while another still counts, so it waits longer than an abandoned one
        connection.execute(
            """
            select set_config('work_mem', %s, true), set_config('max_parallel_workers_per_gather', '0', true),
                set_config('idle_in_transaction_session_timeout', %s, true)
            """,
            (_MEMORY, _PATIENCE),
        )
        row = connection.execute("select pg_export_snapshot()").fetchone()
        yield connection, str(row[0] if row else "")


def check_zone(connection: Connection, zone: str) -> None:
    """Refuse a time zone that the database does not know.

    Raises:
        InvalidInput: It is none.
    """
    try:
        connection.execute("select now() at time zone %s::text", (zone,))
    except psycopg.errors.InvalidParameterValue as error:
        raise InvalidInput(
            f"The database knows no time zone {zone!r}.", hint="Use a name such as America/Sao_Paulo, or UTC."
        ) from error


def hint(connection: Connection, *, streaming: bool) -> None:
    """Planner hints until the end of the transaction or the next hint; no result depends on them."""
    connection.execute(
        """
        select set_config(name, value, true)
        from (values
            ('enable_seqscan', case when %(streaming)s then 'off' else 'on' end),
            ('enable_bitmapscan', case when %(streaming)s then 'off' else 'on' end),
            ('enable_sort', case when %(streaming)s then 'off' else 'on' end),
            ('enable_incremental_sort', case when %(streaming)s then 'off' else 'on' end)
        ) hint (name, value)
        """,
        {"streaming": streaming},
    )
