"""The embedded PostgreSQL server: one for a home folder, shared by all processes that use it.

Home folder:
    data/               the cluster, owned by the account that runs it (see server_account)
    run/                the socket, unless its path would be too long
    server.log          the server's log, cut when it grows
    server.lock         held while a process starts or stops the server
    users.lock          held, shared, by every process that uses it
    keep                there while the server is to outlive its users (`medir db start`)
    postgres-VERSION/   a copy of the programs, only where root's stand-in can't reach the installed ones

A process that uses the server calls `acquire` and, at its end, `release` (from `atexit`, say; this module
registers nothing). The last to release stops the server. A process that is killed counts as gone at once; the
next release of any process stops the server then.
"""

import logging
import os
import threading
import weakref
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from rag_core.database.server import account as server_account
from rag_core.database.server import connection as server_connection
from rag_core.database.server import locks as server_locks
from rag_core.database.server.account import folder_errors
from rag_core.database.server.connection import DATABASE, ServerFiles
from rag_core.database.server.log import trim_log
from rag_core.errors import DatabaseUnavailable

# what starts and stops processes is loaded by who does so: most commands find the server running

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerStatus:
    """What is known of the server now; `url` and `version` are none unless it answers.

    `in_use` tells whether any process uses it, none where that can't be known: while another process starts
    or stops it, or where the home folder may not be written to.
    """

    running: bool
    url: str | None
    version: str | None
    data: Path
    in_use: bool | None
    kept: bool


