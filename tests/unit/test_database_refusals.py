"""What a server refuses, in our words: which error, and what mends it."""

import psycopg
import pytest

from rag_core.database.refusals import Asking, refusal_of
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
