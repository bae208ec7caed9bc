"""What a server refuses, in our words: which error, and what mends it."""

import psycopg
import pytest

from rag_core.database.connecting import ConnectionRefused
from rag_core.database.refusal_sentences import Asking
from rag_core.database.refusals import refusal_of
from rag_core.errors import (
    DatabaseBusy,
    DatabaseReadOnly,
    DatabaseRefused,
    DatabaseUnavailable,
    MedirError,
    OperatorNeeded,
)

AT = 'connection failed: connection to server at "127.0.0.1", port 5432 failed: '


@pytest.mark.parametrize(
    ("said", "kind", "reason", "mended"),
    [
        (
            AT + 'FATAL:  too many connections for role "app"',
            DatabaseBusy,
            'too many connections for role "app"',
            "alter role app connection limit 10",
        ),
        (
            AT + "FATAL:  sorry, too many clients already",
            DatabaseBusy,
            "too many clients",
            "connection limit",
        ),
        (
            AT + "FATAL:  remaining connection slots are reserved for roles with the SUPERUSER attribute",
            DatabaseBusy,
            "slots are reserved",
            "Close other",
        ),
        (
            AT + 'FATAL:  password authentication failed for user "app"',
            DatabaseRefused,
            "does not let this role in",
            "PGPASSFILE",
        ),
        (
            AT + 'FATAL:  role "app" does not exist',
            DatabaseRefused,
            "does not let this role in",
            "DATABASE_URL",
        ),
        (
            AT + "fe_sendauth: no password supplied",
            DatabaseRefused,
            "does not let this role in",
            "PGPASSFILE",
        ),
        (
            AT + 'FATAL:  no pg_hba.conf entry for host "::1", user "app", database "d", no encryption',
            DatabaseRefused,
            "pg_hba",
            "pg_hba.conf",
        ),
        (
            AT + 'FATAL:  database "d" does not exist',
            DatabaseRefused,
            'database "d" does not exist',
            "createdb",
        ),
        (
            AT + "server does not support SSL, but SSL was required",
            DatabaseRefused,
            "do not agree on SSL",
            "sslmode",
        ),
        (
            AT + 'FATAL:  invalid value for parameter "TimeZone": "x"',
            DatabaseRefused,
            "asked for with the connection",
            "PGTZ",
        ),
        (
            AT + "FATAL:  unsupported startup parameter: options",
            DatabaseRefused,
            "asked for with the connection",
            "A pooler takes no options",
        ),
        (
            AT + "FATAL:  the database system is starting up",
            DatabaseUnavailable,
            "does not answer",
            "Check that the server runs",
        ),
        (
            AT + "Connection refused\n\tIs the server running on that host?",
            DatabaseUnavailable,
            "Connection refused",
            "DATABASE_URL",
        ),
        (
            AT + "FATAL:  something that nobody knows yet",
            DatabaseRefused,
            "refuses the connection",
            "DATABASE_URL",
        ),
        (
            "server closed the connection unexpectedly",
            DatabaseUnavailable,
            "closed the connection",
            "try again",
        ),
    ],
)
def test_a_connection_that_was_not_made_is_told_by_its_reason(
    said: str, kind: type[MedirError], reason: str, mended: str
) -> None:
    refusal = refusal_of(psycopg.OperationalError(said))
    assert refusal is not None
    assert type(refusal) is kind
    assert reason in refusal.message
    assert mended in refusal.hint
    assert "\n" not in refusal.message


@pytest.mark.parametrize(
    ("state", "kind", "mended"),
    [
        ("25006", DatabaseReadOnly, "takes writes"),
        ("25P03", DatabaseUnavailable, "Try again"),
        ("3D000", DatabaseRefused, "createdb"),
        ("3F000", OperatorNeeded, "set search_path = public"),
        ("40001", DatabaseBusy, "Try again"),
        ("40P01", DatabaseBusy, "Try again"),
        ("42501", OperatorNeeded, "grant "),
        ("42703", DatabaseRefused, "create schema medir"),
        ("42P01", DatabaseRefused, "create schema medir"),
        ("42P07", DatabaseRefused, "create schema medir"),
        ("42710", DatabaseRefused, "create schema medir"),
        ("53100", DatabaseUnavailable, "Free it"),
        ("53300", DatabaseBusy, "connection limit"),
        ("55P03", DatabaseBusy, "Wait for it"),
        ("57014", DatabaseRefused, "statement_timeout"),
        ("57P01", DatabaseUnavailable, "try again"),
        ("57P05", DatabaseUnavailable, "idle_session_timeout"),
        ("0A000", DatabaseRefused, "PostgreSQL 15"),
        ("28000", DatabaseRefused, "user and password"),
        ("XX000", DatabaseRefused, "medir doctor"),
        ("42601", DatabaseRefused, "medir doctor"),
    ],
)
def test_a_statement_that_was_refused_is_told_by_its_state(
    state: str, kind: type[MedirError], mended: str
) -> None:
    refusal = refusal_of(psycopg.errors.lookup(state)("refused"), Asking(role="app", schema="medir"))
    assert refusal is not None
    assert type(refusal) is kind
    assert mended in refusal.hint


