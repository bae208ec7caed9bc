"""Writing a search's telemetry row: bounded in time, and never at the price of the answer."""

import logging
from datetime import datetime
from pathlib import Path

import psycopg

from rag_core.database.connections import Database
from rag_core.database.search.telemetry import SearchRecord, insert_search
from rag_core.errors import MedirError, OperatorNeeded
from rag_core.search.losses import Losses

_LOG = logging.getLogger("medir.telemetry")
_LOCK_TIMEOUT = "1000ms"
_STATEMENT_TIMEOUT = "1500ms"


class Telemetry:
    """Keeps searches in `rag_searches`; what can't be kept is logged and counted in `loss_log`.

    `loss_log` is a file of JSON lines, None to count nothing; see `Losses`.
    """

    def __init__(self, database: Database, *, loss_log: Path | None) -> None:
        self._database = database
        self._losses = None if loss_log is None else Losses(loss_log)
        if self._losses is not None:
            self._losses.prepare()

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
        if self._losses is not None:
            self._losses.settle()
        return None

    def _note_loss(self, at: datetime, error: Exception) -> None:
        # the lines after the first may quote the row, and with it the question
        message = next(iter(str(error).splitlines()), "")
        _LOG.warning("A search was answered but not recorded (origin: infra): %s", message)
        if self._losses is not None:
            self._losses.note(at, error, message)
