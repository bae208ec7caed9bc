"""The migration runner: numbered SQL files, forward only, each in one transaction with its record.

A record holds the file's checksum, so an edited migration is refused. Two processes that migrate at once
wait for each other on an advisory lock.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from typing import LiteralString, cast

import psycopg

from rag_core.database.connections import Connection, translated_errors
from rag_core.errors import OperatorNeeded, Refused, Unavailable

_LOCK = 7_305_246_119
_MINIMUM_SERVER = 150_000
_MINIMUM_VECTOR = (0, 8)
_CREATE_EXTENSION = 'psql "$DATABASE_URL" -c "create extension vector" (as a superuser of that database)'


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


def migrate(url: str, migrations: Sequence[Migration] | None = None) -> tuple[str, ...]:
    """Bring the database up to date; returns the names of what was applied.

    Raises:
        OperatorNeeded: The role may not create the extension; nothing was made.
        Unavailable: The server or pgvector is too old.
        Refused: An applied migration was edited, or the database is newer than this program.
        DatabaseUnavailable: The server does not answer.
    """
    wanted = tuple(migrations if migrations is not None else shipped_migrations())
    with translated_errors(), psycopg.connect(url, autocommit=True, connect_timeout=5) as connection:
        connection.execute("select pg_advisory_lock(%s)", (_LOCK,))
        try:
            _check_server(connection)
            _ensure_extension(connection)
            applied = _applied(connection)
            _check_history(applied, wanted)
            pending = [migration for migration in wanted if migration.number not in applied]
            for migration in pending:
                _apply(connection, migration)
            return tuple(migration.name for migration in pending)
        finally:
            connection.execute("select pg_advisory_unlock(%s)", (_LOCK,))


def migration_status(connection: Connection) -> MigrationStatus:
    """What is applied and what is pending; read-only."""
    applied = _applied(connection)
    return MigrationStatus(
        current=max(applied, default=0),
        pending=tuple(m.name for m in shipped_migrations() if m.number not in applied),
    )


def _apply(connection: Connection, migration: Migration) -> None:
    with connection.transaction():
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
    if connection.execute("select to_regclass('schema_migrations')").fetchone() == (None,):
        return {}
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


def _check_server(connection: Connection) -> None:
    if connection.info.server_version < _MINIMUM_SERVER:
        raise Unavailable(
            f"The server is PostgreSQL {connection.info.server_version // 10_000}; Medir needs 15 or newer.",
            hint="Point DATABASE_URL at a newer server, or leave it out to use the embedded one.",
        )
    if connection.execute("select getdatabaseencoding()").fetchone() != ("UTF8",):
        raise Unavailable(
            "The database is not in UTF-8.",
            hint="Create one with: create database medir encoding 'UTF8' template template0;",
        )
    if connection.execute("select lower('É') = 'é'").fetchone() != (True,):
        raise Unavailable(
            "The database's locale does not know accented letters.",
            hint="Create one with: create database medir encoding 'UTF8' lc_ctype 'C.UTF-8' template template0;",
        )


def _ensure_extension(connection: Connection) -> None:
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
    row = connection.execute("select extversion from pg_extension where extname = 'vector'").fetchone()
    version = row[0] if row else "0"
    if tuple(int(part) for part in version.split(".")[:2]) < _MINIMUM_VECTOR:
        raise OperatorNeeded(
            f"The database has pgvector {version}; Medir needs 0.8 or newer.",
            hint='Ask the operator to run once: psql "$DATABASE_URL" -c "alter extension vector update"',
        )
