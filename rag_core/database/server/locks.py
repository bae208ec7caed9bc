"""Advisory locks on files, for processes that share one embedded server.

All are `flock` locks: the kernel drops them when their holder dies, however it dies, so a dead process never
counts as a user and never blocks a start. Descriptors are closed in forked children, which must join for
themselves; a child that merely inherited one would keep its parent's lock alive.
"""

import errno
import fcntl
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from rag_core.errors import DatabaseUnavailable

_POLL_S = 0.02

_open_descriptors: set[int] = set()


def _close_inherited() -> None:
    for descriptor in _open_descriptors:
        with suppress(OSError):
            os.close(descriptor)
    _open_descriptors.clear()


os.register_at_fork(after_in_child=_close_inherited)


def open_own_file(path: Path, flags: int) -> int:
    """A descriptor of a plain file in the home folder, made (0600, for the folder's owner) if missing.

    Links are refused: root may work in a folder of another user, who must not choose what root writes to.

    Raises:
        OSError: the file can't be opened or made, or is a link, a folder or a device.
    """
    try:
        descriptor = os.open(path, flags | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    except FileExistsError:
        descriptor = os.open(path, flags | os.O_NOFOLLOW)
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_nlink != 1:
            os.close(descriptor)
            raise OSError(errno.EINVAL, "not a plain file", str(path)) from None
    else:
        folder = path.parent.stat()
        if os.geteuid() == 0 and folder.st_uid != 0:
            os.fchown(descriptor, folder.st_uid, folder.st_gid)
    return descriptor


def _open(path: Path) -> int:
    descriptor = open_own_file(path, os.O_RDWR)
    _open_descriptors.add(descriptor)
    return descriptor


def _close(descriptor: int) -> None:
    # A forked child has closed its parent's descriptors; the number may be another file's by now.
    if descriptor in _open_descriptors:
        _open_descriptors.discard(descriptor)
        os.close(descriptor)


def _try_exclusive(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def exclusive(path: Path, limit_s: float) -> Iterator[None]:
    """Holds the lock on `path` alone, so that one process at a time starts or stops the server.

    Raises:
        DatabaseUnavailable: another process held it for `limit_s` seconds.
        OSError: the file can't be opened or made.
    """
    descriptor = _open(path)
    try:
        deadline = time.monotonic() + limit_s
        while not _try_exclusive(descriptor):
            if time.monotonic() >= deadline:
                raise DatabaseUnavailable(
                    f"Another Medir process has been starting or stopping the database for {limit_s:.0f} s.",
                    hint="Wait for it, or end that process, and try again.",
                )
            time.sleep(_POLL_S)
        yield
    finally:
        _close(descriptor)


class UserMark:
    """A shared lock held for as long as its process uses the server.

    Join and leave only while holding the start/stop lock, which makes "am I the last?" and what follows one
    step.
    """

    def __init__(self, path: Path) -> None:
        self._descriptor = _open(path)
        fcntl.flock(self._descriptor, fcntl.LOCK_SH)

    def is_the_only_one(self) -> bool:
        """Whether no other mark exists, on this machine; this mark is exclusive until closed if so."""
        return _try_exclusive(self._descriptor)

    def close(self) -> None:
        """Gives the mark back; a second call does nothing."""
        _close(self._descriptor)
        self._descriptor = -1


def has_users(path: Path) -> bool:
    """Whether any process holds a mark; call it while holding the start/stop lock."""
    if not path.exists():
        return False
    descriptor = _open(path)
    try:
        return not _try_exclusive(descriptor)
    finally:
        _close(descriptor)
