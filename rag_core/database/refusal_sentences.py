"""One sentence and the one command that mends it, for each way in which a server refuses."""

import re
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


def refused(reason: str, _asking: Asking) -> MedirError:
    """The server answers, and lets nobody in."""
    return DatabaseRefused(f"The database server refuses the connection: {reason}.", hint=CHECK_ADDRESS)


def unavailable(reason: str, _asking: Asking) -> MedirError:
    """No answer."""
    return DatabaseUnavailable(f"The database does not answer: {reason}.", hint=CHECK_ADDRESS)


def ended(reason: str, _asking: Asking) -> MedirError:
    """It ended the connection."""
    return DatabaseUnavailable(
        f"The server ended the connection: {reason}.",
        hint=f"Try again. If it keeps on: {psql('alter role current_user set idle_session_timeout = 0')}",
    )


def full(reason: str, _asking: Asking) -> MedirError:
    """Its disk or memory is full."""
    return DatabaseUnavailable(
        f"The database server is short of something: {reason}.", hint="Free it there, then try again."
    )


def too_many(reason: str, asking: Asking) -> MedirError:
    """It, or the role, has as many connections as it may."""
    named = re.search(r'role "(.+)"', reason)
    return DatabaseBusy(
        f"The server gives no further connection: {reason}.",
        hint=(
            "Close other connections. Where the role itself is held to so few, ask the operator to run once: "
            + psql(f"alter role {identifier(named[1] if named else asking.role)} connection limit 10")
        ),
    )


def no_server_free(reason: str, _asking: Asking) -> MedirError:
    """A connection over which nothing comes, as behind a pooler whose own are all in use."""
    return DatabaseBusy(
        f"The database took the connection, and gives no answer: {reason}.",
        hint=(
            "Try again when others have ended. A pooler must hold three connections to the server for a run: in "
            "pgbouncer, default_pool_size and max_db_connections of 3 or more."
        ),
    )


def held(reason: str, _asking: Asking) -> MedirError:
    """A lock did not come in time."""
    return DatabaseBusy(
        f"Somebody else holds what this needs: {reason}.", hint="Wait for it to end, then try again."
    )


def clash(reason: str, _asking: Asking) -> MedirError:
    """Others changed the same at the same time."""
    return DatabaseBusy(f"Others were in the way: {reason}.", hint="Try again.")


def slow(reason: str, _asking: Asking) -> MedirError:
    """A statement took longer than the server lets it."""
    return DatabaseRefused(
        f"The server ended a statement before it was done: {reason}.",
        hint=(
            "Where its statement_timeout is too short for this: "
            + psql("alter role current_user set statement_timeout = 0")
        ),
    )


def read_only(reason: str, _asking: Asking) -> MedirError:
    """Nothing can be written."""
    return DatabaseReadOnly(
        f"The database lets itself be read only: {reason}.",
        hint=(
            "Point DATABASE_URL at the server that takes writes. Where this one is read-only by a setting: "
            + psql(
                "begin read write; alter role current_user set default_transaction_read_only = off; commit"
            )
        ),
    )


def denied(reason: str, asking: Asking) -> MedirError:
    """The role may not do it."""
    return OperatorNeeded(
        f"This database role may not do that: {reason}.",
        hint=f"Ask the operator to run once: {grant_for(reason, asking)}",
    )


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


def no_connect(reason: str, asking: Asking) -> MedirError:
    """The role may not connect to the database, or not with what it asks for."""
    grant = psql(f"grant connect on database {identifier(asking.database)} to {identifier(asking.role)}")
    return OperatorNeeded(
        f"The database server does not let this role in: {reason}.",
        hint=(
            f"Ask the operator to run once: {grant} (as the owner of that database). "
            "Where DATABASE_URL or PGOPTIONS asks for `options`, the role must be allowed those."
        ),
    )


def not_let_in(reason: str, _asking: Asking) -> MedirError:
    """No such role, or a wrong password."""
    return DatabaseRefused(
        f"The database server does not let this role in: {reason}.",
        hint="Check user and password in DATABASE_URL (or PGPASSFILE), and the server's pg_hba.conf.",
    )


def no_database(reason: str, _asking: Asking) -> MedirError:
    """No such database, or one that takes no connections."""
    return DatabaseRefused(
        f"The server answers, and that database can't be used: {reason}.",
        hint="Name another in DATABASE_URL, or make it there: createdb --encoding=UTF8 --template=template0 NAME",
    )


def no_schema(reason: str, _asking: Asking) -> MedirError:
    """The search path names nothing."""
    return OperatorNeeded(
        f"The role's search_path names no schema that is there: {reason}.",
        hint=f"Run once: {psql('alter role current_user set search_path = public')}",
    )


def foreign(reason: str, _asking: Asking) -> MedirError:
    """Names of ours are taken."""
    return DatabaseRefused(
        f"Another application's things stand in the schema under names of ours: {reason}.", hint=OWN_SCHEMA
    )


def not_ours(reason: str, _asking: Asking) -> MedirError:
    """What ought to be there is not."""
    return DatabaseRefused(
        f"What stands in the database is not Medir's schema as this version makes it: {reason}.",
        hint=f"Run `medir doctor`. Where another application uses these names: {OWN_SCHEMA}",
    )


def unsupported(reason: str, _asking: Asking) -> MedirError:
    """The server is too old, or lacks a part."""
    return DatabaseRefused(
        f"The server does not support this: {reason}.",
        hint="Medir needs PostgreSQL 15 or newer with pgvector 0.8; see `medir doctor`.",
    )


def ssl(reason: str, _asking: Asking) -> MedirError:
    """No agreement on SSL."""
    return DatabaseRefused(
        f"The server and this machine do not agree on SSL: {reason}.",
        hint="Set sslmode and the certificates in DATABASE_URL, or by PGSSLMODE and its like.",
    )


def startup(reason: str, _asking: Asking) -> MedirError:
    """What is asked for with the connection is refused."""
    return DatabaseRefused(
        f"The server refuses what is asked for with the connection: {reason}.",
        hint=(
            "Mend `options` in DATABASE_URL, or unset PGOPTIONS, PGTZ and PGDATESTYLE. A pooler takes no options; set "
            f"them for the role, past the pooler: {psql('alter role current_user set search_path = medir')}"
        ),
    )


def service(reason: str, _asking: Asking) -> MedirError:
    """PGSERVICE names none."""
    return DatabaseRefused(
        f"The connection's service is not known: {reason}.",
        hint="Unset PGSERVICE, or name the file with that service in PGSERVICEFILE.",
    )


def attributes(reason: str, _asking: Asking) -> MedirError:
    """target_session_attrs fits no server."""
    return DatabaseRefused(
        f"No server is of the sort that was asked for: {reason}.",
        hint="Change target_session_attrs in DATABASE_URL, or unset PGTARGETSESSIONATTRS.",
    )
