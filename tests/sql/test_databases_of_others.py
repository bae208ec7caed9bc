"""Databases that are not Medir's alone: each refusal is a sentence with the one command, and what reads goes on."""

import os
import shutil
import socket
import subprocess
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from databases import drop_database
from material import ANA, CASES, DOCUMENTS, Repository, services
from medir.configuration import load_configuration
from medir.contract.search import SearchAnswer
from medir.doctor import examine
from rag_core.clock import SystemClock
from rag_core.database.connecting import connections_at_once
from rag_core.database.connections import Database
from rag_core.database.copies import dump, restore
from rag_core.database.migration import migrate, shipped_migrations
from rag_core.database.report.snapshot import shared_snapshot
from rag_core.errors import (
    Busy,
    DatabaseBusy,
    DatabaseReadOnly,
    DatabaseRefused,
    OperatorNeeded,
    Unavailable,
)
from rag_core.index.coverage import measure_coverage
from rag_core.project.access import admit, create_token
from rag_core.project.projects import add_project, choose_project
from rag_core.project.runs import close_interrupted

QUESTION = "Quando o frete é calculado?"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """A database of the operator's, and an ordinary role of it."""

    operator: str
    role: str
    url: str

    def set_up(self, *statements: str) -> None:
        """As the operator; `ROLE` stands for the role's name and `DATABASE` for the database's."""
        with psycopg.connect(self.operator, autocommit=True) as connection:
            for statement in statements:
                told = statement.replace("ROLE", self.role).replace("DATABASE", connection.info.dbname)
                connection.execute(told.encode())

    def objects(self) -> list[tuple[str]]:
        with psycopg.connect(self.operator) as connection:
            return connection.execute(
                "select relname::text from pg_class where relnamespace = 'public'::regnamespace order by 1"
            ).fetchall()


@pytest.fixture
def shared(server_url: str) -> Iterator[Shared]:
    with shared_database(server_url) as made:
        yield made


@contextmanager
def shared_database(server_url: str) -> Iterator[Shared]:
    name = f"medir_test_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(server_url, autocommit=True) as connection:
        if connection.info.parameter_status("is_superuser") != "on":
            pytest.skip("needs a superuser of the server that is tested against")
        named = sql.Identifier(name)
        connection.execute(sql.SQL("create role {} login password 'plain'").format(named))
        connection.execute(sql.SQL("create database {} template template0").format(named))
        try:
            operator = make_conninfo(server_url, dbname=name)
            yield Shared(
                operator=operator, role=name, url=make_conninfo(operator, user=name, password="plain")
            )
        finally:
            drop_database(server_url, name)
            connection.execute(sql.SQL("drop role {}").format(named))


def test_a_role_that_may_not_make_tables_is_told_the_grant_and_nothing_is_made(shared: Shared) -> None:
    shared.set_up("create extension vector")
    before = shared.objects()
    with pytest.raises(OperatorNeeded, match="may not make tables in the schema public") as refusal:
        migrate(shared.url)
    assert f"grant usage, create on schema public to {shared.role}" in refusal.value.hint
    shared.set_up("alter role ROLE set search_path = ''")
    with pytest.raises(OperatorNeeded, match="No schema on the search path"):
        migrate(shared.url)
    assert shared.objects() == before


@pytest.mark.parametrize(
    ("theirs", "named"),
    [
        ("create table schema_migrations (version varchar primary key)", "public.schema_migrations"),
        ("create table projects (id bigint primary key)", 'relation "projects" already exists'),
        ("create type run_state as enum ('off')", 'type "run_state" already exists'),
    ],
)
def test_another_applications_tables_are_left_alone_and_a_schema_of_our_own_serves(
    shared: Shared, theirs: str, named: str
) -> None:
    shared.set_up("create extension vector", "grant usage, create on schema public to ROLE", theirs)
    before = shared.objects()
    with pytest.raises(DatabaseRefused) as refusal:
        migrate(shared.url)
    assert named in refusal.value.message
    assert 'psql "$DATABASE_URL" -c "create schema medir"' in refusal.value.hint
    assert shared.objects() == before

    shared.set_up("create schema medir authorization ROLE")
    own = make_conninfo(shared.url, options="-csearch_path=medir")
    assert migrate(own) == tuple(migration.name for migration in shipped_migrations())
    assert migrate(own) == ()
    assert shared.objects() == before


