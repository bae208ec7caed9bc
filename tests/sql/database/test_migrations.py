"""The schema: made once, in order, by whoever comes first; and what it refuses by itself."""

import dataclasses
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import numpy as np
import psycopg
import pytest
import rows
from psycopg import sql
from psycopg.conninfo import make_conninfo
from schema_dump import SCHEMA_FILE, dump_schema

from databases import drop_database
from rag_core.database.connecting import Connection
from rag_core.database.connections import Database
from rag_core.database.migration import Migration, migrate, migration_status, shipped_migrations
from rag_core.database.server.cluster import installed_programs
from rag_core.errors import DatabaseRefused, DatabaseUnavailable, OperatorNeeded, Refused

NAMES = tuple(migration.name for migration in shipped_migrations())
LAST = shipped_migrations()[-1]
EXTRA = Migration(
    number=LAST.number + 1, name="9999_extra", sql="create table extra (id integer primary key)"
)


def tables(url: str) -> list[str]:
    with psycopg.connect(url) as connection:
        found = connection.execute(
            "select tablename::text from pg_tables where schemaname = 'public' order by 1"
        ).fetchall()
    return [name for (name,) in found]


@pytest.fixture
def empty_url(empty_database: Callable[[], AbstractContextManager[str]]) -> Iterator[str]:
    with empty_database() as url:
        yield url


@pytest.fixture
def connection(module_database: Database) -> Iterator[Connection]:
    with module_database.connection() as opened:
        rows.project(opened, "a")
        rows.project(opened, "b")
        yield opened
        opened.execute("delete from projects")


def test_an_empty_database_becomes_current_and_a_second_time_nothing_is_done(empty_url: str) -> None:
    with Database(empty_url) as database, database.connection() as connection:
        assert migration_status(connection).current == 0
        assert migration_status(connection).pending == NAMES
    assert migrate(empty_url) == NAMES
    assert migrate(empty_url) == ()
    with Database(empty_url) as database, database.connection() as connection:
        assert migration_status(connection).current == LAST.number
        assert migration_status(connection).pending == ()


def test_migrations_are_numbered_without_gaps_and_named_by_their_number() -> None:
    assert [migration.number for migration in shipped_migrations()] == list(range(1, len(NAMES) + 1))
    assert all(migration.name.startswith(f"{migration.number:04}_") for migration in shipped_migrations())


def test_a_later_migration_is_applied_to_what_stands(database_url: str) -> None:
    assert migrate(database_url, (*shipped_migrations(), EXTRA)) == ("9999_extra",)
    assert "extra" in tables(database_url)


def test_an_edited_migration_is_refused_by_its_name(database_url: str) -> None:
    edited = dataclasses.replace(LAST, sql=LAST.sql + "\n-- a small change\n")
    with pytest.raises(Refused, match=f"{LAST.name} was edited"):
        migrate(database_url, (*shipped_migrations()[:-1], edited))


def test_a_database_of_a_newer_version_is_refused_and_left_alone(database_url: str) -> None:
    migrate(database_url, (*shipped_migrations(), EXTRA))
    before = tables(database_url)
    with pytest.raises(Refused, match="9999_extra"):
        migrate(database_url)
    assert tables(database_url) == before


def test_a_migration_that_fails_leaves_nothing_of_itself(database_url: str) -> None:
    broken = dataclasses.replace(EXTRA, sql="create table half (id integer); select 1 / 0")
    with pytest.raises(DatabaseRefused, match="division by zero"):
        migrate(database_url, (*shipped_migrations(), broken))
    assert "half" not in tables(database_url)
    assert migrate(database_url) == ()


def test_two_that_migrate_at_once_wait_for_each_other(empty_url: str) -> None:
    with ThreadPoolExecutor(2) as both:
        results = sorted(both.map(migrate, [empty_url, empty_url]))
    assert results == [(), NAMES]


def test_an_unreachable_server_is_one_error_of_ours(tmp_path: Path) -> None:
    with pytest.raises(DatabaseUnavailable, match="does not answer"):
        migrate(f"host={tmp_path} dbname=medir")


