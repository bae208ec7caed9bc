"""What a page may keep: numbers that change whenever what it shows has changed, cheap to read."""

from dataclasses import dataclass
from datetime import datetime

from rag_core.database.connecting import Connection


@dataclass(frozen=True, slots=True, kw_only=True)
class DataVersion:
    """Equal versions mean equal data. `index_generation` is 0 before the first index run.

    `run_at` is when a run last began or ended, `asked_at` when a search was last recorded; None for never.
    """

    index_generation: int
    adopted_id: int
    run_at: datetime | None
    asked_at: datetime | None

    @property
    def ground(self) -> tuple[int, int]:
        """What decides a search's answer: the index and the adopted settings."""
        return (self.index_generation, self.adopted_id)


def read_data_version(connection: Connection, project_id: str) -> DataVersion:
    """The project's version now; a project that does not exist has the version of an empty one."""
    # one row; each part is the end of an index on (project_id, time), or one row by its key
    row = connection.execute(
        """
        select
            coalesce((select generation from indexes where project_id = %(project)s), 0),
            coalesce((select max(id) from adopted_settings where project_id = %(project)s), 0),
            (select max(greatest(started_at, finished_at)) from runs where project_id = %(project)s),
            (select max(created_at) from rag_searches where project_id = %(project)s)
        """,
        {"project": project_id},
    ).fetchone()
    generation, adopted_id, run_at, asked_at = row or (0, 0, None, None)
    return DataVersion(index_generation=generation, adopted_id=adopted_id, run_at=run_at, asked_at=asked_at)
