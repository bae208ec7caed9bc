"""Standard output and standard error where they can't be written: a full disk, a device that is full, a closed file.

What a verb answers on standard output is its work: where that can't be written, the verb has failed. Standard error is
for whoever looks, and costs nothing where nobody can.
"""

import errno
import os
from contextlib import suppress
from typing import TextIO

# what a disk, a quota, a file system or a device has against being written to
UNWRITABLE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO})


class OutputLost(Exception):
    """What was to stand on standard output does not; `reason` is the system's."""

    def __init__(self, error: OSError) -> None:
        super().__init__(str(error))
        self.reason = error.strerror or type(error).__name__


class AnswerStream:
    """Standard output: a write that fails raises `OutputLost`, so that it is taken for no other failure.

    A pipe whose reader has left stays a `BrokenPipeError`.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """As the stream's own."""
        try:
            return self._stream.write(text)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise OutputLost(error) from error

    def flush(self) -> None:
        """As the stream's own."""
        try:
            self._stream.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            raise OutputLost(error) from error

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)


class Aside:
    """Standard error: what can't be written is let go."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """As the stream's own."""
        with suppress(OSError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """As the stream's own."""
        with suppress(OSError):
            self._stream.flush()

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)


def let_go(stream: TextIO) -> None:
    """Let what the stream still holds, and whatever comes, go nowhere: its end would complain of it once more."""
    with suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)
        stream.flush()


def settle(stream: TextIO) -> None:
    """Write out what the stream holds, as the interpreter would at its end; what can't be is let go."""
    try:
        stream.flush()
    except OSError:
        let_go(stream)