def test_a_role_that_may_not_create_the_extension_is_told_the_one_command_before_anything_is_made(
    server_url: str,
) -> None:
    with _database_of_an_ordinary_role(server_url) as url:
        with pytest.raises(OperatorNeeded) as refusal:
            migrate(url)
        assert 'psql "$DATABASE_URL" -c "create extension vector"' in refusal.value.hint
        assert tables(url) == []
        with psycopg.connect(url) as connection:
            types = connection.execute("select to_regtype('chunk_scope') is null").fetchone()
        assert types == (True,)


def test_once_an_operator_has_made_the_extension_an_ordinary_role_can_migrate(server_url: str) -> None:
    with psycopg.connect(server_url, autocommit=True) as operator:
        if operator.info.parameter_status("is_superuser") != "on":
            pytest.skip("the role of DATABASE_URL is no operator")
    with _database_of_an_ordinary_role(server_url) as url:
        name = psycopg.conninfo.conninfo_to_dict(url)["dbname"]
        with psycopg.connect(make_conninfo(server_url, dbname=name), autocommit=True) as operator:
            operator.execute("create extension vector")
        assert migrate(url) == NAMES


def test_the_schema_file_makes_what_the_migrations_make(database_url: str, empty_url: str) -> None:
    with psycopg.connect(database_url) as connection:
        if connection.info.server_version // 10_000 > _pg_dump_version():
            pytest.skip("the server is newer than the pg_dump that is installed")
    with psycopg.connect(empty_url, autocommit=True) as connection:
        connection.execute(SCHEMA_FILE.read_bytes())
    assert dump_schema(empty_url) == dump_schema(database_url)


@pytest.mark.parametrize(
    ("wrong", "constraint"),
    [
        ({"source_path": None}, "chunks_origin"),
        ({"scope": "adr", "source_path": None}, "chunks_origin"),
        ({"session_id": "s"}, "chunks_origin"),
        ({"scope": "session"}, "chunks_origin"),
        ({"scope": "session", "session_id": "s"}, "chunks_origin"),
        ({"scope": "session", "session_id": None, "source_path": None}, "chunks_origin"),
        ({"ordinal": -1}, "chunks_ordinal_check"),
        ({"content": ""}, "chunks_content_check"),
        ({"content_hash": "abc"}, "chunks_content_hash_check"),
        ({"embedding": [1.0] * 768}, "chunks_vector_has_model"),
        ({"embedding_model": "m"}, "chunks_vector_has_model"),
    ],
)
def test_a_chunk_that_cannot_be_is_refused_by_the_database(
    connection: Connection, wrong: dict[str, object], constraint: str
) -> None:
    rows.session(connection, "a", "s")
    if isinstance(wrong.get("embedding"), list):
        wrong = wrong | {"embedding": np.ones(768, dtype=np.float32)}
    with pytest.raises(psycopg.errors.CheckViolation) as violation:
        rows.chunk(connection, "a", **wrong)
    assert violation.value.diag.constraint_name == constraint


def test_a_vector_of_another_dimension_is_refused(connection: Connection) -> None:
    with pytest.raises(psycopg.errors.DataException, match="768"):
        rows.chunk(connection, "a", embedding=np.ones(512, dtype=np.float32), embedding_model="m")


def test_two_chunks_of_a_file_do_not_share_an_ordinal(connection: Connection) -> None:
    rows.chunk(connection, "a")
    rows.chunk(connection, "b")
    with pytest.raises(psycopg.errors.UniqueViolation):
        rows.chunk(connection, "a")


def test_the_search_vector_is_made_by_the_database_in_portuguese(connection: Connection) -> None:
    chunk_id = rows.chunk(connection, "a", content="As rotas congeladas")
    found = connection.execute(
        "select search_vector = to_tsvector('portuguese', 'As rotas congeladas') from chunks where id = %s",
        (chunk_id,),
    ).fetchone()
    assert found == (True,)
    with pytest.raises(psycopg.errors.GeneratedAlways):
        connection.execute("update chunks set search_vector = ''")


