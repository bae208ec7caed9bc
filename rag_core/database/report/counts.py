"""The report's counts of one window, and its votes by rank, each over an index that holds all it reads.

A row of a result belongs to one part of the window: a split and a key in it. The split `whole` has one key, ''.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from psycopg import sql
from psycopg.rows import class_row

from rag_core.database.connecting import Connection
from rag_core.database.report.snapshot import hint
from rag_core.database.report.window import ASKED, NOT_MEASURED, VOTED, parameters_of
from rag_core.model import Window

Split = Literal["whole", "settings", "model", "actor", "surface", "scope", "day"]

# a row is a split and key. votes: one row a search; cells: one row a distinct set of facts of searches. A hit has one
# rank in its search, so hits judged down to rank 10 are counted as bits, which costs less than distinct chunks
COUNTS = sql.SQL("""
with votes as (
    select searched_at, search_id,
        bool_or(verdict = 'util') as answered,
        bool_or(rank = 1) as first_judged,
        bool_or(rank = 1 and verdict = 'util') as first_useful,
        coalesce(bit_or(1 << rank) filter (where rank <= 10), 0) as seen,
        count(distinct chunk_id) filter (where rank > 10)::int as deeper,
        count(*) filter (where rank <= 1)::int as votes_1,
        count(*) filter (where rank <= 1 and verdict = 'util')::int as useful_1,
        count(*) filter (where rank <= 3)::int as votes_3,
        count(*) filter (where rank <= 3 and verdict = 'util')::int as useful_3,
        count(*) filter (where rank <= 5)::int as votes_5,
        count(*) filter (where rank <= 5 and verdict = 'util')::int as useful_5,
        count(*) filter (where rank <= 10)::int as votes_10,
        count(*) filter (where rank <= 10 and verdict = 'util')::int as useful_10
    from rag_feedback f
    where {voted}
    group by searched_at, search_id
), cells as materialized (
    select s.settings_id, s.actor_kind, s.actor_id, s.surface, s.scopes,
        (s.created_at at time zone %(zone)s::text)::date as day,
        count(*) as searches,
        count(*) filter (where s.degraded) as degraded,
        count(*) filter (where s.hit_count = 0) as no_hit,
        count(*) filter (where not s.vector_available) as vector_unavailable,
        sum(case when s.degraded then 0 else s.hit_count end) as shown,
        sum(bit_count(v.seen::bit(32))::int + v.deeper) filter (where not s.degraded) as judged,
        sum(v.votes_1) filter (where not s.degraded) as votes_1,
        sum(v.useful_1) filter (where not s.degraded) as useful_1,
        sum(bit_count((v.seen & 2)::bit(32))::int) filter (where not s.degraded) as judged_1,
        sum(v.votes_3) filter (where not s.degraded) as votes_3,
        sum(v.useful_3) filter (where not s.degraded) as useful_3,
        sum(bit_count((v.seen & 14)::bit(32))::int) filter (where not s.degraded) as judged_3,
        sum(v.votes_5) filter (where not s.degraded) as votes_5,
        sum(v.useful_5) filter (where not s.degraded) as useful_5,
        sum(bit_count((v.seen & 62)::bit(32))::int) filter (where not s.degraded) as judged_5,
        sum(v.votes_10) filter (where not s.degraded) as votes_10,
        sum(v.useful_10) filter (where not s.degraded) as useful_10,
        sum(bit_count((v.seen & 2046)::bit(32))::int) filter (where not s.degraded) as judged_10,
        count(*) filter (where not s.degraded and v.answered) as answered,
        count(*) filter (
            where not s.degraded and not v.answered
              and bit_count((v.seen & 14)::bit(32)) = least(s.hit_count, 3)
        ) as unanswered,
        count(*) filter (where not s.degraded and v.answered and v.first_judged) as first_judged,
        count(*) filter (where not s.degraded and v.first_useful) as first_useful,
        min(s.created_at) as first_at,
        max(s.created_at) as last_at
    from rag_searches s
        left join votes v on v.searched_at = s.created_at and v.search_id = s.id
    where {asked}
    group by s.settings_id, s.actor_kind, s.actor_id, s.surface, s.scopes, day
)
select p.split, p.key,
    sum(c.searches)::bigint as searches,
    sum(c.degraded)::bigint as degraded,
    sum(c.no_hit)::bigint as no_hit,
    sum(c.vector_unavailable)::bigint as vector_unavailable,
    sum(c.shown)::bigint as shown,
    coalesce(sum(c.judged), 0)::bigint as judged,
    coalesce(sum(c.votes_1), 0)::bigint as votes_1,
    coalesce(sum(c.useful_1), 0)::bigint as useful_1,
    coalesce(sum(c.judged_1), 0)::bigint as judged_1,
    coalesce(sum(c.votes_3), 0)::bigint as votes_3,
    coalesce(sum(c.useful_3), 0)::bigint as useful_3,
    coalesce(sum(c.judged_3), 0)::bigint as judged_3,
    coalesce(sum(c.votes_5), 0)::bigint as votes_5,
    coalesce(sum(c.useful_5), 0)::bigint as useful_5,
    coalesce(sum(c.judged_5), 0)::bigint as judged_5,
    coalesce(sum(c.votes_10), 0)::bigint as votes_10,
    coalesce(sum(c.useful_10), 0)::bigint as useful_10,
    coalesce(sum(c.judged_10), 0)::bigint as judged_10,
    sum(c.answered)::bigint as answered,
    sum(c.unanswered)::bigint as unanswered,
    sum(c.first_judged)::bigint as first_judged,
    sum(c.first_useful)::bigint as first_useful,
    min(c.first_at) as first_at,
    max(c.last_at) as last_at