@pytest.mark.parametrize(
    ("said", "granted"),
    [
        ("permission denied for schema extensions", "grant usage, create on schema extensions to app"),
        (
            "permission denied for table chunks",
            "grant select, insert, update, delete on all tables in schema medir to app",
        ),
        ("permission denied for sequence adopted_settings_id_seq", "on all sequences in schema medir to app"),
        ("permission denied for database rails", "grant connect, create on database rails to app"),
    ],
)
def test_what_a_role_may_not_do_comes_with_the_grant(said: str, granted: str) -> None:
    refusal = refusal_of(psycopg.errors.InsufficientPrivilege(said), Asking(role="app", schema="medir"))
    assert refusal is not None
    assert granted in refusal.hint


def test_what_only_the_driver_objects_to_is_a_fault_of_ours() -> None:
    assert refusal_of(psycopg.ProgrammingError("can't adapt type 'object'")) is None


@pytest.mark.parametrize(
    ("state", "said", "kind", "reason", "mended"),
    [
        (
            "3D000",
            "FATAL:  Datenbank »nowhere« existiert nicht",
            DatabaseRefused,
            "that database can't be used: Datenbank »nowhere« existiert nicht.",
            "createdb",
        ),
        (
            "28P01",
            'FATAL:  autenticação do tipo senha falhou para usuário "app"',
            DatabaseRefused,
            "does not let this role in: autenticação do tipo senha falhou",
            "PGPASSFILE",
        ),
        (
            "53300",
            'ВАЖНО:  слишком много подключений для роли "app"',
            DatabaseBusy,
            "gives no further connection: слишком много подключений",
            "alter role app connection limit 10",
        ),
        (
            "42501",
            "FATAL:  keine Berechtigung für Datenbank »d«",
            OperatorNeeded,
            "keine Berechtigung für Datenbank »d«",
            "grant connect on database d to app",
        ),
        (
            "22023",
            "FATAL:  ungültiger Wert für Parameter »TimeZone«: »x«",
            DatabaseRefused,
            "asked for with the connection: ungültiger Wert",
            "PGTZ",
        ),
        (
            "55000",
            "FATAL:  Datenbank »d« akzeptiert gegenwärtig keine Verbindungen",
            DatabaseRefused,
            "d",
            "createdb",
        ),
        ("57P03", "致命错误:  数据库系统正在启动", DatabaseUnavailable, "数据库系统正在启动", "server runs"),
        ("08P01", "FATAL:  query_wait_timeout", DatabaseBusy, "gives no answer", "default_pool_size"),
        ("08P01", "FATAL:  no such database: d", DatabaseRefused, "no such database", "createdb"),
        ("XX000", "FATAL:  etwas", DatabaseRefused, "refuses the connection: etwas.", "DATABASE_URL"),
    ],
)
def test_a_server_that_lets_nobody_in_is_told_by_its_state_whatever_its_language(
    state: str, said: str, kind: type[MedirError], reason: str, mended: str
) -> None:
    error = psycopg.OperationalError(f"{AT}{said}")
    refusal = refusal_of(ConnectionRefused(error, state=state, role="app", database="d"))
    assert refusal is not None
    assert type(refusal) is kind
    assert reason in refusal.message
    assert mended in refusal.hint


def test_a_refusal_in_a_language_without_a_state_is_an_answer_and_no_outage() -> None:
    refusal = refusal_of(psycopg.OperationalError(f'{AT}ВАЖНО:  база данных "d" не существует'))
    assert type(refusal) is DatabaseRefused
    assert refusal.message == 'The database server refuses the connection: база данных "d" не существует.'


def test_a_denial_in_another_language_comes_with_the_grant_of_all_that_is_needed() -> None:
    asking = Asking(role="app", schema="medir", vector_schema="extensions")
    refusal = refusal_of(
        psycopg.errors.InsufficientPrivilege("keine Berechtigung für Tabelle chunks"), asking
    )
    assert refusal is not None
    for grant in (
        "grant usage, create on schema medir to app",
        "grant usage on schema extensions to app",
        "grant select, insert, update, delete on all tables in schema medir to app",
        "grant usage, select on all sequences in schema medir to app",
    ):
        assert grant in refusal.hint
