"""What the searches of a window ran under, and when that became another."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from psycopg import sql

from rag_core.database.connecting import Connection
from rag_core.database.report.snapshot import hint
from rag_core.database.report.window import ASKED, parameters_of
from rag_core.model import Window
from rag_core.model.settings import NO_NUMBERS


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedSettings:
    """Settings in the contract's JSON form; `adopted` where a maintainer adopted these very numbers."""

    settings: dict[str, object]
    adopted: bool


def read_settings(
    connection: Connection, project_id: str, settings_ids: Sequence[str]
) -> dict[str, RecordedSettings]:
    """What searches ran under, by id."""
    # the numbers of a decision are those of a row but for their origin
    rows = connection.execute(
        """
        select t.id, t.settings, exists (
            select from adopted_settings a
            where a.project_id = t.project_id and a.settings - %(origin)s::text[] = t.settings - %(origin)s::text[]
        )
        from search_settings t
        where t.project_id = %(project)s and t.id = any(%(ids)s::text[])
        """,
        {"project": project_id, "ids": list(settings_ids), "origin": list(NO_NUMBERS)},
    ).fetchall()
    return {key: RecordedSettings(settings=settings, adopted=adopted) for key, settings, adopted in rows}


def read_turns(
    connection: Connection, project_id: str, window: Window, most: int | None = None
) -> list[tuple[datetime, str]]:
    """When searches that were no trials began to run under other settings, oldest first; the first of all too.

    At most so many, where a number is given.
    """
    hint(connection, streaming=True)
    # a row is a search whose settings are not those of the one before it, by time and id through rag_searches_report
    return connection.execute(
        sql.SQL("""
        select created_at, settings_id
        from (
            select s.created_at, s.id, s.settings_id,
                lag(s.settings_id) over (order by s.created_at, s.id) as settings_before
            from rag_searches s
            where {asked} and not s.trial
        ) asked
        where settings_before is distinct from settings_id
        order by created_at, id
        limit %(most)s
        """).format(asked=ASKED),
        parameters_of(project_id, window) | {"most": most},
    ).fetchall()
