"""Votes: what they refer to, how they are kept, and what a purge takes with it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from psycopg import sql
from psycopg.rows import class_row

from rag_core.database.connecting import Connection
from rag_core.model import Actor

_ITS_VOTE = sql.SQL("""
    project_id = %(project)s and search_id = %(search)s and chunk_id = %(chunk)s and actor_kind = %(kind)s
    and actor_id = %(actor)s
""")
_PURGED = sql.SQL("""
    project_id = %(project)s
    and (%(actor)s::text is null or actor_id = %(actor)s)
    and (%(kind)s::actor_kind is null or actor_kind = %(kind)s::actor_kind)
    and created_at < coalesce(%(before)s::timestamptz, 'infinity')
""")

VoteVerdict = Literal["util", "irrelevante"]


@dataclass(frozen=True, slots=True, kw_only=True)
class VotableSearch:
    """The facts of a search that a vote on it repeats; `ranks` is the rank of each hit by chunk id."""

    asked_at: datetime
    settings_id: str
    session_id: str | None
    ranks: dict[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredVote:
    """A vote as it stands. `actor` is `kind:id`."""

    chunk_id: str
    rank: int
    verdict: VoteVerdict
    actor: str
    updated_at: datetime


def find_votable_search(connection: Connection, project_id: str, search_id: UUID) -> VotableSearch | None:
    """The project's search of that id, kept from being deleted until the transaction ends."""
    row = connection.execute(
        """
        select created_at, settings_id, session_id, hits from rag_searches
        where project_id = %s and id = %s
        for key share
        """,
        (project_id, search_id),
    ).fetchone()
    if row is None:
        return None
    return VotableSearch(
        asked_at=row[0],
        settings_id=row[1],
        session_id=row[2],
        ranks={str(hit["chunkId"]): int(hit["rank"]) for hit in row[3]},
    )


def is_search_elsewhere(connection: Connection, search_id: UUID) -> bool:
    """Whether any project has a search of that id; one look-up by key a project."""
    row = connection.execute(
        """
        select exists (
            select from projects p
                cross join lateral (
                    select from rag_searches s where s.project_id = p.project_id and s.id = %s limit 1
                ) found
        )
        """,
        (search_id,),
    ).fetchone()
    return bool(row and row[0])


def hold_chunk(connection: Connection, project_id: str, chunk_id: UUID) -> bool:
    """Keep a chunk from being removed until the transaction ends; false when it is gone."""
    row = connection.execute(
        "select true from chunks where project_id = %s and id = %s for key share", (project_id, chunk_id)
    ).fetchone()
    return row is not None


def upsert_vote(
    connection: Connection,
    project_id: str,
    *,
    search_id: UUID,
    chunk_id: UUID,
    search: VotableSearch,
    rank: int,
    verdict: str,
    actor: Actor,
    at: datetime,
) -> str | None:
    """Write or change the actor's vote on a hit; returns the verdict that stood before, None for a first vote."""
    identity = {
        "project": project_id,
        "search": search_id,
        "chunk": chunk_id,
        "kind": actor.kind,
        "actor": actor.id,
        "verdict": verdict,
        "at": at,
    }
    created = connection.execute(
        """
        insert into rag_feedback (
            project_id, search_id, chunk_id, rank, verdict, actor_kind, actor_id, created_at, updated_at,
            searched_at, settings_id
        ) values (
            %(project)s, %(search)s, %(chunk)s, %(rank)s, %(verdict)s, %(kind)s, %(actor)s, %(at)s, %(at)s,
            %(searched_at)s, %(settings)s
        )
        on conflict (project_id, search_id, chunk_id, actor_kind, actor_id) do nothing
        """,
        identity | {"rank": rank, "searched_at": search.asked_at, "settings": search.settings_id},
    ).rowcount
    if created:
        return None
    # the row is locked before it is read, so of two clicks at once the later sees what the earlier left
    before = connection.execute(
        sql.SQL("""
        select verdict::text from rag_feedback
        where {its_vote}
        for no key update
        """).format(its_vote=_ITS_VOTE),
        identity,
    ).fetchone()
    connection.execute(
        sql.SQL("""
        update rag_feedback set verdict = %(verdict)s, updated_at = %(at)s
        where {its_vote} and verdict <> %(verdict)s
        """).format(its_vote=_ITS_VOTE),
        identity,
    )
    return str(before[0]) if before else None


def list_votes(
    connection: Connection, project_id: str, search_ids: Sequence[UUID]
) -> dict[UUID, list[StoredVote]]:
    """The votes on some searches, by search; each search's by rank and actor."""
    with connection.cursor() as cursor:
        rows = cursor.execute(
            """
            select search_id, chunk_id::text, rank, verdict::text, actor_kind::text || ':' || actor_id, updated_at
            from rag_feedback
            where project_id = %s and search_id = any(%s::uuid[])
            order by search_id, rank, chunk_id, actor_kind, actor_id collate "C"
            """,
            (project_id, list(search_ids)),
        ).fetchall()
    found: dict[UUID, list[StoredVote]] = {}
    for search_id, chunk_id, rank, verdict, actor, updated_at in rows:
        found.setdefault(search_id, []).append(
            StoredVote(chunk_id=chunk_id, rank=rank, verdict=verdict, actor=actor, updated_at=updated_at)
        )
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Purged:
    """How many searches went, or would go, and how many votes with them."""

    searches: int
    votes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PurgeFilter:
    """Which searches: those of an actor, those asked before a time, both at once; None does not filter.

    `actor_kind` None means whatever kind.
    """

    actor_kind: str | None
    actor_id: str | None
    before: datetime | None

    def parameters(self, project_id: str) -> dict[str, object]:
        """As the queries name them."""
        return {
            "project": project_id,
            "kind": self.actor_kind,
            "actor": self.actor_id,
            "before": self.before,
        }


def count_purge(connection: Connection, project_id: str, chosen: PurgeFilter) -> Purged:
    """What a purge would take."""
    with connection.cursor(row_factory=class_row(Purged)) as cursor:
        # one row; the searches come through rag_searches_report, their votes by key
        found = cursor.execute(
            sql.SQL("""
            with chosen as materialized (
                select id from rag_searches
                where {purged}
            )
            select (select count(*) from chosen) as searches,
                (
                    select count(*) from rag_feedback f join chosen c on c.id = f.search_id
                    where f.project_id = %(project)s
                ) as votes
            """).format(purged=_PURGED),
            chosen.parameters(project_id),
        ).fetchone()
    return found or Purged(searches=0, votes=0)


def delete_searches(connection: Connection, project_id: str, chosen: PurgeFilter) -> int:
    """Delete searches, and with them their candidates and votes; the number of searches that went."""
    return connection.execute(
        sql.SQL("""
        delete from rag_searches
        where {purged}
        """).format(purged=_PURGED),
        chosen.parameters(project_id),
    ).rowcount