def test_the_extension_is_found_in_whatever_schema_it_stands(shared: Shared, tmp_path: Path) -> None:
    shared.set_up(
        "create schema extensions",
        "create extension vector schema extensions",
        "grant usage, create on schema public to ROLE",
    )
    with pytest.raises(OperatorNeeded, match="stands in the schema extensions, which this role may not use"):
        migrate(shared.url)
    shared.set_up("grant usage on schema extensions to ROLE")

    migrate(shared.url)

    with Database(shared.url, max_size=4) as database:
        made = services(database)
        project = add_project(database, "entrega", repo=Repository(tmp_path / "r", DOCUMENTS).folder)
        assert made.indexing.run(project, actor=ANA).embedding.embedded == 6
        answer = made.search.ask(project.project_id, QUESTION, actor=ANA, explain="docs/frete.md")
        assert answer.found.vector_available
        assert answer.ranking.hits[0].candidate.vector_score is not None
        assert answer.explanation is not None
        assert answer.explanation.chunks[0].vector_position == 1


@pytest.fixture
def filled(shared: Shared, tmp_path: Path) -> Shared:
    """With an indexed project and a token in it."""
    shared.set_up("create extension vector", "grant usage, create on schema public to ROLE")
    migrate(shared.url)
    repository = Repository(tmp_path / "r", {**DOCUMENTS, "golden_set/cases.yaml": CASES})
    with Database(shared.url, max_size=4) as database:
        project = add_project(database, "entrega", repo=repository.folder)
        services(database).indexing.run(project, actor=ANA)
    return shared


READ_ONLY = {
    "the database": (
        ("alter database DATABASE set default_transaction_read_only = on",),
        DatabaseReadOnly,
        "lets itself be read only",
    ),
    "the role": (
        ("reassign owned by ROLE to current_user", "grant select on all tables in schema public to ROLE"),
        OperatorNeeded,
        "permission denied for table",
    ),
}


@pytest.mark.parametrize("which", READ_ONLY)
def test_where_nothing_can_be_written_reads_go_on_and_say_so(filled: Shared, which: str) -> None:
    statements, kind, said = READ_ONLY[which]
    with Database(filled.url) as database:
        token = create_token(database, SystemClock(), name="ana", role="viewer", actor=ANA)
    url = filled.url
    filled.set_up(*statements)

    assert migrate(url) == ()

    with Database(url, max_size=4) as database:
        made = services(database)
        project = choose_project(database, None)
        answer = made.search.ask(project.project_id, QUESTION, actor=ANA)
        assert answer.ranking.hits
        assert answer.search_id is None
        assert said in (answer.not_recorded or "")
        assert SearchAnswer.of(answer).to_json()["notRecorded"] == answer.not_recorded
        run = made.evaluation.run_golden(project, actor=ANA)
        assert run.outcome.passed == 3
        assert said in str(run.to_json()["notRecorded"])
        assert measure_coverage(database, project).scopes
        assert admit(database, SystemClock(), token.text, local=None).name == "ana"
        close_interrupted(database, project.project_id, "golden")
        with pytest.raises(kind):
            made.indexing.run(project, actor=ANA)


def test_a_standby_that_lacks_a_migration_is_told_where_to_migrate(filled: Shared) -> None:
    filled.set_up(
        "alter database DATABASE set default_transaction_read_only = on",
    )
    with psycopg.connect(filled.operator) as connection:
        connection.execute("set transaction read write")
        connection.execute("delete from schema_migrations where number > 5")
    with pytest.raises(DatabaseReadOnly, match="is read-only and lacks 0006") as refusal:
        migrate(filled.url)
    assert "server that takes writes" in refusal.value.hint


def test_a_migration_waits_for_anothers_lock_within_a_bound(shared: Shared) -> None:
    shared.set_up("create extension vector", "grant usage, create on schema public to ROLE")
    holder = psycopg.connect(shared.operator)
    try:
        holder.execute("select pg_advisory_lock(7305246119)")
        with pytest.raises(DatabaseBusy, match="Another process is bringing") as refusal:
            migrate(shared.url, wait_s=0.2)
        command = refusal.value.hint.partition(' -c "')[2].rstrip('"')
        with psycopg.connect(shared.operator, autocommit=True) as operator:
            assert operator.execute(command.encode()).fetchall() == [(True,)]
    finally:
        holder.close()
    assert len(migrate(shared.url)) == len(shipped_migrations())


def test_a_start_with_nothing_pending_waits_for_no_lock(shared: Shared) -> None:
    shared.set_up("create extension vector", "grant usage, create on schema public to ROLE")
    migrate(shared.url)
    with psycopg.connect(shared.operator, autocommit=True) as holder:
        holder.execute("select pg_advisory_lock(7305246119)")
        assert migrate(shared.url, wait_s=0.2) == ()


