"""Reaching a server: its place, its URL, and what must be true of it before it is used."""

import os
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote_from_bytes

import psycopg

from rag_core.database.address import libpq_variables
from rag_core.database.server.account import Account, require_private
from rag_core.errors import DatabaseUnavailable

SUPERUSER = "medir"
DATABASE = "medir"
PORT = 5432

_ANSWER_S = 2

# True only where text is Unicode to lower(), to regular expressions and to the full text parser alike.
_LOCALE_CHECK = """
select
    lower('ÉÇ') = 'éç'
    and 'Ú' ~* 'ú'
    and to_tsvector('portuguese', 'AÇÃO Ética') @@ to_tsquery('portuguese', 'ação & ética')
    and pg_encoding_to_char(encoding) = 'UTF8'
from pg_database where datname = current_database()
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerFiles:
    """Where one server lives; `label` names it in its processes' titles."""

    data: Path
    sockets: Path
    log: Path
    label: str
    account: Account

    def url(self, database: str = SUPERUSER) -> str:
        """The libpq URL of a database of this server."""
        options = {"host": str(self.sockets), "port": str(PORT), "user": SUPERUSER}
        listed = "&".join(f"{key}={_quoted(value)}" for key, value in options.items())
        return f"postgresql:///{_quoted(database)}?{listed}"


def _quoted(text: str) -> str:
    return quote_from_bytes(os.fsencode(text), safe="")


def connect(files: ServerFiles, database: str) -> psycopg.Connection:
    """A connection in autocommit mode, answered within seconds.

    Raises:
        psycopg.OperationalError: no answer, or a refusal.
        DatabaseUnavailable: the socket's folder could be somebody else's.
    """
    require_private(files.sockets, files.account)
    drop_ambient_variables()
    return psycopg.connect(files.url(database), autocommit=True, connect_timeout=_ANSWER_S)


def drop_ambient_variables() -> None:
    """Take from this process's environment what libpq would read there.

    It is meant for other servers. An address overrules most of it, but neither a time zone nor a service, which libpq
    looks up on its own; and the pool connects from threads at any time.
    """
    for name in libpq_variables():
        os.environ.pop(name, None)


def answered_version(files: ServerFiles) -> str | None:
    """The version, such as "18.6", of this data folder's server if it answers a connection now; else none.

    A server without a postmaster.pid does not count: its folder was deleted under it, and it is about to end.

    Raises:
        DatabaseUnavailable: as `ask`.
    """
    try:
        return ask(files) if recorded(files.data) else None
    except psycopg.OperationalError:
        return None


def is_ready(files: ServerFiles) -> bool:
    """Whether this data folder's server answers now with a database `medir` that needs nothing: the usual case.

    One connection in place of three; whatever is amiss, no matter what, is found out and told the long way.
    """
    if not recorded(files.data):
        return False
    try:
        with connect(files, DATABASE) as connection:
            folder = connection.execute("select current_setting('data_directory')").fetchone()
            unicode = connection.execute(_LOCALE_CHECK).fetchone()
    except psycopg.Error:
        return False
    return folder is not None and same_folder(str(folder[0]), files.data) and unicode == (True,)


def ask(files: ServerFiles) -> str:
    """The version, such as "18.6", of this data folder's server.

    Raises:
        psycopg.OperationalError: it does not answer.
        DatabaseUnavailable: something else than this data folder's server answers there; or as `connect`.
    """
    with connect(files, "postgres") as connection:
        row = connection.execute(
            "select current_setting('data_directory'), current_setting('server_version')"
        ).fetchone()
    if row is None or not same_folder(str(row[0]), files.data):
        raise DatabaseUnavailable(
            f"A server of another data folder answers in {files.sockets}.",
            hint="Stop that server, or set MEDIR_HOME to another folder.",
        )
    return str(row[1])


def same_folder(named: str, data: Path) -> bool:
    """Whether a path names the data folder, links followed."""
    return os.path.realpath(named) == os.path.realpath(data)


def recorded(data: Path) -> list[str]:
    """The lines of postmaster.pid: pid, data folder, start, port, socket folder, ..., status; or none."""
    try:
        return (data / "postmaster.pid").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []


def in_one_line(error: psycopg.Error) -> str:
    """The last line of what the driver says, without final stop: the earlier ones tell of its attempts."""
    return (str(error).strip().splitlines() or ["no reason given"])[-1].strip().rstrip(".")


def prepare_database(files: ServerFiles) -> None:
    """Makes the database `medir` of a running server if it is missing, and checks that its text is Unicode.

    Raises:
        DatabaseUnavailable: it can't be made or opened, or its locale is a wrong one.
    """
    try:
        with connect(files, "postgres") as connection:
            if not connection.execute("select 1 from pg_database where datname = 'medir'").fetchone():
                connection.execute("create database medir")
        with connect(files, DATABASE) as connection:
            row = connection.execute(_LOCALE_CHECK).fetchone()
    except psycopg.Error as error:
        raise DatabaseUnavailable(
            f"The database {DATABASE} can't be opened: {in_one_line(error)}.",
            hint=f"The server's log is {files.log}.",
        ) from error
    if row is None or row[0] is not True:
        raise DatabaseUnavailable(
            f"The database in {files.data} was made with a locale that does not know accented letters.",
            hint="Dump it (medir db dump FILE), move the folder away, then medir db restore FILE.",
        )
