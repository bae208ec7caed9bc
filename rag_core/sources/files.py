"""Files of a golden folder: read within bounds, replaced in one step."""

import os
import shutil
import stat
import tempfile
from pathlib import Path


class NotReadable(Exception):
    """A file that is there and is not read; the message says why, in words that follow `it`."""


def read_regular_file(path: Path, *, at_most: int) -> bytes | None:
    """The bytes of a regular file; None where there is none.

    Nothing but a regular file is opened for reading: a link could lead anywhere, a device never ends, a pipe waits.

    Raises:
        NotReadable: It is something else, holds more than `at_most` bytes, or can't be read.
    """
    try:
        _require_regular(path.lstat().st_mode)
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            # it may have been replaced since
            _require_regular(os.fstat(file.fileno()).st_mode)
            data = file.read(at_most + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise NotReadable(f"can't be read: {error.strerror}") from error
    if len(data) > at_most:
        raise NotReadable(f"is larger than {at_most // 1000:,} kB")
    return data


def replace_file(path: Path, text: str) -> None:
    """Write a file's text in one step: a reader or a crash sees the old text or the new one, or no file yet.

    Raises:
        OSError: It can't be written; what was there stays, and nothing else is left behind.
    """
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", newline="", dir=path.parent, prefix=f".{path.name}.", delete=False
    ) as scratch:
        written = Path(scratch.name)
        try:
            scratch.write(text)
            scratch.flush()
            os.fsync(scratch.fileno())
            if path.exists():
                shutil.copymode(path, written)
            else:
                written.chmod(0o644)
            written.replace(path)
        except OSError:
            written.unlink(missing_ok=True)
            raise


def _require_regular(mode: int) -> None:
    if stat.S_ISLNK(mode):
        raise NotReadable("is a symbolic link, and only a file of its own is read")
    if not stat.S_ISREG(mode):
        raise NotReadable("is no regular file")
