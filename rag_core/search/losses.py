"""How many searches were answered but not recorded, kept where the disk is full too.

Each loss is a line of a log. Where no line can be written any more, it is counted in a small file beside the log that
was laid down in good time: to change a number in its place takes no space. Where not even that is there, it is counted
in this process until something can be written again.
"""

import fcntl
import json
import logging
import os
import threading
from contextlib import suppress
from datetime import datetime
from pathlib import Path

_LOG = logging.getLogger("medir.telemetry")
_DIGITS = 20
_TOLD = "searches were lost beyond those that the log beside this file has a line for\n"
# one block of a disk
_BYTES = 4096


class Losses:
    """The losses of one installation, from any process of it.

    `log` is a file of JSON lines; it need not exist.
    """

    def __init__(self, log: Path) -> None:
        self.log = log
        self.count_file = log.with_name(f"{log.name}.count")
        self._waiting = 0
        self._guard = threading.Lock()

    def prepare(self) -> None:
        """Lay down the file that losses are counted in once the disk is full, unless it is there."""
        with suppress(OSError):
            if not self.count_file.exists():
                self._lay_down()

    def note(self, at: datetime, error: Exception, message: str) -> None:
        """Keep one loss; never fails."""
        line = {"at": at.isoformat(), "origin": "infra", "error": type(error).__name__, "message": message}
        with self._guard:
            try:
                with self.log.open("a", encoding="utf-8") as log:
                    log.write(json.dumps(line, ensure_ascii=False) + "\n")
            except OSError as problem:
                _LOG.warning("The loss has no line of its own (origin: infra): %s", problem)
                self._waiting += 1
        self.settle()

    def settle(self) -> None:
        """Count what still waits for it, where that can be done now."""
        with self._guard:
            if self._waiting:
                with suppress(OSError):
                    self._add(self._waiting)
                    self._waiting = 0

    def count(self) -> int:
        """All of them that were kept."""
        return _lines(self.log) + _counted(self.count_file)

    def _lay_down(self) -> None:
        # whole before it has its name: another process may lay it down too, and either serves
        scratch = self.count_file.with_name(f"{self.count_file.name}.{os.getpid()}.{threading.get_ident()}")
        try:
            with scratch.open("w", encoding="ascii") as file:
                file.write(f"{0:0{_DIGITS}} {_TOLD}".ljust(_BYTES - 1) + "\n")
                file.flush()
                os.fsync(file.fileno())
            # root may run this in the home of the user whose searches are counted
            with suppress(PermissionError):
                owner = scratch.parent.stat()
                os.chown(scratch, owner.st_uid, owner.st_gid)
            # a link, unlike a rename, never takes the place of a number that came meanwhile
            with suppress(FileExistsError):
                os.link(scratch, self.count_file)
        finally:
            scratch.unlink(missing_ok=True)

    def _add(self, more: int) -> None:
        if not self.count_file.exists():
            self._lay_down()
        with self.count_file.open("r+b", buffering=0) as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            known = _number(file.read(_DIGITS))
            file.seek(0)
            file.write(f"{known + more:0{_DIGITS}}".encode())


def _lines(log: Path) -> int:
    """The whole lines; half of one is left where the disk became full under it, and was counted elsewhere."""
    try:
        with log.open("rb") as file:
            return sum(line.endswith(b"\n") for line in file)
    except (FileNotFoundError, NotADirectoryError):
        return 0


def _counted(file: Path) -> int:
    try:
        with file.open("rb") as opened:
            return _number(opened.read(_DIGITS))
    except (FileNotFoundError, NotADirectoryError):
        return 0


def _number(digits: bytes) -> int:
    return int(digits) if digits.isdigit() else 0