def test_a_role_with_too_few_connections_is_told_so(filled: Shared) -> None:
    filled.set_up("alter role ROLE connection limit 1")
    with (
        Database(filled.url, max_size=4) as database,
        pytest.raises(DatabaseBusy, match="too many connections for role") as refusal,
    ):
        services(database).indexing.run(choose_project(database, None), actor=ANA)
    assert f"alter role {filled.role} connection limit 10" in refusal.value.hint


def test_one_connection_after_the_other_is_enough_for_a_role_with_one(filled: Shared, tmp_path: Path) -> None:
    """The server may still be ending the last one."""
    filled.set_up("alter role ROLE connection limit 1")
    for number in range(8):
        assert migrate(filled.url) == ()
        dump(filled.url, tmp_path / f"{number}.dump", ambient=False)


def test_a_wrong_name_is_no_outage(shared: Shared) -> None:
    for wrong, said in (
        ({"dbname": "nowhere"}, "that database can't be used"),
        ({"user": "nobody_here"}, "does not let this role in"),
    ):
        with pytest.raises(DatabaseRefused, match=said):
            migrate(make_conninfo(shared.operator, **wrong))
        with (
            Database(make_conninfo(shared.operator, **wrong)) as database,
            pytest.raises(DatabaseRefused, match=said),
            database.connection(),
        ):
            pass


def test_a_copy_goes_out_and_in_again_under_the_rights_that_migrating_takes(
    filled: Shared, server_url: str, tmp_path: Path
) -> None:
    copy = tmp_path / "whole.dump"
    filled.set_up("create schema theirs", "create table theirs.secrets (id int)")
    dump(filled.url, copy, ambient=False)

    with shared_database(server_url) as other:
        with pytest.raises(OperatorNeeded, match="may not make tables"):
            restore(other.url, copy, ambient=False)
        other.set_up("grant usage, create on schema public to ROLE")
        with pytest.raises(OperatorNeeded, match="may not create the extension"):
            restore(other.url, copy, ambient=False)
        other.set_up("create extension vector")

        restore(other.url, copy, ambient=False)

        assert migrate(other.url) == ()
        with Database(other.url) as database:
            project = choose_project(database, None)
            assert services(database).search.ask(project.project_id, QUESTION, actor=ANA).ranking.hits


def test_a_role_that_may_not_read_all_of_it_is_told_the_grant_that_a_copy_takes(
    filled: Shared, tmp_path: Path
) -> None:
    copy = tmp_path / "whole.dump"
    filled.set_up(
        "reassign owned by ROLE to current_user", "grant select on all tables in schema public to ROLE"
    )
    with pytest.raises(OperatorNeeded, match="not adopted_settings_id_seq") as refusal:
        dump(filled.url, copy, ambient=False)
    granted = refusal.value.hint.partition(' -c "')[2].partition('"')[0]
    filled.set_up(granted.replace("ROLE", filled.role))
    dump(filled.url, copy, ambient=False)
    assert copy.stat().st_size


def test_a_copy_of_another_schema_is_refused_before_anything_is_made(
    filled: Shared, server_url: str, tmp_path: Path
) -> None:
    copy = tmp_path / "whole.dump"
    dump(filled.url, copy, ambient=False)
    with shared_database(server_url) as other:
        other.set_up("create schema medir authorization ROLE", "create extension vector")
        own = make_conninfo(other.url, options="-csearch_path=medir")
        with pytest.raises(
            DatabaseRefused, match="made of the schema public, and this role makes its tables in medir"
        ):
            restore(own, copy, ambient=False)
        other.set_up(
            "grant usage, create on schema public to ROLE",
            "create schema extensions",
            "alter extension vector set schema extensions",
            "grant usage on schema extensions to ROLE",
        )
        with pytest.raises(OperatorNeeded, match="in the schema public, and here it stands in extensions"):
            restore(other.url, copy, ambient=False)


def test_letters_with_other_cases_than_unicodes_are_refused(server_url: str) -> None:
    name = f"medir_test_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(server_url, autocommit=True) as connection:
        try:
            connection.execute(
                sql.SQL(
                    "create database {} encoding 'UTF8' locale_provider libc lc_ctype 'tr_TR.UTF-8' template template0"
                ).format(sql.Identifier(name))
            )
        except psycopg.Error as error:
            pytest.skip(f"needs the locale tr_TR.UTF-8: {error}")
    try:
        with pytest.raises(Unavailable, match=r"tr_TR\.UTF-8 has other small letters") as refusal:
            migrate(make_conninfo(server_url, dbname=name))
        assert "C.UTF-8" in refusal.value.hint
    finally:
        drop_database(server_url, name)


