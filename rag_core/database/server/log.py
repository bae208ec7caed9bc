"""The embedded server's log: kept short, and read for what it says of a start that failed."""

import os
import re
from pathlib import Path

from rag_core.database.server.locks import open_own_file

_MOST_BYTES = 1_000_000
_KEPT_BYTES = 200_000


def trim_log(log: Path) -> None:
    """Cuts a long log down to its last part, so that it never grows without bound.

    Raises:
        OSError: the log can't be read or written.
    """
    if not log.exists() or log.stat().st_size <= _MOST_BYTES:
        return
    descriptor = open_own_file(log, os.O_RDWR | os.O_APPEND)
    with os.fdopen(descriptor, "r+b") as file:
        file.seek(-_KEPT_BYTES, os.SEEK_END)
        kept = file.read().split(b"\n", 1)[-1]
        file.truncate(0)
        file.write(kept)


def last_log_line(log: Path, begins: int) -> str:
    """The last line of the log, from byte `begins` on, that tells why; without prefix and final stop."""
    try:
        with log.open("rb") as file:
            file.seek(begins)
            lines = file.read(_KEPT_BYTES).decode("utf-8", "replace").splitlines()
    except OSError:
        lines = []
    lines = [line for line in lines if line.strip()]
    telling = [line for line in lines if re.search(r"\b(FATAL|PANIC|ERROR):", line)]
    if not lines:
        return "it said nothing"
    return re.sub(r"^.*?\b[A-Z]+: +", "", (telling or lines)[-1]).strip().rstrip(".")
