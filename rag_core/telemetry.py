"""Writing a search's telemetry row: bounded in time, and never at the price of the answer."""

import json
import logging
from datetime import datetime
from pathlib import Path

import psycopg

from rag_core.database.connections import Database
from rag_core.database.searches import SearchRecord, insert_search
from rag_core.errors import MedirError, OperatorNeeded

_LOG = logging.getLogger("medir.telemetry")
_LOCK_TIMEOUT = "1000ms"
_STATEMENT_TIMEOUT = "1500ms"


class Telemetry:
    """Keeps searches in `rag_searches`; what can't be kept is logged and counted in `loss_log`.

    `loss_log` is a file of JSON lines, None to count nothing.
    """

    def __init__(self, database: Database, *, loss_log: Path | None) -> None:
        self._database = database
        self._loss_log = loss_log

    def record(self, record: SearchRecord) -> str | None:
        """Write one search within about 1.5 seconds; why that could not be done, None where it was.

        Where the database lets itself be read only, that is told and not counted: nothing was ever to be had.
        """
        try:
            with self._database.transaction() as connection:
                connection.execute(
                    "select set_config('lock_timeout', %s, true), set_config('statement_timeout', %s, true)",
                    (_LOCK_TIMEOUT, _STATEMENT_TIMEOUT),
                )
                insert_search(connection, record)
        except OperatorNeeded as error:
            return error.message
        except (MedirError, psycopg.Error) as error:
            cause = error.__cause__
            self._note_loss(record.asked_at, cause if isinstance(cause, psycopg.Error) else error)
            return error.message if isinstance(error, MedirError) else "The database could not take it."
        return None

    def _note_loss(self, at: datetime, error: Exception) -> None:
        # the lines after the first may quote the row, and with it the question
        message = next(iter(str(error).splitlines()), "")
        _LOG.warning("A search was answered but not recorded (origin: infra): %s", message)
        if self._loss_log is None:
            return
        line = {"at": at.isoformat(), "origin": "infra", "error": type(error).__name__, "message": message}
        try:
            with self._loss_log.open("a", encoding="utf-8") as log:
                log.write(json.dumps(line, ensure_ascii=False) + "\n")
        except OSError as problem:
            _LOG.warning("The loss could not be counted (origin: infra): %s", problem)


def count_losses(loss_log: Path) -> int:
    """How many searches were answered but not recorded on this machine."""
    try:
        with loss_log.open(encoding="utf-8") as log:
            return sum(1 for _ in log)
    except (FileNotFoundError, NotADirectoryError):
        return 0
