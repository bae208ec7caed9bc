"""The words of an index, kept in step with its chunks by each run: spellings and word statistics."""

from collections.abc import Sequence
from uuid import UUID

from rag_core.database.connecting import Connection
from rag_core.database.index.postings import counts_all_chunks, write_postings
from rag_core.database.index.spellings import (
    Spelled,
    change_spellings,
    count_spellings,
    has_spellings,
    write_spellings,
)
from rag_core.index.matching import Plan
from rag_core.index.outcome import IndexMode


def spelled_before(connection: Connection, project_id: str, plan: Plan, mode: IndexMode) -> Spelled | None:
    """The spellings that a run will take away, read while its chunks still stand.

    None: the run makes all of them anew, as a full one does, and any that finds the words of other chunks than stand.
    """
    if mode == "full" or not _in_step(connection, project_id):
        return None
    return count_spellings(
        connection, project_id, [*(chunk.id for chunk in plan.removed), *_in_other_words(plan)]
    )


def write_words(
    connection: Connection, project_id: str, plan: Plan, *, before: Spelled | None, added: Sequence[UUID]
) -> None:
    """Bring the words in step with the chunks that a run has written; `added` are the ids of those of `plan.added`."""
    if before is None:
        write_spellings(connection, project_id)
    elif plan.added or plan.removed or plan.moved:
        after = count_spellings(connection, project_id, [*added, *_in_other_words(plan)])
        change_spellings(connection, project_id, gone=before, new=after)
    else:
        return
    write_postings(connection, project_id)


def _in_step(connection: Connection, project_id: str) -> bool:
    # a session that is deleted takes its chunks along
    return has_spellings(connection, project_id) and counts_all_chunks(connection, project_id)


def _in_other_words(plan: Plan) -> list[UUID]:
    return [standing.id for standing, chunk in plan.moved if standing.language != chunk.language]
