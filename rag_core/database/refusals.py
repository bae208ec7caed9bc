"""What the server refuses, in our words: one sentence, and the one command that mends it.

A server's refusal is known by its SQLSTATE, whatever language its operator chose. Words serve where no server speaks:
for libpq's own, which are English since no process of ours asks it for another language, and for those of poolers,
which know no other; and where a state could not be had, as a last resort.
"""

import re
from collections.abc import Callable

import psycopg

from rag_core.database import refusal_sentences as sentences
from rag_core.database.connecting import SERVER_SAID, ConnectionRefused, NoAnswer
from rag_core.database.refusal_sentences import Asking
from rag_core.errors import DatabaseRefused, MedirError

Make = Callable[[str, Asking], MedirError]

_PREFIX = re.compile(r'^.*?\bfailed: (?=(?:could|SSL|server|no |root|timeout|invalid|[^"]*$))')
_TOO_MANY = re.compile(
    r"too many connections|too many clients|connection slots are reserved|no more connections allowed",
    re.IGNORECASE,
)
_NO_SERVER_FREE = re.compile(r"query_wait_timeout", re.IGNORECASE)
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


def refusal_of(error: psycopg.Error, asking: Asking | None = None) -> MedirError | None:
    """The error in our words; None for one that the server has no part in."""
    asking = asking or Asking()
    state = error.sqlstate
    if isinstance(error, NoAnswer):
        return sentences.no_server_free(told(error), asking)
    if state is None:
        outage = isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
        return _without_state(error, asking) if outage else None
    if state.startswith(_OF_THE_PROTOCOL):
        return _without_state(error, asking)
    table = _BY_STATE
    if isinstance(error, ConnectionRefused):
        asking = Asking(role=error.role, database=error.database)
        table = _CONNECTING + _BY_STATE
    for classes, make in table:
        if state.startswith(classes):
            return make(told(error), asking)
    return DatabaseRefused(
        f"The database refused a statement: {told(error)} (SQLSTATE {state}).",
        hint="Run `medir doctor`; please report it if that finds nothing.",
    )


def told(error: psycopg.Error) -> str:
    """The reason in the driver's words, in one line and without its attempts before it."""
    if error.diag.message_primary:
        return error.diag.message_primary.splitlines()[0].rstrip(".")
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    for line in lines:
        if said := SERVER_SAID.search(line):
            return line[said.end() :].rstrip(".")
    return _PREFIX.sub("", lines[0]).rstrip(".")


def _without_state(error: psycopg.Error, asking: Asking) -> MedirError:
    reason = told(error)
    for pattern, make in _BY_WORDS:
        if pattern.search(reason):
            return make(reason, asking)
    if isinstance(error, ConnectionRefused) or SERVER_SAID.search(str(error)):
        return sentences.refused(reason, asking)
    return sentences.unavailable(reason, asking)


_BY_WORDS: tuple[tuple[re.Pattern[str], Make], ...] = (
    (_NO_SERVER_FREE, sentences.no_server_free),
    (_TOO_MANY, sentences.too_many),
    (_AWAY, sentences.unavailable),
    (_NO_DATABASE, sentences.no_database),
    (_SSL, sentences.ssl),
    (_STARTUP, sentences.startup),
    (_SERVICE, sentences.service),
    (_ATTRIBUTES, sentences.attributes),
    (_NOT_LET_IN, sentences.not_let_in),
)

# what a pooler says comes under it, whatever it is
_OF_THE_PROTOCOL = "08"

# what a state means of a connection, before what it means of a statement
_CONNECTING: tuple[tuple[tuple[str, ...], Make], ...] = (
    (("42501",), sentences.no_connect),
    (("55000",), sentences.no_database),
    (("22", "42"), sentences.startup),
    (("0A", "XX"), sentences.refused),
)

# the first that fits, by the beginning of the SQLSTATE
_BY_STATE: tuple[tuple[tuple[str, ...], Make], ...] = (
    (("53300",), sentences.too_many),
    (("53",), sentences.full),
    (("25P03", "25P04", "57P05"), sentences.ended),
    (("57014",), sentences.slow),
    (("57", "58"), sentences.unavailable),
    (("25006",), sentences.read_only),
    (("42501",), sentences.denied),
    (("55P03",), sentences.held),
    (("40", "55006"), sentences.clash),
    (("42P07", "42710", "42P06"), sentences.foreign),
    (("3F000",), sentences.no_schema),
    (("42P01", "42703", "42704", "42883"), sentences.not_ours),
    (("3D000",), sentences.no_database),
    (("28",), sentences.not_let_in),
    (("0A",), sentences.unsupported),
)
