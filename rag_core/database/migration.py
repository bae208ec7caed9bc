"""The migration runner: numbered SQL files, forward only, each in one transaction with its record.

A record holds the file's checksum, so an edited migration is refused. What is pending is applied in one transaction,
under a lock that ends with it, also behind a pooler: two processes that migrate at once wait for each other. Where
nothing is pending, nothing is written, locked or asked for: a standby serves as well.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from typing import LiteralString, cast

import psycopg

from rag_core.database.address import psql
from rag_core.database.connecting import Connection, connect
from rag_core.database.connections import find_vector, set_parameters, translated_errors
from rag_core.database.refusal_sentences import OWN_SCHEMA, Asking
from rag_core.database.standing import read_standing, require_place, require_server
from rag_core.errors import DatabaseBusy, DatabaseRefused, OperatorNeeded, Refused, Unavailable

_LOCK = 7_305_246_119
_WAIT_FOR_LOCK_S = 30.0
_MINIMUM_VECTOR = (0, 8)
_CREATE_EXTENSION = f"{psql('create extension vector')} (as a superuser of that database)"
_END_HOLDER = psql(
    "select pg_terminate_backend(pid) from pg_locks "
    "where locktype = 'advisory' and (classid::bigint << 32) + objid::bigint = 7305246119"
)
_RECORD = frozenset({"number", "name", "checksum", "applied_at"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """One SQL file. `number` orders it, `checksum` is the SHA-256 of its text."""

    number: int
    name: str
    sql: str

    @property
    def checksum(self) -> str:
        """64 hex digits."""
        return hashlib.sha256(self.sql.encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class MigrationStatus:
    """What a database has and lacks. `current` is 0 for an empty one."""

    current: int
    pending: tuple[str, ...]


def shipped_migrations() -> tuple[Migration, ...]:
    """The files of `rag_core/database/migrations`, in order."""
    folder = resources.files("rag_core.database") / "migrations"
    files = sorted((entry for entry in folder.iterdir() if entry.name.endswith(".sql")), key=lambda e: e.name)
    return tuple(
        Migration(
            number=int(entry.name.split("_", 1)[0]),
            name=entry.name.removesuffix(".sql"),
            sql=entry.read_text(encoding="utf-8"),
        )
        for entry in files
    )


def migrate(
    url: str, migrations: Sequence[Migration] | None = None, *, wait_s: float = _WAIT_FOR_LOCK_S
) -> tuple[str, ...]:
    """Bring the database up to date; returns the names of what was applied.

    `migrations` are others than those of this version; `wait_s` is how long another process, or a table in use,
    is waited for.

    Raises:
        OperatorNeeded: The role may not do what is pending; nothing was made.
        Unavailable: The server or pgvector is too old, or its letters' cases are others than Unicode's.
        Refused: An applied migration was edited, or the database is newer than this program.
        DatabaseRefused: Another application's tables stand there under names of ours.
        DatabaseBusy: Another process migrates, and does not end in time.
        DatabaseUnavailable: The server does not answer.
    """
    wanted = tuple(migrations if migrations is not None else shipped_migrations())
    with translated_errors(), connect(url) as connection:
        standing = read_standing(connection)
        require_server(standing)
        with translated_errors(Asking(role=standing.role, schema=standing.schema or "public")):
            pending = _pending(connection, wanted)
            if pending:
                require_place(standing, pending[0].name)
                pending = _apply_under_lock(connection, wanted, wait_s)
            _require_vector(connection)
        return tuple(migration.name for migration in pending)


def migration_status(connection: Connection) -> MigrationStatus:
    """What is applied and what is pending; read-only.

    Raises:
        DatabaseRefused: The table of that name is another application's.
    """
    applied = _applied(connection)
    return MigrationStatus(
        current=max(applied, default=0),
        pending=tuple(m.name for m in shipped_migrations() if m.number not in applied),
    )


def _pending(connection: Connection, wanted: Sequence[Migration]) -> list[Migration]:
    applied = _applied(connection)
    _check_history(applied, wanted)
    return [migration for migration in wanted if migration.number not in applied]


def _apply_under_lock(connection: Connection, wanted: Sequence[Migration], wait_s: float) -> list[Migration]:
    with connection.transaction():
        set_parameters(connection, {"lock_timeout": f"{wait_s * 1000:.0f}ms"})
        _lock(connection)
        # whoever held it may have done all of this meanwhile
        pending = _pending(connection, wanted)
        if pending:
            ensure_extension(connection)
            found = find_vector(connection)
            if found is not None and found.path is not None:
                set_parameters(connection, {"search_path": found.path})
        for migration in pending:
            _apply(connection, migration)
    return pending


def _lock(connection: Connection) -> None:
    try:
        connection.execute("select pg_advisory_xact_lock(%s)", (_LOCK,))
    except psycopg.errors.LockNotAvailable as error:
        raise DatabaseBusy(
            "Another process is bringing this database up to date, or a lock of one was left behind.",
            hint=(
                "Wait for it, then try again. Behind a pooler, a lock that an earlier Medir left goes with its "
                "connection: " + _END_HOLDER
            ),
        ) from error


def _apply(connection: Connection, migration: Migration) -> None:
    connection.execute(
        """
        create table if not exists schema_migrations (
            number integer primary key,
            name text not null,
            checksum text not null,
            applied_at timestamptz not null default now()
        )
        """
    )
    # the text comes from a file of this package, reviewed like any code
    connection.execute(cast("LiteralString", migration.sql))
    connection.execute(
        "insert into schema_migrations (number, name, checksum) values (%s, %s, %s)",
        (migration.number, migration.name, migration.checksum),
    )


def _applied(connection: Connection) -> dict[int, tuple[str, str]]:
    # one row where the name is found on the search path, and by it whose table it is
    row = connection.execute(
        """
        select array_agg(a.attname::text), c.relnamespace::regnamespace::text,
            bool_and(has_table_privilege(c.oid, 'select'))
        from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
        where c.oid = to_regclass('schema_migrations')
        group by c.oid
        """
    ).fetchone()
    if row is None:
        return {}
    columns, schema, readable = row
    if not set(columns) >= _RECORD:
        raise DatabaseRefused(
            f"Another application keeps its migrations in {schema}.schema_migrations, which is the name of our table.",
            hint=OWN_SCHEMA,
        )
    if not readable:
        # told by the server itself, with what it takes
        connection.execute("select from schema_migrations limit 0")
    # a row is an applied migration, in order of its number
    rows = connection.execute(
        "select number, name, checksum from schema_migrations order by number"
    ).fetchall()
    return {number: (name, checksum) for number, name, checksum in rows}


def _check_history(applied: dict[int, tuple[str, str]], wanted: Sequence[Migration]) -> None:
    by_number = {migration.number: migration for migration in wanted}
    for number, (name, checksum) in applied.items():
        if number not in by_number:
            raise Refused(
                f"The database has migration {name}, which this version of Medir does not know.",
                hint="Use the newer Medir that made it, or another database.",
            )
        if by_number[number].checksum != checksum:
            raise Refused(
                f"Migration {name} was edited after it had been applied.",
                hint="Restore its file; changes go into a new migration.",
            )


def ensure_extension(connection: Connection) -> None:
    """Make the extension where it is missing.

    Raises:
        OperatorNeeded: The role may not.
        Unavailable: pgvector is not installed there.
    """
    if find_vector(connection) is not None:
        return
    try:
        connection.execute("create extension if not exists vector")
    except psycopg.errors.InsufficientPrivilege as error:
        raise OperatorNeeded(
            "This database role may not create the extension `vector`.",
            hint=f"Ask the operator to run once: {_CREATE_EXTENSION}",
        ) from error
    except (psycopg.errors.UndefinedFile, psycopg.errors.FeatureNotSupported) as error:
        raise Unavailable(
            "pgvector is not installed on the database server.",
            hint="Install pgvector 0.8 or newer there, or leave DATABASE_URL out to use the embedded server.",
        ) from error


def _require_vector(connection: Connection) -> None:
    found = find_vector(connection)
    if found is None:
        raise OperatorNeeded(
            "The extension `vector` has gone from the database.",
            hint=f"Restore the database from a copy, or ask the operator to run once: {_CREATE_EXTENSION}",
        )
    if tuple(int(part) for part in found.version.split(".")[:2]) < _MINIMUM_VECTOR:
        raise OperatorNeeded(
            f"The database has pgvector {found.version}; Medir needs 0.8 or newer.",
            hint=f"Ask the operator to run once: {psql('alter extension vector update')}",
        )
