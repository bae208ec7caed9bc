"""One attempt to connect: bounded until the server's first answer, and told by its SQLSTATE where it lets nobody in.

libpq leaves the SQLSTATE out of what it says of a connection that was not made, and the words that it has come in the
operator's language. It puts the state there when it is asked to be verbose, which the driver does not pass on.
"""

import ctypes
import re
import select
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack

import psycopg
from psycopg import pq
from psycopg.conninfo import make_conninfo
from psycopg.rows import TupleRow

Connection = psycopg.Connection[TupleRow]

CONNECT_TIMEOUT_S = 5
FIRST_ANSWER_S = 10.0
_SHORT_S = 3.0
_ENDING_S = 2.0
_TOO_MANY = "53300"

_VERBOSE = 2
# libpq writes what a server says as "SEVERITY:  message", with two spaces, whatever the language of both
SERVER_SAID = re.compile(r'(?:^|: )[^:\n"]{1,40}:  (?=\S)', re.MULTILINE)
"""Where the words that follow are a server's own."""

_STATE = re.compile(r":  ([0-9A-Z]{5}): ")


class ConnectionRefused(psycopg.OperationalError):
    """The server answered and let nobody in. `role` and `database` are what was asked for."""

    def __init__(self, error: psycopg.Error, *, state: str, role: str, database: str) -> None:
        super().__init__(*error.args)
        self.sqlstate = state
        self.role = role
        self.database = database


class NoAnswer(psycopg.OperationalError):
    """The connection was made, and nothing came over it: a pooler without a free connection, or a server at a halt."""


def connect(url: str) -> Connection:
    """A connection of one's own in autocommit mode, which has answered once; errors are the driver's.

    A role with few connections is refused while the last one that it closed is still ending: that is waited for.
    """
    ends = time.monotonic() + _ENDING_S
    while True:
        try:
            connection = psycopg.connect(url, autocommit=True, connect_timeout=CONNECT_TIMEOUT_S)
            break
        except psycopg.OperationalError as error:
            stated = _stated(error, url)
            if not _may_pass(stated) or time.monotonic() > ends:
                raise stated from error
        time.sleep(0.1)
    try:
        require_answer(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def require_answer(connection: Connection, within_s: float = FIRST_ANSWER_S) -> None:
    """Ask the server for nothing, and wait for that within a bound.

    Raises:
        NoAnswer: Nothing came.
        psycopg.Error: The connection is gone.
    """
    libpq = connection.pgconn
    libpq.send_query(b"")
    ends = time.monotonic() + within_s
    while (unsent := libpq.flush()) or libpq.is_busy():
        left = ends - time.monotonic()
        if left <= 0 or not _wait(libpq.socket, left, to_write=bool(unsent)):
            raise NoAnswer(f"nothing came over it for {within_s:.0f} seconds")
        libpq.consume_input()
    result = libpq.get_result()
    while result is not None:
        if result.status == pq.ExecStatus.FATAL_ERROR:
            raise psycopg.errors.error_from_result(result)
        result = libpq.get_result()


def connections_at_once(url: str, *, wanted: int) -> int:
    """How many connections to the server a pooler gives at a time just now, found by holding as many as are wanted."""
    with ExitStack() as held:
        for number in range(wanted):
            try:
                connection = psycopg.connect(url, autocommit=True, connect_timeout=CONNECT_TIMEOUT_S)
                held.callback(connection.close)
                require_answer(connection, _SHORT_S)
                connection.execute("begin")
            except psycopg.OperationalError:
                return number
    return wanted


def _may_pass(error: psycopg.OperationalError) -> bool:
    """Whether the role had too many connections, or the server, asked why, had no longer anything against it."""
    return error.sqlstate == _TOO_MANY or (
        error.sqlstate is None and SERVER_SAID.search(str(error)) is not None
    )


def _stated(error: psycopg.OperationalError, url: str) -> psycopg.OperationalError:
    """The error with the server's SQLSTATE, as far as it has one."""
    if not SERVER_SAID.search(str(error)):
        return error
    try:
        return _ask_why(error, url) or error
    except (psycopg.Error, OSError, ValueError):
        return error


def _ask_why(error: psycopg.OperationalError, url: str) -> ConnectionRefused | None:
    """Try once more, verbosely; None where that succeeds or tells no state."""
    be_verbose = _set_verbosity()
    if be_verbose is None:
        return None
    attempt = pq.PGconn.connect_start(make_conninfo(url).encode())
    try:
        # every form of the driver has it, and none declares it
        pointer: int | None = getattr(attempt, "pgconn_ptr", None)
        if pointer is None:
            return None
        be_verbose(pointer, _VERBOSE)
        found = _STATE.search(_end_of(attempt))
        if found is None:
            return None
        role, database = (attempt.user.decode(errors="replace"), attempt.db.decode(errors="replace"))
        return ConnectionRefused(error, state=found[1], role=role, database=database)
    finally:
        attempt.finish()


def _end_of(attempt: pq.abc.PGconn) -> str:
    """What an attempt fails with; nothing where it succeeds, or does not end in time."""
    ends = time.monotonic() + CONNECT_TIMEOUT_S
    state = pq.PollingStatus.WRITING
    while state in (pq.PollingStatus.READING, pq.PollingStatus.WRITING):
        left = ends - time.monotonic()
        to_write = state == pq.PollingStatus.WRITING
        if left <= 0 or not _wait(attempt.socket, left, to_write=to_write):
            return ""
        state = pq.PollingStatus(attempt.connect_poll())
    return attempt.error_message.decode(errors="replace") if state == pq.PollingStatus.FAILED else ""


def _wait(socket: int, seconds: float, *, to_write: bool) -> bool:
    # not select(2), which knows no descriptor beyond 1023
    poll = select.poll()
    poll.register(socket, select.POLLIN | (select.POLLOUT if to_write else 0))
    return bool(poll.poll(seconds * 1000))


def _set_verbosity() -> Callable[[int, int], int] | None:
    """Libpq's function of that name, out of the library that the driver itself uses; None where it isn't found."""
    module = sys.modules[pq.PGconn.__module__]
    try:
        # a compiled driver leads to what it is linked with, one in Python holds it
        library = getattr(getattr(module, "impl", None), "pq", None) or ctypes.CDLL(str(module.__file__))
        function = library.PQsetErrorVerbosity
    except (OSError, AttributeError):
        return None
    function.argtypes = [ctypes.c_void_p, ctypes.c_int]
    function.restype = ctypes.c_int

    def be_verbose(connection: int, verbosity: int) -> int:
        return int(function(connection, verbosity))

    return be_verbose
