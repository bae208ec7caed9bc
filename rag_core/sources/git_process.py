"""One git process: started so that it asks nobody, and read only as far as was agreed.

What a repository holds is somebody else's: a few kilobytes of objects can list for gigabytes, or unpack to them. So
its output is read as a stream and git is stopped where it goes on for too long; its own memory is limited too, where
the system can do that.
"""

import contextlib
import os
import resource
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import IO

from rag_core.errors import Unavailable

MAX_GIT_MEMORY_BYTES = 448 * 1024 * 1024
"""What git may allocate; packs that it maps from the disk are not counted."""

_PIECE_BYTES = 64 * 1024
_MAX_REASON_BYTES = 64 * 1024


class GitFailed(Exception):
    """A git command ended with an error; callers turn it into an error that says what to do.

    `quiet` is true when git gave no reason, which is its way to say that a name is unknown.
    """

    def __init__(self, message: str, *, quiet: bool = False) -> None:
        super().__init__(message)
        self.quiet = quiet


class TooMuch(Exception):
    """A git command had more to say than was agreed; the message says of what, in words."""


class OutOfTime(Exception):
    """A git command did not end in time."""


def no_git() -> Unavailable:
    """The error for a machine without git."""
    return Unavailable("There is no `git` program on this machine.", hint="Install git, then try again.")


def start(command: Sequence[str], *, stdin: int, stderr: int) -> subprocess.Popen[bytes]:
    """A git process whose output is a pipe.

    Raises:
        Unavailable: There is no `git` program.
    """
    try:
        process = subprocess.Popen(
            command, stdin=stdin, stdout=subprocess.PIPE, stderr=stderr, env=_environment()
        )
    except FileNotFoundError as error:
        raise no_git() from error
    if hasattr(resource, "prlimit"):
        # it may be gone already, or the system's own limit be lower
        with suppress(OSError, ValueError):
            resource.prlimit(process.pid, resource.RLIMIT_DATA, (MAX_GIT_MEMORY_BYTES, MAX_GIT_MEMORY_BYTES))
    return process


def output_of(command: Sequence[str], *, at_most: int, within_s: float) -> Iterator[bytes]:
    """Standard output in pieces, as it comes. Whoever stops reading stops git.

    Raises:
        TooMuch: It has more than `at_most` bytes.
        OutOfTime: git did not end within `within_s` seconds.
        GitFailed: It exited with an error; the message is git's first reason.
        Unavailable: There is no `git` program.
    """
    process = start(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
    late = threading.Event()

    def end() -> None:
        late.set()
        process.kill()

    timer = threading.Timer(within_s, end)
    timer.daemon = True
    with process:
        if process.stdout is None or process.stderr is None:
            raise GitFailed("git has no pipes")
        said = _Reasons(process.stderr)
        timer.start()
        try:
            taken = 0
            while piece := os.read(process.stdout.fileno(), _PIECE_BYTES):
                taken += len(piece)
                if taken > at_most:
                    raise TooMuch(f"git lists more than {at_most // 1_000_000:,} MB")
                yield piece
            code = process.wait()
        finally:
            timer.cancel()
            process.kill()
            said.join()
    if late.is_set():
        raise OutOfTime
    if code != 0:
        lines = said.text().strip().splitlines()
        reasons = [line for line in lines if line.startswith(("fatal:", "error:"))]
        raise GitFailed((reasons or lines or [f"exit code {code}"])[0], quiet=not lines)


class _Reasons(threading.Thread):
    """What git says of its failure, the beginning kept and all of it read, so that git never waits."""

    def __init__(self, stream: IO[bytes]) -> None:
        super().__init__(name="git-reasons", daemon=True)
        self._stream = stream
        self._kept = b""
        self.start()

    def run(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            while piece := os.read(self._stream.fileno(), _PIECE_BYTES):
                self._kept += piece[: _MAX_REASON_BYTES - len(self._kept)]

    def text(self) -> str:
        return self._kept.decode(errors="replace")


def _environment() -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    return kept | {
        "LC_ALL": "C",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        # a partial clone must not reach for its remote while it is read; older versions know the second only
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "",
        "GIT_GRAFT_FILE": "",
        "GIT_LITERAL_PATHSPECS": "0",
    }
