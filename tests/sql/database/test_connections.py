"""The pool: nothing is left open, nothing is prepared, vectors travel both ways, and it comes back by itself."""

import re
import threading
import time

import numpy as np
import psycopg
import pytest
import rows
from psycopg.conninfo import make_conninfo

from rag_core.database.connecting import ConnectionRefused, connect
from rag_core.database.connections import Database
from rag_core.database.migration import shipped_migrations
from rag_core.errors import DatabaseRefused, DatabaseUnavailable


def cut_all_connections(database: Database) -> None:
    """As a restart of the server does to its clients."""
    with psycopg.connect(database.url, autocommit=True) as connection:
        connection.execute(
            """
            select pg_terminate_backend(pid) from pg_stat_activity
            where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'
            """
        )


def test_a_read_leaves_no_transaction_open(database: Database) -> None:
    with database.connection() as connection:
        connection.execute("select 1").fetchone()
        assert connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
    with database.snapshot() as connection:
        connection.execute("select 1").fetchone()
    with psycopg.connect(database.url) as watcher:
        states = watcher.execute(
            """
            select distinct state from pg_stat_activity
            where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'
            """
        ).fetchall()
    assert states == [("idle",)]


def test_after_a_statement_that_failed_the_next_one_works(database: Database) -> None:
    with database.connection() as connection:
        with pytest.raises(psycopg.errors.UndefinedTable):
            connection.execute("select * from nowhere")
        assert connection.execute("select 1").fetchone() == (1,)
    with pytest.raises(DatabaseRefused, match="nowhere"), database.transaction() as connection:
        connection.execute("select * from nowhere")
    with database.connection() as connection:
        assert connection.execute("select 2").fetchone() == (2,)


def test_a_transaction_that_somebody_forgot_is_ended_by_the_server(database: Database) -> None:
    with database.connection() as connection:
        assert connection.execute("show idle_in_transaction_session_timeout").fetchone() == ("1min",)


def test_a_snapshot_sees_one_state_and_writes_nothing(database: Database) -> None:
    with database.snapshot() as connection:
        before = rows.count(connection, "projects")
        with database.transaction() as other:
            rows.project(other, "later")
        assert rows.count(connection, "projects") == before
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
            connection.execute("delete from projects")


def test_nothing_is_prepared_so_that_a_pooler_in_between_can_give_every_statement_another_server(
    database: Database,
) -> None:
    with database.connection() as connection:
        for _ in range(10):
            connection.execute("select %s::text", ("the same",)).fetchone()
        assert connection.execute("select count(*) from pg_prepared_statements").fetchone() == (0,)


def test_a_vector_goes_in_and_comes_back_on_every_connection_and_so_does_its_absence(
    database: Database,
) -> None:
    vector = np.linspace(-1, 1, 768, dtype=np.float32)
    with database.transaction() as connection:
        rows.project(connection, "p")
        rows.chunk(connection, "p", ordinal=0, embedding=vector, embedding_model="m")
        rows.chunk(connection, "p", ordinal=1, embedding=None)
    with database.connection() as first, database.connection() as second:
        for connection in (first, second):
            found = connection.execute("select embedding from chunks order by ordinal").fetchall()
            assert np.array_equal(found[0][0].to_numpy(), vector)
            assert found[1][0] is None


def test_the_pool_comes_back_by_itself_when_its_server_does(database: Database) -> None:
    with database.connection() as connection:
        connection.execute("select 1")
    cut_all_connections(database)

    with database.connection() as connection:
        assert connection.execute("select 1").fetchone() == (1,)


def test_a_server_that_leaves_in_the_middle_is_one_error_of_ours_and_the_transaction_is_undone(
    database: Database,
) -> None:
    def leave_in_the_middle() -> None:
        with database.transaction() as connection:
            rows.project(connection, "p")
            cut_all_connections(database)
            connection.execute("select 1")

    with pytest.raises(DatabaseUnavailable):
        leave_in_the_middle()

    with database.connection() as connection:
        assert rows.count(connection, "projects") == 0


def test_many_threads_share_a_small_pool_and_each_has_a_connection_to_itself(database: Database) -> None:
    seen: list[tuple[int, int]] = []

    def work(number: int) -> None:
        for _ in range(20):
            with database.transaction() as connection:
                connection.execute("select set_config('medir.test', %s, true)", (str(number),))
                row = connection.execute("select current_setting('medir.test')::int").fetchone()
                seen.append((number, row[0] if row else -1))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(seen) == 240
    assert all(number == found for number, found in seen)


def test_no_migration_needs_an_extension_but_vector() -> None:
    wanted = {
        name
        for migration in shipped_migrations()
        for name in re.findall(r"create extension (?:if not exists )?(\w+)", migration.sql)
    }

    assert wanted == {"vector"}


def test_a_statement_that_the_server_refuses_is_told_in_a_sentence_and_is_no_outage(
    module_database: Database,
) -> None:
    too_long = "a" * 3_000
    with (
        pytest.raises(DatabaseRefused, match=r"refused a statement: word is too long.*SQLSTATE 54000"),
        module_database.connection() as connection,
    ):
        connection.execute("select %s::tsquery", (too_long,))
    with module_database.connection() as connection:
        assert connection.execute("select 1").fetchone() == (1,)


def test_connections_that_a_hasty_server_ended_hold_up_nobody(database: Database) -> None:
    with database.connection(), database.connection(), database.connection(), database.connection():
        pass
    cut_all_connections(database)
    began = time.monotonic()
    with database.connection() as connection:
        assert connection.execute("select 1").fetchone() == (1,)
    assert time.monotonic() - began < 1


def test_a_connection_that_is_refused_tells_the_servers_state_and_who_asked(database_url: str) -> None:
    with pytest.raises(ConnectionRefused) as refused:
        connect(make_conninfo(database_url, dbname="nowhere"))
    assert refused.value.sqlstate == "3D000"
    assert refused.value.database == "nowhere"
    with pytest.raises(ConnectionRefused) as refused:
        connect(make_conninfo(database_url, user="nobody_here"))
    assert refused.value.sqlstate in ("28000", "28P01")
    assert refused.value.role == "nobody_here"
