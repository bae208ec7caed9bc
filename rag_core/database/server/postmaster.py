"""The running server: finding it, starting it, waiting for its answer, ending it.

A server runs when it has answered a connection; pids and files only explain why it does not. Everything here
is called while holding the start/stop lock, so no other Medir process changes what is seen.
"""

import logging
import os
import re
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import psutil
import psycopg

from rag_core.database.server.account import SOCKET_NAME, command_as
from rag_core.database.server.cluster import CHILD_ENVIRONMENT
from rag_core.database.server.connection import PORT, ServerFiles, ask, in_one_line, recorded, same_folder
from rag_core.database.server.locks import open_own_file
from rag_core.database.server.log import last_log_line
from rag_core.errors import DatabaseUnavailable

_logger = logging.getLogger(__name__)

# Settings belong to the code, not to a file in the data folder: all servers of one version behave alike.
_SETTINGS: Mapping[str, str] = {
    "listen_addresses": "",
    "port": str(PORT),
    "unix_socket_permissions": "0700",
    "shared_buffers": "128MB",
    "huge_pages": "off",  # where a container forbids them, "try" ends in SIGBUS
    "fsync": "on",
    "max_parallel_maintenance_workers": "0",
    "idle_in_transaction_session_timeout": "10min",
    "jit": "off",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "lc_messages": "C",
    "logging_collector": "off",
    "log_destination": "stderr",
    "log_min_messages": "log",  # starts, ends, crashes, refused connections; a client's errors are its own
    "log_min_error_statement": "panic",  # a statement may hold somebody's text
    "log_checkpoints": "off",
}

# what a server says that starts, recovers or ends
_NOT_YET = re.compile("the database system is")
_FULL_BYTES = 1_000_000
_ORPHANS_S = 2.0
_FAST_SHUTDOWN_S = 30.0
_IMMEDIATE_SHUTDOWN_S = 10.0
_SAY_EVERY_S = 5.0


class StillStarting(DatabaseUnavailable):
    """The server lives and does not answer yet."""


def _recorded_pid(data: Path) -> int | None:
    number = (recorded(data) or [""])[0].strip()
    return int(number) if re.fullmatch("[0-9]{1,9}", number) else None


def living(files: ServerFiles) -> list[psutil.Process]:
    """Every live process of PostgreSQL on this data folder: the postmaster, its children, and orphans."""
    return [process for process in psutil.process_iter() if _belongs(process, files)]


def _belongs(process: psutil.Process, files: ServerFiles) -> bool:
    try:
        if process.name() != "postgres" or process.status() == psutil.STATUS_ZOMBIE:
            return False
        in_folder = _works_in(process, files.data)
        return _is_named(process, files) if in_folder is None else in_folder
    except psutil.Error:
        return False


def _works_in(process: psutil.Process, data: Path) -> bool | None:
    """Whether the process works in the data folder, as PostgreSQL's all do; none where that can't be seen.

    Names would deceive: a container's server is listed on its host under the same path and title. So on Linux
    the folders themselves are compared, through the process's own view of its files.
    """
    try:
        folder = Path(f"/proc/{process.pid}/cwd").stat() if psutil.LINUX else Path(process.cwd()).stat()
    except (PermissionError, psutil.AccessDenied):
        return None  # root in a container may lack the right to look
    except (FileNotFoundError, ProcessLookupError):
        return None if psutil.pid_exists(process.pid) else False
    if folder.st_nlink == 0:
        return None  # deleted under a server that still runs
    return data.exists() and os.path.samestat(folder, data.stat())


def _is_named(process: psutil.Process, files: ServerFiles) -> bool:
    words = process.cmdline()
    titled = bool(words) and words[0].startswith(f"postgres: {files.label}: ")
    told = "-D" in words[:-1] and same_folder(words[words.index("-D") + 1], files.data)
    return titled or told or process.pid == _recorded_pid(files.data)


def postmaster(files: ServerFiles) -> psutil.Process | None:
    """The live parent of this data folder's server; none when only orphans or nothing is left."""
    processes = living(files)
    pids = {process.pid for process in processes}
    for process in processes:
        with suppress(psutil.Error):
            titled = process.cmdline()[:1]
            if process.ppid() not in pids and not (titled and titled[0].startswith("postgres: ")):
                return process
    return None


def end_orphans(files: ServerFiles) -> None:
    """Waits for processes whose postmaster has died, and ends those that do not end by themselves.

    They hold the dead server's shared memory, and PostgreSQL does not start again while one of them lives.
    """
    _, rest = psutil.wait_procs(living(files), timeout=_ORPHANS_S)
    for number in (signal.SIGQUIT, signal.SIGKILL):
        for process in rest:
            with suppress(psutil.Error):
                process.send_signal(number)
        _, rest = psutil.wait_procs(rest, timeout=_ORPHANS_S)


def clear_stale_files(files: ServerFiles) -> None:
    """Removes what a dead server left and PostgreSQL would stumble over; call it when no process of it lives.

    PostgreSQL takes a stale postmaster.pid over by itself, and looks up the old shared memory in it, unless
    the file is garbage or its pid is in use again by anything at all.
    """
    pid = _recorded_pid(files.data)
    if not pid or psutil.pid_exists(pid):
        (files.data / "postmaster.pid").unlink(missing_ok=True)
    for name in (SOCKET_NAME, f"{SOCKET_NAME}.lock"):
        (files.sockets / name).unlink(missing_ok=True)


