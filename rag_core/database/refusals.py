"""What the server refuses, in our words: one sentence, and the one command that mends it.

A statement's error carries an SQLSTATE. That of a connection that was never made carries none, and is known by its
words, which are English unless the operator chose another language; then the sentence is the server's own.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

import psycopg

from rag_core.database.address import identifier, psql
from rag_core.errors import (
    DatabaseBusy,
    DatabaseReadOnly,
    DatabaseRefused,
    DatabaseUnavailable,
    MedirError,
    OperatorNeeded,
)

CHECK_ADDRESS = "Check that the server runs and that DATABASE_URL is right, then try again."
OWN_SCHEMA = (
    'Give Medir a schema of its own: psql "$DATABASE_URL" -c "create schema medir", then end DATABASE_URL with '
    "?options=-csearch_path%3Dmedir"
)

_PREFIX = re.compile(r'^(?:- )?.*?\bfailed: (?=(?:[A-Z]+:|could|SSL|server|no |root|timeout|invalid|[^"]*$))')
_DENIED = re.compile(r'permission denied for (\w+(?: \w+)*?) "?([^"]+)"?$')
_TOO_MANY = re.compile(
    r"too many connections|too many clients|connection slots are reserved|no more connections allowed",
    re.IGNORECASE,
)
_AWAY = re.compile(
    r"the database system is|terminating connection|server_login_retry|pgbouncer cannot connect",
    re.IGNORECASE,
)
_NO_DATABASE = re.compile(
    r'database ".*" does not exist|no such database|permission denied for database', re.IGNORECASE
)
_NOT_LET_IN = re.compile(
    r"authentication|no password|role .* does not exist|not permitted to log in|pg_hba\.conf|SCRAM|no such user|"
    r"password|bad auth|auth failed",
    re.IGNORECASE,
)
_SSL = re.compile(r"\bSSL\b|certificate|sslmode|sslrootcert|\btls\b", re.IGNORECASE)
_STARTUP = re.compile(
    r"startup parameter|invalid value for parameter|unrecognized configuration parameter|invalid command-line",
    re.IGNORECASE,
)
_SERVICE = re.compile(r"definition of service|service file", re.IGNORECASE)
_ATTRIBUTES = re.compile(r"session is (?:not )?read-only|server is (?:not )?in hot standby", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """Who asked, and in which schema: named in the command that mends it."""

    role: str = "ROLE"
    schema: str = "public"


def refusal_of(error: psycopg.Error, asking: Asking | None = None) -> MedirError | None:
    """The error in our words; None for one that the server has no part in."""
    state = error.sqlstate
    if state is None:
        outage = isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
        return _of_connection(told(error), answered="FATAL" in str(error)) if outage else None
    for classes, make in _BY_STATE:
        if state.startswith(classes):
            return make(told(error), asking or Asking())
    return DatabaseRefused(
        f"The database refused a statement: {told(error)} (SQLSTATE {state}).",
        hint="Run `medir doctor`; please report it if that finds nothing.",
    )


def told(error: psycopg.Error) -> str:
    """The reason in the driver's words, in one line and without its attempts before it."""
    if error.diag.message_primary:
        return error.diag.message_primary.splitlines()[0].rstrip(".")
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    line = next((line for line in lines if "FATAL" in line or "ERROR:" in line), lines[0])
    line = _PREFIX.sub("", line)
    return re.sub(r"^(?:FATAL|ERROR) ?: +", "", line).rstrip(".")


def _of_connection(reason: str, *, answered: bool) -> MedirError:
    for pattern, make in _BY_WORDS:
        if pattern.search(reason):
            return make(reason, Asking())
    if answered:
        return DatabaseRefused(f"The database server refuses the connection: {reason}.", hint=CHECK_ADDRESS)
    return _unavailable(reason, Asking())


def _unavailable(reason: str, _asking: Asking) -> MedirError:
    return DatabaseUnavailable(f"The database does not answer: {reason}.", hint=CHECK_ADDRESS)


def _ended(reason: str, _asking: Asking) -> MedirError:
    return DatabaseUnavailable(
        f"The server ended the connection: {reason}.",
        hint=f"Try again. If it keeps on: {psql('alter role current_user set idle_session_timeout = 0')}",
    )


def _full(reason: str, _asking: Asking) -> MedirError:
    return DatabaseUnavailable(
        f"The database server is short of something: {reason}.", hint="Free it there, then try again."
    )


def _too_many(reason: str, asking: Asking) -> MedirError:
    named = re.search(r'role "(.+)"', reason)
    return DatabaseBusy(
        f"The server gives no further connection: {reason}.",
        hint=(
            "Close other connections. Where the role itself is held to so few, ask the operator to run once: "
            + psql(f"alter role {identifier(named[1] if named else asking.role)} connection limit 10")
        ),
    )


def _held(reason: str, _asking: Asking) -> MedirError:
    return DatabaseBusy(
        f"Somebody else holds what this needs: {reason}.", hint="Wait for it to end, then try again."
    )


def _clash(reason: str, _asking: Asking) -> MedirError:
    return DatabaseBusy(f"Others were in the way: {reason}.", hint="Try again.")


def _slow(reason: str, _asking: Asking) -> MedirError:
    return DatabaseRefused(
        f"The server ended a statement before it was done: {reason}.",
        hint=(
            "Where its statement_timeout is too short for this: "
            + psql("alter role current_user set statement_timeout = 0")
        ),
    )