@pytest.mark.parametrize(
    ("kind", "labels"),
    [
        ("chunk_scope", ["docs", "adr", "session"]),
        ("rag_verdict", ["util", "irrelevante"]),
        ("actor_kind", ["human", "agent", "system"]),
        ("rag_surface", ["app", "cli", "api", "engine", "mcp"]),
    ],
)
def test_the_enums_hold_the_contracts_words(connection: Connection, kind: str, labels: list[str]) -> None:
    found = connection.execute(
        "select enumlabel::text from pg_enum where enumtypid = %s::regtype order by enumsortorder", (kind,)
    ).fetchall()
    assert [label for (label,) in found] == labels


def test_each_signal_has_the_index_made_for_it(connection: Connection) -> None:
    found = connection.execute("select indexdef from pg_indexes where tablename = 'chunks'").fetchall()
    definitions = " ".join(definition for (definition,) in found)
    assert "USING hnsw (embedding vector_cosine_ops)" in definitions
    assert "USING gin (search_vector)" in definitions


def test_every_key_begins_with_the_project_so_that_the_tables_can_be_distributed_by_it(
    connection: Connection,
) -> None:
    found = connection.execute(
        """
        select i.indexrelid::regclass::text, a.attname::text
        from pg_index i
            join pg_class t on t.oid = i.indrelid and t.relnamespace = 'public'::regnamespace
            join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[0]
        where i.indisunique and t.relname not in ('schema_migrations', 'access_tokens')
        """
    ).fetchall()
    assert {column for _, column in found} == {"project_id"}
    assert len(found) > 10


def test_a_vote_cannot_point_into_another_project(connection: Connection) -> None:
    here, there = rows.chunk(connection, "a"), rows.chunk(connection, "b")
    asked = rows.search(connection, "a")
    for project_id, chunk_id in (("a", there), ("b", there), ("b", here)):
        with pytest.raises(psycopg.errors.ForeignKeyViolation):
            rows.vote(connection, project_id, asked, chunk_id)
    rows.vote(connection, "a", asked, here)


def test_the_same_actor_votes_once_on_a_hit(connection: Connection) -> None:
    chunk_id, asked = rows.chunk(connection, "a"), rows.search(connection, "a")
    rows.vote(connection, "a", asked, chunk_id)
    rows.vote(connection, "a", asked, chunk_id, actor_kind="agent")
    with pytest.raises(psycopg.errors.UniqueViolation):
        rows.vote(connection, "a", asked, chunk_id, verdict="irrelevante")


def test_a_session_chunk_belongs_to_a_session_of_its_project(connection: Connection) -> None:
    rows.session(connection, "b", "s")
    with pytest.raises(psycopg.errors.ForeignKeyViolation):
        rows.chunk(connection, "a", scope="session", source_path=None, session_id="s")


def test_votes_go_with_their_chunk_and_with_their_search(connection: Connection) -> None:
    first, second = rows.chunk(connection, "a"), rows.chunk(connection, "a", ordinal=1)
    asked = rows.search(connection, "a")
    rows.vote(connection, "a", asked, first)
    rows.vote(connection, "a", asked, second)
    connection.execute("delete from chunks where id = %s", (first,))
    assert rows.count(connection, "rag_feedback") == 1
    connection.execute("delete from rag_searches")
    assert rows.count(connection, "rag_feedback") == 0
    assert rows.count(connection, "chunks") == 1


def test_a_search_outlives_the_session_that_asked(connection: Connection) -> None:
    rows.session(connection, "a", "s")
    rows.chunk(connection, "a", scope="session", source_path=None, session_id="s")
    rows.search(connection, "a", session_id="s")
    connection.execute("delete from sessions")
    assert rows.count(connection, "chunks") == 0
    assert rows.count(connection, "rag_searches") == 1