def start(files: ServerFiles, programs: Path, limit_s: float) -> None:
    """Starts the server and waits until it answers.

    Raises:
        StillStarting: it did not answer within `limit_s`, and goes on starting.
        DatabaseUnavailable: it ended before it answered, or answers and lets nobody in; it runs no longer.
        OSError: the program or the log can't be opened.
    """
    child, begins = _launch(files, programs)
    try:
        answered = await_answer(files, psutil.Process(child.pid), begins, limit_s)
    except psutil.NoSuchProcess:
        answered = False
    except StillStarting:
        raise
    except BaseException:
        # whoever began it is the only one who knows of it
        with suppress(DatabaseUnavailable, psutil.NoSuchProcess):
            end(files, psutil.Process(child.pid))
        raise
    if not answered:
        raise _failed_start(files, begins)


def _launch(files: ServerFiles, programs: Path) -> tuple[subprocess.Popen[bytes], int]:
    """The server's process, and where in the log its own lines begin."""
    quoted = str(files.sockets).replace('"', '""')
    settings = {**_SETTINGS, "unix_socket_directories": f'"{quoted}"', "cluster_name": files.label}
    command = [str(programs / "bin" / "postgres"), "-D", str(files.data)]
    for name, value in settings.items():
        command += ["-c", f"{name}={value}"]
    log = open_own_file(files.log, os.O_WRONLY | os.O_APPEND)
    try:
        begins = os.fstat(log).st_size
        child = subprocess.Popen(
            command_as(files.account, command),
            cwd="/",
            env=CHILD_ENVIRONMENT,
            start_new_session=True,
            stderr=log,
            stdin=subprocess.DEVNULL,
            stdout=log,
            umask=0o077,
        )
    finally:
        os.close(log)
    # Reaps the server when it ends before us, so that it never stays as a zombie that looks alive.
    threading.Thread(target=child.wait, name="medir-postgres", daemon=True).start()
    return child, begins


def await_answer(files: ServerFiles, running: psutil.Process, begins: int, limit_s: float) -> bool:
    """Waits until the server answers (true) or its process ends (false).

    Raises:
        StillStarting: neither within `limit_s`; the server goes on starting, since recovery after a crash would
            otherwise begin anew each time.
        DatabaseUnavailable: it answers, and lets nobody in: no waiting would help.
    """
    started = said = time.monotonic()
    pause_s = 0.01
    while True:
        try:
            return bool(ask(files))
        except psycopg.OperationalError as error:
            reason = in_one_line(error)
        if not _is_alive(running):
            return False
        if "FATAL" in reason and not _NOT_YET.search(reason):
            raise DatabaseUnavailable(
                f"The database lets nobody in: {reason}.", hint=f"Its log is {files.log}."
            )
        waited_s = time.monotonic() - started
        if waited_s >= limit_s:
            raise StillStarting(
                f"The database did not answer within {limit_s:.0f} seconds: {reason}.",
                hint=f"It may be recovering: try again, or run `medir db stop`; its log is {files.log}.",
            )
        if time.monotonic() - said >= _SAY_EVERY_S:
            said = time.monotonic()
            _logger.info("waiting for the database (%.0f s): %s", waited_s, last_log_line(files.log, begins))
        time.sleep(min(pause_s, max(0.0, limit_s - waited_s)))
        pause_s = min(pause_s * 1.5, 0.2)


def _is_alive(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _failed_start(files: ServerFiles, begins: int) -> DatabaseUnavailable:
    """The error for a server that ended before it answered, in the words of its log."""
    if shutil.disk_usage(files.data).free < _FULL_BYTES:
        return DatabaseUnavailable(
            f"The database did not start: the disk that holds {files.data} is full.",
            hint="Free some space and try again.",
        )
    return DatabaseUnavailable(
        f"The database did not start: {last_log_line(files.log, begins)}.", hint=f"Its log is {files.log}."
    )


def end(files: ServerFiles, running: psutil.Process) -> None:
    """Ends the server: a fast shutdown, then an immediate one, then by force; returns when it is gone.

    Raises:
        DatabaseUnavailable: the caller may not end it, or it outlives even that.
    """
    try:
        for number, limit_s in (
            (signal.SIGINT, _FAST_SHUTDOWN_S),
            (signal.SIGQUIT, _IMMEDIATE_SHUTDOWN_S),
            (signal.SIGKILL, _ORPHANS_S),
        ):
            running.send_signal(number)
            running.send_signal(signal.SIGCONT)  # a stopped process would sleep through the first two
            _, alive = psutil.wait_procs([running], timeout=limit_s)
            if not alive:
                break
        else:
            raise DatabaseUnavailable(
                f"The database's process {running.pid} does not end.",
                hint="The disk may hang; try again when it answers, or restart the machine.",
            )
    except psutil.NoSuchProcess:
        pass
    except psutil.AccessDenied as error:
        raise DatabaseUnavailable(
            f"The database's process {running.pid} belongs to somebody else.",
            hint=f"Ask its owner, or run `medir db stop` as {files.account.name} or root.",
        ) from error
    end_orphans(files)