def _read_only(reason: str, _asking: Asking) -> MedirError:
    return DatabaseReadOnly(
        f"The database lets itself be read only: {reason}.",
        hint=(
            "Point DATABASE_URL at the server that takes writes. Where this one is read-only by a setting: "
            + psql(
                "begin read write; alter role current_user set default_transaction_read_only = off; commit"
            )
        ),
    )


def _denied(reason: str, asking: Asking) -> MedirError:
    return OperatorNeeded(
        f"This database role may not do that: {reason}.",
        hint=f"Ask the operator to run once: {grant_for(reason, asking)}",
    )


def grant_for(reason: str, asking: Asking) -> str:
    """The command that lets a role do what it was refused, by the server's words."""
    role, schema = identifier(asking.role), identifier(asking.schema)
    found = _DENIED.search(reason)
    kind, name = (found[1], identifier(found[2])) if found else ("", "")
    grants = {
        "schema": f"grant usage, create on schema {name} to {role}",
        "database": f"grant connect, create on database {name} to {role}",
        "function": f"grant execute on all functions in schema {schema} to {role}",
    }
    on_tables = (
        f"grant select, insert, update, delete on all tables in schema {schema} to {role}; "
        f"grant usage, select on all sequences in schema {schema} to {role}"
    )
    return f"{psql(grants.get(kind, on_tables))} (as the owner of what is granted)"


def _not_let_in(reason: str, _asking: Asking) -> MedirError:
    return DatabaseRefused(
        f"The database server does not let this role in: {reason}.",
        hint="Check user and password in DATABASE_URL (or PGPASSFILE), and the server's pg_hba.conf.",
    )


def _no_database(reason: str, _asking: Asking) -> MedirError:
    return DatabaseRefused(
        f"The server answers, and that database can't be used: {reason}.",
        hint="Name another in DATABASE_URL, or make it there: createdb --encoding=UTF8 --template=template0 NAME",
    )


def _no_schema(reason: str, _asking: Asking) -> MedirError:
    return OperatorNeeded(
        f"The role's search_path names no schema that is there: {reason}.",
        hint=f"Run once: {psql('alter role current_user set search_path = public')}",
    )


def _foreign(reason: str, _asking: Asking) -> MedirError:
    return DatabaseRefused(
        f"Another application's things stand in the schema under names of ours: {reason}.", hint=OWN_SCHEMA
    )


def _not_ours(reason: str, _asking: Asking) -> MedirError:
    return DatabaseRefused(
        f"What stands in the database is not Medir's schema as this version makes it: {reason}.",
        hint=f"Run `medir doctor`. Where another application uses these names: {OWN_SCHEMA}",
    )


def _unsupported(reason: str, _asking: Asking) -> MedirError:
    return DatabaseRefused(
        f"The server does not support this: {reason}.",
        hint="Medir needs PostgreSQL 15 or newer with pgvector 0.8; see `medir doctor`.",
    )


def _ssl(reason: str, _asking: Asking) -> MedirError:
    return DatabaseRefused(
        f"The server and this machine do not agree on SSL: {reason}.",
        hint="Set sslmode and the certificates in DATABASE_URL, or by PGSSLMODE and its like.",
    )


def _startup(reason: str, _asking: Asking) -> MedirError:
    return DatabaseRefused(
        f"The server refuses what is asked for with the connection: {reason}.",
        hint=(
            "Mend `options` in DATABASE_URL, or unset PGOPTIONS, PGTZ and PGDATESTYLE. A pooler takes no options; set "
            f"them for the role, past the pooler: {psql('alter role current_user set search_path = medir')}"
        ),
    )


def _service(reason: str, _asking: Asking) -> MedirError:
    return DatabaseRefused(
        f"The connection's service is not known: {reason}.",
        hint="Unset PGSERVICE, or name the file with that service in PGSERVICEFILE.",
    )


def _attributes(reason: str, _asking: Asking) -> MedirError:
    return DatabaseRefused(
        f"No server is of the sort that was asked for: {reason}.",
        hint="Change target_session_attrs in DATABASE_URL, or unset PGTARGETSESSIONATTRS.",
    )


_BY_WORDS: tuple[tuple[re.Pattern[str], Callable[[str, Asking], MedirError]], ...] = (
    (_TOO_MANY, _too_many),
    (_AWAY, _unavailable),
    (_NO_DATABASE, _no_database),
    (_SSL, _ssl),
    (_STARTUP, _startup),
    (_SERVICE, _service),
    (_ATTRIBUTES, _attributes),
    (_NOT_LET_IN, _not_let_in),
)

# the first that fits, by the beginning of the SQLSTATE
_BY_STATE: tuple[tuple[tuple[str, ...], Callable[[str, Asking], MedirError]], ...] = (
    (("53300",), _too_many),
    (("53",), _full),
    (("25P03", "25P04", "57P05"), _ended),
    (("57014",), _slow),
    (("08", "57", "58"), _unavailable),
    (("25006",), _read_only),
    (("42501",), _denied),
    (("55P03",), _held),
    (("40", "55006"), _clash),
    (("42P07", "42710", "42P06"), _foreign),
    (("3F000",), _no_schema),
    (("42P01", "42703", "42704", "42883"), _not_ours),
    (("3D000",), _no_database),
    (("28",), _not_let_in),
    (("0A",), _unsupported),
)