from cells c
    join search_settings t on t.project_id = %(project)s and t.id = c.settings_id
    cross join lateral (
        values ('whole', ''), ('settings', c.settings_id),
            ('model', coalesce(t.settings ->> 'embeddingModel', 'none')),
            ('actor', c.actor_kind::text || ':' || c.actor_id), ('surface', c.surface::text),
            ('day', c.day::text)
        union
        select 'scope', scope::text from unnest(c.scopes) scope
    ) p (split, key)
group by p.split, p.key
""").format(voted=VOTED, asked=ASKED)

# a row is a verdict and rank: all votes, less those on searches that are left out, which are few
RANKS = sql.SQL("""
select verdict::text, rank, sum(votes)::bigint
from (
    select verdict, rank, count(*) as votes
    from rag_feedback f
    where {voted}
    group by verdict, rank
    union all
    select f.verdict, f.rank, -count(*)
    from rag_searches s
        join rag_feedback f on f.project_id = s.project_id and f.searched_at = s.created_at
            and f.search_id = s.id
    where {not_measured}
    group by f.verdict, f.rank
) counted
group by verdict, rank
having sum(votes) > 0
order by verdict, rank
""").format(voted=VOTED, not_measured=NOT_MEASURED)


@dataclass(frozen=True, slots=True, kw_only=True)
class PartCounts:
    """One part's counts. Votes (`votes_K`, `useful_K`), judged hits and hits shown leave out degraded searches.

    `votes_K` are those on hits of rank K or better; `first_at` and `last_at` are the times of its searches.
    `answered` counts searches with a useful vote, and `unanswered` those without one although their first three hits
    (all, where they are fewer) were judged. Of the answered, `first_judged` had a vote on their first hit, and
    `first_useful` a useful one.
    """

    split: Split
    key: str
    searches: int
    degraded: int
    no_hit: int
    vector_unavailable: int
    shown: int
    judged: int
    votes_1: int
    useful_1: int
    judged_1: int
    votes_3: int
    useful_3: int
    judged_3: int
    votes_5: int
    useful_5: int
    judged_5: int
    votes_10: int
    useful_10: int
    judged_10: int
    answered: int
    unanswered: int
    first_judged: int
    first_useful: int
    first_at: datetime
    last_at: datetime


def read_counts(connection: Connection, project_id: str, window: Window) -> list[PartCounts]:
    """Every part's counts, one row a split and key; none for an empty window."""
    # both scans come in the order of (time, search), so votes are counted and joined as a stream; without the
    # hints the planner sorts or hashes millions of rows
    hint(connection, streaming=True)
    with connection.cursor(row_factory=class_row(PartCounts)) as cursor:
        return cursor.execute(COUNTS, parameters_of(project_id, window)).fetchall()


def read_ranks(connection: Connection, project_id: str, window: Window) -> list[tuple[str, int, int]]:
    """Verdict, rank and number of votes, by verdict and rank; those on degraded searches left out."""
    hint(connection, streaming=False)
    return connection.execute(RANKS, parameters_of(project_id, window)).fetchall()
