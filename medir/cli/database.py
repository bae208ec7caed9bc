"""`medir db`: the database behind the installation."""

import os
from pathlib import Path

import click

from medir.cli.frame import Output, with_output
from medir.cli.paths import FILE_TO_READ, FILE_TO_WRITE
from medir.configuration import Configuration, load_configuration
from medir.wiring import database_url, embedded_server
from rag_core.database.address import shown_address
from rag_core.database.connections import Database
from rag_core.database.copies import dump, restore
from rag_core.database.migration import migrate, migration_status
from rag_core.database.server.server import EmbeddedServer
from rag_core.errors import Unavailable, UsageError
from rag_core.files import unfinished


@click.group("db")
def database() -> None:
    """Database: schema, embedded server, copies."""


@database.command("migrate")
@with_output
def migrate_verb(output: Output) -> None:
    """Bring the schema up to date."""
    with database_url(load_configuration()) as url:
        applied = migrate(url)
    output.emit({"applied": list(applied)})
    output.say(f"Applied: {', '.join(applied)}." if applied else "The schema is up to date.")


@database.command("status")
@with_output
def status_verb(output: Output) -> None:
    """Server, versions and schema; changes nothing."""
    config = load_configuration()
    server = embedded_server(config)
    if server is not None and not server.status().running:
        unknown = dict.fromkeys(("url", "version", "vectorVersion", "migration"))
        found: dict[str, object] = {**unknown, "embedded": True}
    else:
        url = config.database_url or (server.status().url if server else None) or ""
        found = _describe(url, embedded=server is not None)
    output.emit(found)
    if found["url"] is None:
        output.say(
            "The embedded server is not running. Any verb that needs it starts it, and so does `medir db start`."
        )
        return
    for key, value in found.items():
        output.say(f"{key}: {'-' if value is None else value}")


@database.command("start")
@with_output
def start_verb(output: Output) -> None:
    """Start the embedded server and keep it until `medir db stop`."""
    server = _required_server(load_configuration())
    url = server.keep()
    output.emit({"url": url, "embedded": True})
    output.say(f"The embedded server runs: {url}")


@database.command("stop")
@with_output
def stop_verb(output: Output) -> None:
    """Stop the embedded server."""
    stopped = _required_server(load_configuration()).stop()
    output.emit({"stopped": stopped})
    output.say("The embedded server is stopped." if stopped else "The embedded server was not running.")


@database.command("dump")
@click.argument("file", type=FILE_TO_WRITE)
@with_output
def dump_verb(output: Output, file: Path) -> None:
    """Write a copy of everything that Medir keeps to FILE."""
    config = load_configuration()
    if file.exists():
        raise _taken(file)
    copy = unfinished(file)
    with database_url(config) as url:
        try:
            dump(url, copy, ambient=config.database_url is not None)
            _name(copy, file)
        except Unavailable as error:
            raise type(error)(error.message.replace(str(copy), str(file)), hint=error.hint) from error
        finally:
            copy.unlink(missing_ok=True)
    output.emit({"file": str(file), "bytes": file.stat().st_size})
    output.say(f"Wrote {file} ({file.stat().st_size:,} bytes).")


@database.command("restore")
@click.argument("file", type=FILE_TO_READ)
@with_output
def restore_verb(output: Output, file: Path) -> None:
    """Fill an empty database from FILE."""
    config = load_configuration()
    with database_url(config) as url:
        with Database(url) as opened, opened.connection() as connection:
            if migration_status(connection).current:
                raise UsageError(
                    "The database holds a Medir schema already.",
                    hint="Restore into an empty one: another DATABASE_URL, or a new MEDIR_HOME.",
                )
        restore(url, file, ambient=config.database_url is not None)
        applied = migrate(url)
    output.emit({"file": str(file), "applied": list(applied)})
    output.say(f"Restored {file}.")


def _describe(url: str, *, embedded: bool) -> dict[str, object]:
    with Database(url) as opened, opened.connection() as connection:
        row = connection.execute(
            "select current_setting('server_version'), (select extversion from pg_extension where extname = 'vector')"
        ).fetchone()
        migration = migration_status(connection)
    return {
        "url": shown_address(url),
        "version": row[0] if row else None,
        "vectorVersion": row[1] if row else None,
        "migration": migration.current,
        "pending": list(migration.pending),
        "embedded": embedded,
    }


def _required_server(config: Configuration) -> EmbeddedServer:
    server = embedded_server(config)
    if server is None:
        raise UsageError(
            "DATABASE_URL names a server, so the embedded one is not used.",
            hint="Start and stop that server by its own means.",
        )
    return server


def _name(copy: Path, file: Path) -> None:
    """Give a copy that is whole its name, in one step."""
    try:
        with copy.open("rb") as written:
            os.fsync(written.fileno())
        if file.exists():
            raise _taken(file)
        copy.rename(file)
    except OSError as error:
        raise UsageError(
            f"{file} can't be written: {error.strerror}.", hint="Name a file in a folder that can be written."
        ) from error


def _taken(file: Path) -> UsageError:
    return UsageError(f"{file} exists already.", hint="Name a new file; a copy never overwrites.")