def test_a_search_without_a_session_and_a_set_of_candidates_of_unequal_arrays(connection: Connection) -> None:
    asked = rows.search(connection, "a", session_id=None)
    candidates = {
        "project_id": "a",
        "search_id": asked,
        "places": ["docs/a.md"],
        "ordinals": [0],
        "content_hashes": ["0" * 64],
        "vector_scores": [None],
        "vector_ranks": [None],
        "lexical_scores": [0.1],
        "lexical_ranks": [1],
    }
    with pytest.raises(psycopg.errors.CheckViolation):
        rows.insert(connection, "rag_candidates", candidates | {"ordinals": [0, 1]})
    rows.insert(connection, "rag_candidates", candidates)
    connection.execute("delete from rag_searches")
    assert rows.count(connection, "rag_candidates") == 0


def test_a_project_leaves_with_all_that_is_its_own_and_nothing_of_anothers(connection: Connection) -> None:
    for project_id in ("a", "b"):
        rows.session(connection, project_id, "s")
        chunk_id = rows.chunk(connection, project_id)
        asked = rows.search(connection, project_id)
        rows.vote(connection, project_id, asked, chunk_id)
    connection.execute("delete from projects where project_id = 'a'")
    for table in ("search_settings", "sessions", "chunks", "rag_searches", "rag_feedback"):
        assert rows.count(connection, table) == 1


@pytest.mark.parametrize("project_id", ["", "A", "-a", "a_b", "é", "a" * 64])
def test_a_project_id_is_a_slug(connection: Connection, project_id: str) -> None:
    with pytest.raises(psycopg.errors.CheckViolation):
        rows.project(connection, project_id)


@pytest.mark.parametrize(
    "column",
    [
        "project_id", "id", "scope", "session_id", "source_path", "ordinal", "content", "content_hash", "metadata",
        "embedding", "embedding_model", "search_vector", "created_at",
    ],
)  # fmt: skip
def test_chunks_has_the_contracts_columns(connection: Connection, column: str) -> None:
    connection.execute(sql.SQL("select {} from chunks").format(sql.Identifier(column)))


def test_the_telemetry_tables_have_the_contracts_columns(connection: Connection) -> None:
    connection.execute(
        """
        select project_id, id, created_at, question, hits, hit_count, weights, settings_id, degraded,
            degraded_reason, vector_available, latency_ms, embed_ms, vector_ms, lexical_ms, rank_ms, scopes,
            actor_kind, actor_id, surface, session_id, synthetic
        from rag_searches
        """
    )
    connection.execute("select project_id, id, settings from search_settings")
    connection.execute(
        """
        select project_id, search_id, chunk_id, rank, verdict, actor_kind, actor_id, created_at, updated_at,
            searched_at, settings_id
        from rag_feedback
        """
    )
    connection.execute("select project_id, id, title, created_at from sessions")
    connection.execute(
        """
        select project_id, id, session_id, seq, type, actor_kind, actor_id, created_at, payload
        from session_events
        """
    )


def _pg_dump_version() -> int:
    catalogue = installed_programs() / "share" / "postgres.bki"
    with catalogue.open(encoding="utf-8") as file:
        return int(file.readline().removeprefix("# PostgreSQL").strip())


@contextmanager
def _database_of_an_ordinary_role(server_url: str) -> Iterator[str]:
    """The URL of an empty database without pgvector, as its owner, who is no superuser."""
    name = f"medir_test_{uuid.uuid4().hex[:12]}"
    url = make_conninfo(server_url, dbname=name)
    made_role = False
    with psycopg.connect(server_url, autocommit=True) as connection:
        owner = connection.info.user
        if connection.info.parameter_status("is_superuser") == "on":
            owner, made_role = name, True
            connection.execute(sql.SQL("create role {} login password 'plain'").format(sql.Identifier(owner)))
            url = make_conninfo(url, user=owner, password="plain")
        connection.execute(
            sql.SQL("create database {} owner {} template template0").format(
                sql.Identifier(name), sql.Identifier(owner)
            )
        )
        try:
            yield url
        finally:
            drop_database(server_url, name)
            if made_role:
                connection.execute(sql.SQL("drop role {}").format(sql.Identifier(owner)))