class EmbeddedServer:
    """The server of one home folder, as this process uses it. Threads may share it; a forked child acquires anew.

    `home` (MEDIR_HOME) is made by the first `acquire`; `start_timeout_s` is how long a start, or another
    process's, is waited for.
    """

    def __init__(self, home: Path, *, start_timeout_s: float = 60.0) -> None:
        self._home = Path(os.path.realpath(home))
        self._limit_s = start_timeout_s
        self._guard = threading.RLock()
        self._uses = 0
        self._mark: server_locks.UserMark | None = None
        _servers.add(self)

    def acquire(self) -> str:
        """Makes sure that the server runs, counts this process among its users, and returns its URL.

        The first start makes the data folder and the database `medir`. Each call wants a `release`. A call
        while this process uses the server already starts it again if it has gone away.

        Raises:
            DatabaseUnavailable: it can't be made, started or reached; the message says why.
        """
        with self._guard, folder_errors(self._home):
            server_account.make_home(self._home, self._files().account)
            with self._alone():
                joined = self._mark is None
                if self._mark is None:
                    self._mark = server_locks.UserMark(self._home / "users.lock")
                try:
                    url = self._ensure_running()
                except BaseException as error:
                    if joined:
                        self._leave(stop=not isinstance(error, (DatabaseUnavailable, OSError)))
                    raise
                self._uses += 1
                return url

    def release(self) -> None:
        """Gives back one `acquire`; the last user of the last process stops the server, unless it is kept.

        Without an `acquire` before it, it does nothing. A server that can't be stopped raises nothing: that
        is logged, and the next release of any process tries again.
        """
        with self._guard:
            self._uses = max(0, self._uses - 1)
            if self._uses or self._mark is None:
                return
            try:
                with self._alone():
                    self._leave(stop=True)
            except (DatabaseUnavailable, OSError) as error:
                _logger.warning("the database could not be stopped: %s", error)
            finally:
                self._forget()

    def keep(self) -> str:
        """Starts the server if need be and lets it stay until `stop`, whoever uses it; returns its URL.

        Raises:
            DatabaseUnavailable: as `acquire`; it is then not kept.
        """
        with self._guard, folder_errors(self._home):
            server_account.make_home(self._home, self._files().account)
            with self._alone():
                url = self._ensure_running()
                os.close(server_locks.open_own_file(self._keep_file, os.O_WRONLY))
                return url

    def stop(self) -> bool:
        """Stops the server, also under others who use it (ask `status` first); true when there was one.

        Raises:
            DatabaseUnavailable: it belongs to somebody else, or another process is starting or stopping it.
        """
        if not self._home.is_dir():
            return False
        with self._guard, folder_errors(self._home), self._alone():
            self._keep_file.unlink(missing_ok=True)
            return self._stop()

    def status(self) -> ServerStatus:
        """What is known of the server; starts and makes nothing.

        Raises:
            DatabaseUnavailable: the data folder is another user's.
        """
        with self._guard, folder_errors(self._home):
            version = None
            url = None
            if self._home.is_dir():
                files = self._files()
                version = server_connection.answered_version(files)
                url = files.url(DATABASE) if version else None
            return ServerStatus(
                running=url is not None,
                url=url,
                version=version,
                data=self._home / "data",
                in_use=self._in_use(),
                kept=self._keep_file.exists(),
            )

    def __enter__(self) -> str:
        """Acquires and returns the URL."""
        return self.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Releases."""
        self.release()

    def _alone(self) -> AbstractContextManager[None]:
        """The start/stop lock."""
        return server_locks.exclusive(self._home / "server.lock", self._limit_s)

    @property
    def _keep_file(self) -> Path:
        return self._home / "keep"

    def _files(self) -> ServerFiles:
        data = Path(os.path.realpath(self._home / "data"))
        account = server_account.server_account(self._home, data)
        return ServerFiles(
            data=data,
            sockets=server_account.socket_folder(self._home, account),
            log=self._home / "server.log",
            label=f"medir-{server_account.home_digest(self._home)}",
            account=account,
        )

    def _ensure_running(self) -> str:
        files = self._files()
        trim_log(files.log)
        if server_connection.is_ready(files):
            return files.url(DATABASE)
        if not server_connection.answered_version(files) and not self._await_running(files):
            self._start(files)
        server_connection.prepare_database(files)
        return files.url(DATABASE)

    def _await_running(self, files: ServerFiles) -> bool:
        """Waits for a server that lives without answering: it may be starting, or ending."""
        from rag_core.database.server import postmaster  # noqa: PLC0415

        running = postmaster.postmaster(files)
        if running is None:
            return False
        lines = server_connection.recorded(files.data)
        if not lines:
            # It has just been launched by a process that died, or its folder was deleted under it.
            postmaster.end(files, running)
            return False
        sockets = Path(lines[4]) if len(lines) > 4 and lines[4] else files.sockets
        if os.path.realpath(sockets) != os.path.realpath(files.sockets):
            raise DatabaseUnavailable(
                f"Process {running.pid} serves {files.data} already, with its socket in {sockets}.",
                hint="Stop that server, or set DATABASE_URL to it.",
            )
        ready = len(lines) > 7 and lines[7].strip() == "ready"
        if ready and not (files.sockets / server_account.SOCKET_NAME).exists():
            # Somebody cleared the socket's folder: nobody can reach this server ever again.
            postmaster.end(files, running)
            return False
        size = files.log.stat().st_size if files.log.exists() else 0
        return postmaster.await_answer(files, running, size, self._limit_s)

    def _start(self, files: ServerFiles) -> None:
        from rag_core.database.server import cluster as server_cluster  # noqa: PLC0415
        from rag_core.database.server import postmaster  # noqa: PLC0415

        server_account.require_open(files.data.parent, files.account)
        postmaster.end_orphans(files)
        programs = server_cluster.programs_for(self._home, files.account)
        major = server_cluster.major_version(programs)
        state = server_cluster.data_state(files.data, major)
        if state == "foreign":
            raise DatabaseUnavailable(
                f"The folder {files.data} holds something else than a database.",
                hint="Move it away, or set MEDIR_HOME to another folder.",
            )
        if state == "cluster":
            server_cluster.require_version(files.data, major)
        else:
            server_cluster.make_cluster(files.data, programs, files.account, self._limit_s)
        server_account.make_private(files.sockets, files.account)
        postmaster.clear_stale_files(files)
        postmaster.start(files, programs, self._limit_s)

    def _stop(self) -> bool:
        from rag_core.database.server import postmaster  # noqa: PLC0415

        files = self._files()
        running = postmaster.postmaster(files)
        if running is None:
            postmaster.end_orphans(files)
            return False
        postmaster.end(files, running)
        if files.sockets.parent != self._home:
            with suppress(OSError):
                files.sockets.rmdir()
        return True

    def _leave(self, *, stop: bool) -> None:
        """Gives the mark back while holding the start/stop lock; the last one stops the server if asked."""
        if self._mark is None:
            return
        try:
            if stop and self._mark.is_the_only_one() and not self._keep_file.exists():
                self._stop()
        finally:
            self._forget()

    def _forget(self) -> None:
        if self._mark is not None:
            self._mark.close()
            self._mark = None

    def _in_use(self) -> bool | None:
        if self._mark is not None:
            return True
        if not (self._home / "users.lock").exists():
            return False
        try:
            with server_locks.exclusive(self._home / "server.lock", 0.0):
                return server_locks.has_users(self._home / "users.lock")
        except (DatabaseUnavailable, OSError):
            return None

    def _after_fork(self) -> None:
        """In a forked child: its parent's use is not its own, and another thread may have held the guard."""
        self._guard = threading.RLock()
        self._uses = 0
        self._mark = None


_servers: weakref.WeakSet[EmbeddedServer] = weakref.WeakSet()


def _reset_in_child() -> None:
    for server in list(_servers):
        server._after_fork()  # noqa: SLF001  the same module


os.register_at_fork(after_in_child=_reset_in_child)