def test_behind_a_pooler_in_transaction_mode_everything_works_and_nothing_is_left(
    shared: Shared, tmp_path: Path
) -> None:
    """With the extension off the path, which a pooler's sessions would not remember."""
    shared.set_up(
        "create schema extensions",
        "create extension vector schema extensions",
        "grant usage on schema extensions to ROLE",
        "grant usage, create on schema public to ROLE",
    )
    with pooled(shared, tmp_path) as url:
        migrate(url)
        assert connections_at_once(url, wanted=3) == 3
        with Database(url, max_size=4) as database, Database(url, max_size=4) as another:
            made = services(database)
            project = add_project(database, "entrega", repo=Repository(tmp_path / "r", DOCUMENTS).folder)

            def meanwhile(step: str, _done: int, _total: int) -> None:
                if step == "write":
                    with pytest.raises(Busy):
                        services(another).indexing.run(project, actor=ANA)

            assert made.indexing.run(project, actor=ANA, listener=meanwhile).embedding.embedded == 6
            answer = made.search.ask(project.project_id, QUESTION, actor=ANA, explain="docs/frete.md")
            assert answer.found.vector_available
            assert answer.search_id is not None
            with (
                shared_snapshot(database) as (_, snapshot_id),
                shared_snapshot(database, snapshot_id) as (second, _),
            ):
                assert second.execute("select count(*) from projects").fetchone() == (1,)
        with psycopg.connect(shared.operator) as connection:
            held = connection.execute(
                """
                select count(*) from pg_locks l join pg_database d on d.oid = l.database
                where l.locktype = 'advisory' and d.datname = current_database()
                """
            ).fetchone()
        assert held == (0,)


def test_behind_a_pooler_with_one_connection_what_needs_one_works_and_a_run_is_refused_in_time(
    filled: Shared, tmp_path: Path
) -> None:
    """The pooler's own bound on waiting is two minutes: nobody sits through those."""
    with (
        pooled(filled, tmp_path, "default_pool_size = 1\nmax_db_connections = 1\n") as url,
        Database(url, max_size=4) as database,
    ):
        assert migrate(url) == ()
        told = examine(load_configuration({"DATABASE_URL": url, "MEDIR_HOME": str(tmp_path)}))
        connections = next(check for check in told if check.name == "connections")
        assert not connections.ok
        assert connections.found == "the pooler gives 1 at a time just now; a run takes 3"
        assert "default_pool_size" in (connections.remedy or "")
        made = services(database)
        project = choose_project(database, None)
        assert made.search.ask(project.project_id, QUESTION, actor=ANA).ranking.hits
        began = time.monotonic()
        with (
            shared_snapshot(database) as (_, snapshot_id),
            pytest.raises(DatabaseBusy),
            shared_snapshot(database, snapshot_id),
        ):
            pass
        assert time.monotonic() - began < 4
        began = time.monotonic()
        with pytest.raises(DatabaseBusy, match="gives no answer") as refusal:
            made.indexing.run(project, actor=ANA)
        assert time.monotonic() - began < 40
        assert "default_pool_size" in refusal.value.hint
        assert made.search.ask(project.project_id, QUESTION, actor=ANA).ranking.hits


@contextmanager
def pooled(shared: Shared, folder: Path, sizes: str = "default_pool_size = 5\n") -> Iterator[str]:
    """The address of a pgbouncer in transaction mode before the database."""
    program = shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin:/usr/local/sbin")
    if program is None:
        pytest.skip("needs the program pgbouncer")
    parts = conninfo_to_dict(shared.operator)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    users, settings = folder / "users.txt", folder / "pgbouncer.ini"
    users.write_text(f'"{shared.role}" "plain"\n', encoding="utf-8")
    host = f"host={parts['host']} port={parts['port']} dbname={parts['dbname']}"
    settings.write_text(
        f"[databases]\npooled = {host} user={shared.role} password=plain\n[pgbouncer]\nlisten_addr = 127.0.0.1\n"
        f"listen_port = {port}\nunix_socket_dir =\nauth_type = any\nauth_file = {users}\npool_mode = transaction\n"
        f"{sizes}",
        encoding="utf-8",
    )
    # it refuses to run as root, and the server's socket is open to its owner alone
    account = Path(str(parts["host"])).stat().st_uid
    for path in (folder, users, settings):
        os.chown(path, account, -1)
    for parent in folder.parents[:-2]:
        parent.chmod(parent.stat().st_mode | 0o011)
    with subprocess.Popen(
        [program, "-q", str(settings)], user=account if os.geteuid() == 0 else None, stderr=subprocess.DEVNULL
    ) as pooler:
        try:
            url = f"postgresql://{shared.role}:plain@127.0.0.1:{port}/pooled"
            for _ in range(50):
                with suppress(psycopg.OperationalError), psycopg.connect(url, connect_timeout=2):
                    break
                time.sleep(0.1)
            yield url
        finally:
            pooler.terminate()
