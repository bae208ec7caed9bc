"""Copies by PostgreSQL's own programs: written and read back under the rights that migrating takes, and no more.

A copy holds what stands in Medir's schema, whoever else uses the database. Its extension is made as `migrate` makes it,
so that an ordinary role can read a copy back where an operator has made the extension.
"""

import os
import re
import subprocess
import tempfile
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

from rag_core.database.address import identifier, program_address, psql
from rag_core.database.connecting import Connection, connect
from rag_core.database.connections import find_vector, translated_errors
from rag_core.database.migration import ensure_extension
from rag_core.database.server.cluster import installed_programs
from rag_core.database.standing import read_standing, require_place, require_server
from rag_core.errors import DatabaseRefused, InvalidInput, OperatorNeeded, Unavailable

# what no ordinary role may make, and every database that a copy is read into has
_NOT_OURS = re.compile(r"\d+; \d+ \d+ (?:EXTENSION|COMMENT - EXTENSION|SCHEMA|COMMENT - SCHEMA|ACL) ")
_TABLE = re.compile(r"\d+; \d+ \d+ TABLE (\S+) schema_migrations ")
_NOT_CONNECTED = "connection to server"
_ENDING_S = 2.0
_PLAIN = ("--no-owner", "--no-privileges", "--no-password")
_VECTOR = re.compile(r"CREATE EXTENSION IF NOT EXISTS vector WITH SCHEMA (\S+);")


def dump(url: str, file: Path, *, ambient: bool) -> None:
    """Copy the schema that this role's tables stand in, and the extension beside it, into a file.

    What is there is overwritten. `ambient`: the caller's own environment counts for connections.

    Raises:
        DatabaseRefused: There is nothing of Medir's.
        OperatorNeeded: The role may not read all of it.
        Unavailable: The server can't be reached, or the file can't be written.
    """
    with translated_errors(), connect(url) as connection:
        schema = _readable_schema(connection)
    arguments = [f"--schema={schema}", "--extension=vector", *_PLAIN, "--format=custom", f"--file={file}"]
    _run_on(url, "pg_dump", arguments, ambient=ambient)


def restore(url: str, file: Path, *, ambient: bool) -> None:
    """Fill a database that holds no schema of Medir's from a copy; all of it or nothing.

    `ambient`: the caller's own environment counts for connections.

    Raises:
        OperatorNeeded: The role may not make tables, or the extension is missing.
        DatabaseRefused: The copy was made of another schema than the one this role makes tables in.
        InvalidInput: The file is no copy.
    """
    entries = _entries(file)
    with translated_errors(), connect(url) as connection:
        standing = read_standing(connection)
        require_server(standing)
        require_place(standing, "what the copy holds")
        _require_schema(entries, standing.schema or "")
        ensure_extension(connection)
        found = find_vector(connection)
    _require_vector_schema(file, found.schema if found else "")
    with tempfile.NamedTemporaryFile("w", suffix=".list", encoding="utf-8") as chosen:
        chosen.write("\n".join(line for line in entries if not _NOT_OURS.match(line)) + "\n")
        chosen.flush()
        _run_on(
            url,
            "pg_restore",
            [*_PLAIN, "--single-transaction", f"--use-list={chosen.name}", str(file)],
            ambient=ambient,
        )


def _readable_schema(connection: Connection) -> str:
    """The schema that Medir's tables stand in, as pg_dump takes it, which reads every table and sequence of it."""
    row = connection.execute(
        """
        select relnamespace::regnamespace::text, relnamespace, current_user::text
        from pg_class where oid = to_regclass('schema_migrations')
        """
    ).fetchone()
    if row is None:
        raise DatabaseRefused(
            "The database holds nothing of Medir's.", hint="Make it first: medir db migrate"
        )
    schema, number, role = row
    closed = connection.execute(
        """
        select min(relname::text) from pg_class
        where relnamespace = %s and relkind in ('r', 'p', 'S', 'v', 'm') and not has_table_privilege(oid, 'select')
        """,
        (number,),
    ).fetchone()
    if closed is not None and closed[0] is not None:
        to = f"in schema {schema} to {identifier(role)}"
        grant = psql(f"grant select on all tables {to}; grant select on all sequences {to}")
        raise OperatorNeeded(
            f"The role {role} may not read all that a copy holds: not {closed[0]}.",
            hint=f"Ask the operator to run once: {grant} (as the owner of what is granted)",
        )
    return str(schema)


def _run_on(url: str, name: str, arguments: Iterable[str], *, ambient: bool) -> None:
    # no secret of the address stands on a command line
    with translated_errors(), connect(url) as connection:
        database = connection.info.dbname
    address = program_address(url, database=database, ambient=ambient)
    command = [*arguments, f"--dbname={address.argument}"]
    ends = time.monotonic() + _ENDING_S
    while True:
        try:
            _run(name, command, environment=address.environment)
        except Unavailable as error:
            # the connection that was just closed may be the only one that the role has
            if _NOT_CONNECTED not in error.message or time.monotonic() > ends:
                raise
            time.sleep(0.1)
        else:
            return


def _run(name: str, arguments: list[str], *, environment: Mapping[str, str] | None = None) -> str:
    finished = subprocess.run(
        [str(installed_programs() / "bin" / name), *arguments],
        capture_output=True,
        check=False,
        # their complaints are read by words
        env={**(os.environ if environment is None else environment), "LC_ALL": "C"},
        stdin=subprocess.DEVNULL,
    )
    if finished.returncode != 0:
        raise _failed(name, finished.stderr.decode(errors="replace"))
    return finished.stdout.decode(errors="replace")


def _failed(name: str, complaint: str) -> Unavailable:
    lines = complaint.strip().splitlines() or ["it said nothing"]
    telling = [line for line in lines if "error:" in line or "ERROR:" in line or "FATAL:" in line]
    line = (telling or lines)[0].removeprefix(f"{name}: ").removeprefix("error: ")
    return Unavailable(f"{name} failed: {line}", hint="Mend what it names, then try again.")


def _entries(file: Path) -> list[str]:
    try:
        return _run("pg_restore", ["--list", str(file)]).splitlines()
    except Unavailable as error:
        raise InvalidInput(
            f"{file} is no copy that `medir db dump` has made: {error.message}",
            hint="Name a file that `medir db dump` has written.",
            where={"file": str(file)},
        ) from error


def _require_schema(entries: list[str], schema: str) -> None:
    made_in = next((match[1] for line in entries if (match := _TABLE.match(line))), None)
    if made_in is not None and made_in != schema:
        raise DatabaseRefused(
            f"The copy was made of the schema {made_in}, and this role makes its tables in {schema}.",
            hint=(
                f"Make that schema (create schema {identifier(made_in)}) and end DATABASE_URL with "
                f"?options=-csearch_path%3D{made_in}"
            ),
        )


def _require_vector_schema(file: Path, schema: str) -> None:
    made_with = _VECTOR.search(_run("pg_restore", ["--file=-", "--section=pre-data", str(file)]))
    if made_with is not None and made_with[1] != schema:
        move = psql(
            f"create schema if not exists {made_with[1]}; alter extension vector set schema {made_with[1]}"
        )
        raise OperatorNeeded(
            f"The copy was made with `vector` in the schema {made_with[1]}, and here it stands in {schema}.",
            hint=f"Ask the operator to run once: {move}",
        )
