"""One sentence and the one command that mends it, for each way in which a server refuses."""

import re
from collections.abc import Callable
from dataclasses import dataclass

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

_DENIED = re.compile(r'permission denied for (\w+(?: \w+)*?) "?([^"]+)"?$')


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """Who asked, and where: named in the command that mends it."""

    role: str = "ROLE"
    schema: str = "public"
    vector_schema: str | None = None
    database: str = "DATABASE"


@dataclass(frozen=True, slots=True)
class Refusal:
    """One way to refuse: what is said before the server's own words, and the one command that mends it."""

    kind: type[MedirError]
    sentence: str
    hint: str | Callable[[str, Asking], str]

    def __call__(self, reason: str, asking: Asking) -> MedirError:
        """The error that says so."""
        hint = self.hint if isinstance(self.hint, str) else self.hint(reason, asking)
        return self.kind(f"{self.sentence}: {reason}.", hint=hint)


def grant_for(reason: str, asking: Asking) -> str:
    """The command that lets a role do what it was refused: exactly where the server names it in English, else all."""
    role = identifier(asking.role)
    schema = identifier(asking.schema)
    found = _DENIED.search(reason)
    kind, name = (found[1], identifier(found[2])) if found else ("", "")
    on_tables = (
        f"grant select, insert, update, delete on all tables in schema {schema} to {role}; "
        f"grant usage, select on all sequences in schema {schema} to {role}"
    )
    grants = {
        "schema": f"grant usage, create on schema {name} to {role}",
        "database": f"grant connect, create on database {name} to {role}",
        "function": f"grant execute on all functions in schema {schema} to {role}",
        "table": on_tables,
        "sequence": on_tables,
    }
    other = asking.vector_schema if asking.vector_schema != asking.schema else None
    whole = (
        f"grant usage, create on schema {schema} to {role}; "
        + (f"grant usage on schema {identifier(other)} to {role}; " if other else "")
        + on_tables
    )
    return f"{psql(grants.get(kind, whole))} (as the owner of what is granted)"


def _limit_raised(reason: str, asking: Asking) -> str:
    named = re.search(r'role "(.+)"', reason)
    return (
        "Close other connections. Where the role itself is held to so few, ask the operator to run once: "
        + psql(f"alter role {identifier(named[1] if named else asking.role)} connection limit 10")
    )


def _let_in(_reason: str, asking: Asking) -> str:
    grant = psql(f"grant connect on database {identifier(asking.database)} to {identifier(asking.role)}")
    return (
        f"Ask the operator to run once: {grant} (as the owner of that database). "
        "Where DATABASE_URL or PGOPTIONS asks for `options`, the role must be allowed those."
    )


refused = Refusal(DatabaseRefused, "The database server refuses the connection", CHECK_ADDRESS)
"""The server answers, and lets nobody in."""

unavailable = Refusal(DatabaseUnavailable, "The database does not answer", CHECK_ADDRESS)
"""No answer."""

ended = Refusal(
    DatabaseUnavailable,
    "The server ended the connection",
    f"Try again. If it keeps on: {psql('alter role current_user set idle_session_timeout = 0')}",
)
"""It ended the connection."""

full = Refusal(
    DatabaseUnavailable, "The database server is short of something", "Free it there, then try again."
)
"""Its disk or memory is full."""

too_many = Refusal(DatabaseBusy, "The server gives no further connection", _limit_raised)
"""It, or the role, has as many connections as it may."""

no_server_free = Refusal(
    DatabaseBusy,
    "The database took the connection, and gives no answer",
    (
        "Try again when others have ended. A pooler must hold three connections to the server for a run: in "
        "pgbouncer, default_pool_size and max_db_connections of 3 or more."
    ),
)
"""A connection over which nothing comes, as behind a pooler whose own are all in use."""

held = Refusal(DatabaseBusy, "Somebody else holds what this needs", "Wait for it to end, then try again.")
"""A lock did not come in time."""

clash = Refusal(DatabaseBusy, "Others were in the way", "Try again.")
"""Others changed the same at the same time."""

slow = Refusal(
    DatabaseRefused,
    "The server ended a statement before it was done",
    (
        "Where its statement_timeout is too short for this: "
        + psql("alter role current_user set statement_timeout = 0")
    ),
)
"""A statement took longer than the server lets it."""

read_only = Refusal(
    DatabaseReadOnly,
    "The database lets itself be read only",
    (
        "Point DATABASE_URL at the server that takes writes. Where this one is read-only by a setting: "
        + psql("begin read write; alter role current_user set default_transaction_read_only = off; commit")
    ),
)
"""Nothing can be written."""

denied = Refusal(
    OperatorNeeded,
    "This database role may not do that",
    lambda reason, asking: f"Ask the operator to run once: {grant_for(reason, asking)}",
)
"""The role may not do it."""

no_connect = Refusal(OperatorNeeded, "The database server does not let this role in", _let_in)
"""The role may not connect to the database, or not with what it asks for."""

not_let_in = Refusal(
    DatabaseRefused,
    "The database server does not let this role in",
    "Check user and password in DATABASE_URL (or PGPASSFILE), and the server's pg_hba.conf.",
)
"""No such role, or a wrong password."""

no_database = Refusal(
    DatabaseRefused,
    "The server answers, and that database can't be used",
    "Name another in DATABASE_URL, or make it there: createdb --encoding=UTF8 --template=template0 NAME",
)
"""No such database, or one that takes no connections."""

no_schema = Refusal(
    OperatorNeeded,
    "The role's search_path names no schema that is there",
    f"Run once: {psql('alter role current_user set search_path = public')}",
)
"""The search path names nothing."""

foreign = Refusal(
    DatabaseRefused, "Another application's things stand in the schema under names of ours", OWN_SCHEMA
)
"""Names of ours are taken."""

not_ours = Refusal(
    DatabaseRefused,
    "What stands in the database is not Medir's schema as this version makes it",
    f"Run `medir doctor`. Where another application uses these names: {OWN_SCHEMA}",
)
"""What ought to be there is not."""

unsupported = Refusal(
    DatabaseRefused,
    "The server does not support this",
    "Medir needs PostgreSQL 15 or newer with pgvector 0.8; see `medir doctor`.",
)
"""The server is too old, or lacks a part."""

ssl = Refusal(
    DatabaseRefused,
    "The server and this machine do not agree on SSL",
    "Set sslmode and the certificates in DATABASE_URL, or by PGSSLMODE and its like.",
)
"""No agreement on SSL."""

startup = Refusal(
    DatabaseRefused,
    "The server refuses what is asked for with the connection",
    (
        "Mend `options` in DATABASE_URL, or unset PGOPTIONS, PGTZ and PGDATESTYLE. A pooler takes no options; set "
        f"them for the role, past the pooler: {psql('alter role current_user set search_path = medir')}"
    ),
)
"""What is asked for with the connection is refused."""

service = Refusal(
    DatabaseRefused,
    "The connection's service is not known",
    "Unset PGSERVICE, or name the file with that service in PGSERVICEFILE.",
)
"""PGSERVICE names none."""

attributes = Refusal(
    DatabaseRefused,
    "No server is of the sort that was asked for",
    "Change target_session_attrs in DATABASE_URL, or unset PGTARGETSESSIONATTRS.",
)
"""target_session_attrs fits no server."""
