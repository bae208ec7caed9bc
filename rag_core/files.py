"""Files that are read within bounds, and written whole or not at all."""

import os
import secrets
import shutil
import stat
from collections.abc import Mapping
from pathlib import Path

from rag_core.errors import UsageError


class NotReadable(Exception):
    """A file that is there and is not read; the message says why, in words that follow `it`."""


def read_regular_file(path: Path, *, at_most: int, through_links: bool = False) -> bytes | None:
    """The bytes of a regular file; None where there is none.

    Nothing but a regular file is opened for reading: a link could lead anywhere, a device never ends, a pipe waits.

    Of a file that has more than `at_most` bytes none is read. `through_links`: a link stands for the regular
    file that it names, as where a person chose the path.

    Raises:
        NotReadable: It is something else, holds more than `at_most` bytes, or can't be read.
    """
    try:
        _require_regular((path.stat() if through_links else path.lstat()).st_mode)
        follow = 0 if through_links else os.O_NOFOLLOW
        descriptor = os.open(path, os.O_RDONLY | follow | os.O_NONBLOCK | os.O_CLOEXEC)
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


def write_atomically(file: Path, text: str) -> None:
    """Put a text into a file in one step: a reader or a crash sees what was there before, or the whole text.

    Raises:
        UsageError: It can't be written.
    """
    write_together({file: text})


def write_together(texts: Mapping[Path, str]) -> None:
    """Put texts into their files, none of them before every one is whole on the disk.

    A link stays, and the file that it names is written. What is no regular file (a pipe, a device) is written into, and
    so is a file in a folder that takes no other.

    Raises:
        UsageError: One of them can't be written.
    """
    staged: dict[Path, Path] = {}
    file = Path()
    try:
        try:
            for named, text in texts.items():
                file = named
                target = Path(os.path.realpath(named))
                if _takes_no_other(target):
                    target.write_text(text, encoding="utf-8", newline="")
                else:
                    staged[unfinished(target)] = target
                    _write(next(reversed(staged)), text)
            for scratch, target in staged.items():
                file = target
                if target.exists():
                    shutil.copymode(target, scratch)
                scratch.replace(target)
        finally:
            for scratch in staged:
                scratch.unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(
            f"{file} can't be written: {error.strerror}.",
            hint="Name a file in a folder that can be written, on a disk with space.",
        ) from error


def unfinished(file: Path) -> Path:
    """A name beside the file for what becomes it once it is whole."""
    return file.with_name(f".medir-{secrets.token_hex(6)}.part")


def _write(scratch: Path, text: str) -> None:
    with scratch.open("x", encoding="utf-8", newline="") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def _takes_no_other(target: Path) -> bool:
    try:
        regular = stat.S_ISREG(target.stat().st_mode)
    except FileNotFoundError:
        return False
    return not regular or not os.access(target.parent, os.W_OK)


def _require_regular(mode: int) -> None:
    if stat.S_ISLNK(mode):
        raise NotReadable("is a symbolic link, and only a file of its own is read")
    if not stat.S_ISREG(mode):
        raise NotReadable("is no regular file")
