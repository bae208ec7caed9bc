"""The settings that a maintainer adopted for a project."""

from dataclasses import dataclass
from datetime import datetime

from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from rag_core.database.connecting import Connection
from rag_core.model import Actor


@dataclass(frozen=True, slots=True, kw_only=True)
class AdoptedSettings:
    """One decision: the numbers in the contract's JSON form, by whom, when and why."""

    settings: dict[str, object]
    adopted_by: str
    adopted_at: datetime
    reason: str

    @property
    def model(self) -> str | None:
        """The id of the index's model when the decision was taken."""
        model = self.settings.get("embeddingModel")
        return None if model is None else str(model)


def read_adopted(connection: Connection, project_id: str) -> AdoptedSettings | None:
    """The decision in force, None where nobody took one."""
    return next(iter(list_adopted(connection, project_id, most=1)), None)


def list_adopted(
    connection: Connection, project_id: str, *, most: int | None = None
) -> list[AdoptedSettings]:
    """Every decision, the latest first; at most so many, where a number is given."""
    with connection.cursor(row_factory=class_row(AdoptedSettings)) as cursor:
        return cursor.execute(
            """
            select settings, adopted_by_kind || ':' || adopted_by_id as adopted_by, adopted_at, reason
            from adopted_settings where project_id = %s
            order by id desc
            limit %s
            """,
            (project_id, most),
        ).fetchall()


def insert_adopted(
    connection: Connection,
    project_id: str,
    *,
    settings: dict[str, object],
    actor: Actor,
    at: datetime,
    reason: str,
) -> None:
    """Record a decision, which is in force from now on."""
    connection.execute(
        """
        insert into adopted_settings (project_id, settings, adopted_by_kind, adopted_by_id, adopted_at, reason)
        values (%s, %s, %s, %s, %s, %s)
        """,
        (project_id, Jsonb(settings), actor.kind, actor.id, at, reason),
    )
