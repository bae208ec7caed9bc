"""Votes: a person's or an agent's word on whether a hit helped. One function for every surface."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, NoReturn
from uuid import UUID

from rag_core.database.connecting import Connection
from rag_core.database.connections import Database
from rag_core.database.search.votes import (
    Purged,
    PurgeFilter,
    StoredVote,
    VoteVerdict,
    count_purge,
    delete_searches,
    find_votable_search,
    hold_chunk,
    is_search_elsewhere,
    list_votes,
    upsert_vote,
)
from rag_core.errors import InvalidInput, Refused
from rag_core.model import Actor
from rag_core.model.limits import UUID_PATTERN
from rag_core.model.shape import Shape
from rag_core.search.narration import Narration
from rag_core.words.plurals import counted

if TYPE_CHECKING:
    from rag_core.ports import Clock

__all__ = ["Purged", "StoredVote", "Vote", "VoteVerdict", "cast_vote", "purge_searches", "read_votes"]

_VERDICTS = ("util", "irrelevante")
_UUID = re.compile(UUID_PATTERN)
_ACTOR = re.compile(r"(human|agent|system):(.+)", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote(Shape):
    """A vote as it stands. `changed`: the same caller had said otherwise about this hit before."""

    search_id: str
    chunk_id: str
    verdict: VoteVerdict
    rank: int
    """The passage's rank among the hits of its search."""
    changed: bool
    """True where you had judged this passage otherwise before."""


def cast_vote(
    database: Database,
    clock: "Clock",
    project_id: str,
    *,
    search_id: str,
    chunk_id: str,
    verdict: str,
    actor: Actor,
) -> Vote:
    """Judge one hit of one search; the same actor's second vote on it takes the place of the first.

    The search's session, where it has one that exists, is told; saying the same twice tells nothing new.

    The chunk is of one of the search's hits; who judges need not be who asked.

    Raises:
        InvalidInput: An id or the verdict is malformed, the search is unknown or another project's, the chunk was
            not among its hits, or a reindex has removed it since. Nothing is written.
        DatabaseUnavailable: The database does not answer.
    """
    search_key, chunk_key = _parse(search_id, field="searchId"), _parse(chunk_id, field="chunkId")
    given = _parse_verdict(verdict)
    at = clock.now()
    with database.transaction() as connection:
        search = find_votable_search(connection, project_id, search_key)
        if search is None:
            _refuse_search(connection, search_key)
        rank = search.ranks.get(str(chunk_key))
        if rank is None:
            raise InvalidInput(
                f"The chunk {chunk_key} was not among the hits of the search {search_key}.",
                hint="Vote on a chunkId of that search's answer.",
                where={"field": "chunkId"},
            )
        if not hold_chunk(connection, project_id, chunk_key):
            raise InvalidInput(
                f"The hit's chunk {chunk_key} is gone: a reindex has removed it since the search.",
                hint="Ask again and vote on what is found now.",
                where={"field": "chunkId"},
            )
        before = upsert_vote(
            connection,
            project_id,
            search_id=search_key,
            chunk_id=chunk_key,
            search=search,
            rank=rank,
            verdict=given,
            actor=actor,
            at=at,
        )
    if search.session_id is not None and before != given:
        Narration(database).tell_vote(
            project_id,
            search.session_id,
            search_id=str(search_key),
            chunk_id=str(chunk_key),
            rank=rank,
            verdict=given,
            actor=actor,
            at=at,
        )
    return Vote(
        search_id=str(search_key),
        chunk_id=str(chunk_key),
        verdict=given,
        rank=rank,
        changed=before is not None and before != given,
    )


def read_votes(
    database: Database, project_id: str, search_ids: Sequence[str]
) -> dict[str, tuple[StoredVote, ...]]:
    """The votes on some searches by search id; a search without any is left out.

    Raises:
        InvalidInput: An id is malformed.
    """
    keys = [_parse(search_id, field="searchId") for search_id in search_ids]
    with database.connection() as connection:
        found = list_votes(connection, project_id, keys)
    return {str(key): tuple(votes) for key, votes in found.items()}


def purge_searches(
    database: Database,
    project_id: str,
    *,
    actor: str | None = None,
    before: datetime | None = None,
    confirmed: bool,
) -> Purged:
    """Delete searches with their candidates and votes; what a session's log tells of them stays.

    `actor`: only what that actor asked, by its id or `kind:id`; `before`: only what was asked before this time;
    None: whoever, whenever. Without `confirmed` nothing is deleted, and the refusal says what would be.

    Raises:
        Refused: There is something to delete, and `confirmed` is false.
    """
    kind, actor_id = _parse_actor(actor)
    chosen = PurgeFilter(actor_kind=kind, actor_id=actor_id, before=before)
    with database.transaction() as connection:
        found = count_purge(connection, project_id, chosen)
        if found.searches and not confirmed:
            raise Refused(
                f"This would delete {counted(found.searches, 'search', 'searches')} and the "
                f"{counted(found.votes, 'vote')} on them for good.",
                hint="Say --yes to do it.",
            )
        searches = delete_searches(connection, project_id, chosen) if found.searches else 0
    return Purged(searches=searches, votes=found.votes)


def _parse(text: str, *, field: str) -> UUID:
    if _UUID.fullmatch(text) is None:
        raise InvalidInput(
            f"The {field} {text[:80]!r} is malformed: an id has 32 hex digits in five groups.",
            hint="Copy it from a search's answer.",
            where={"field": field},
        )
    return UUID(text)


def _parse_verdict(text: str) -> VoteVerdict:
    for verdict in ("util", "irrelevante"):
        if text == verdict:
            return verdict
    raise InvalidInput(
        f"{text[:80]!r} is no verdict.", hint=f"Use {' or '.join(_VERDICTS)}.", where={"field": "verdict"}
    )


def _parse_actor(actor: str | None) -> tuple[str | None, str | None]:
    match = _ACTOR.fullmatch(actor) if actor else None
    return (match[1], match[2]) if match else (None, actor)


def _refuse_search(connection: Connection, search_id: UUID) -> NoReturn:
    if is_search_elsewhere(connection, search_id):
        raise InvalidInput(
            f"The search {search_id} belongs to another project.",
            hint="Name that project, or vote on a search of this one.",
            where={"field": "searchId"},
        )
    raise InvalidInput(
        f"There is no search {search_id}.",
        hint="Copy the searchId from a search's answer; a search that was not recorded has none.",
        where={"field": "searchId"},
    )
