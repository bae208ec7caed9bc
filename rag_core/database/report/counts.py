"""The report's queries: counts, ranks and latencies of one window, each over an index that holds all it reads.

A row of a result belongs to one part of the window: a split and a key in it. The split `whole` has one key, ''.
All queries of a report see one state of the database; see `shared_snapshot`.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, LiteralString

import psycopg
from psycopg.rows import class_row

from rag_core.database.connections import Connection, Database
from rag_core.errors import InvalidInput

Split = Literal["whole", "settings", "model", "actor", "surface", "scope", "day"]

_MEMORY = "128MB"
_WORTH_WAITING_S = 1.0
_PATIENCE = "10min"
# what the settings of a search say beside the numbers that an adoption decides
_ORIGIN = ("source", "preset", "fetchDepth", "embeddingModel")

# a row is a split and key. votes: one row a search; cells: one row a distinct set of facts of searches. A hit has one
# rank in its search, so hits judged down to rank 10 are counted as bits, which costs less than distinct chunks
COUNTS: LiteralString = """
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
    from rag_feedback
    where project_id = %(project)s and searched_at >= %(start)s and searched_at < %(end)s
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
    where s.project_id = %(project)s and s.created_at >= %(start)s and s.created_at < %(end)s
      and (%(synthetic)s or not s.synthetic)
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
"""

# a row is a verdict and rank: all votes, less those on searches that are left out, which are few
RANKS: LiteralString = """
select verdict::text, rank, sum(votes)::bigint
from (
    select verdict, rank, count(*) as votes
    from rag_feedback
    where project_id = %(project)s and searched_at >= %(start)s and searched_at < %(end)s
    group by verdict, rank
    union all
    select f.verdict, f.rank, -count(*)
    from rag_searches s
        join rag_feedback f on f.project_id = s.project_id and f.searched_at = s.created_at
            and f.search_id = s.id
    where s.project_id = %(project)s and s.created_at >= %(start)s and s.created_at < %(end)s
      and (s.degraded or (s.synthetic and not %(synthetic)s))
    group by f.verdict, f.rank
) counted
group by verdict, rank
having sum(votes) > 0
order by verdict, rank
"""

_PERCENTILES: LiteralString = """
    count(*) as searches,
    percentile_cont(array[0.5, 0.95, 0.99]) within group (order by latency_ms) as total,
    percentile_cont(array[0.5, 0.95, 0.99]) within group (order by embed_ms) as embed,
    percentile_cont(array[0.5, 0.95, 0.99]) within group (order by vector_ms) as vector,
    percentile_cont(array[0.5, 0.95, 0.99]) within group (order by lexical_ms) as lexical,
    percentile_cont(array[0.5, 0.95, 0.99]) within group (order by rank_ms) as rank
"""
_MEASURED: LiteralString = """
    s.project_id = %(project)s and s.created_at >= %(start)s and s.created_at < %(end)s
    and not s.degraded and (%(synthetic)s or not s.synthetic)
"""
# a row is a key of the split, in no order; each reads rag_searches_report once and sorts by key, then by latency
LATENCIES: Mapping[Split, LiteralString] = {
    "whole": "select '' as key,"
    + _PERCENTILES
    + "from rag_searches s where"
    + _MEASURED
    + "having count(*) > 0",
    "settings": 'select settings_id collate "C" as key,'
    + _PERCENTILES
    + "from rag_searches s where"
    + _MEASURED
    + "group by 1",
    "surface": "select surface::text as key,"
    + _PERCENTILES
    + "from rag_searches s where"
    + _MEASURED
    + "group by surface",
    "actor": "select actor_kind::text || ':' || (actor_id collate \"C\") as key,"
    + _PERCENTILES
    + "from rag_searches s where"
    + _MEASURED
    + 'group by actor_id collate "C", actor_kind',
    "day": "select ((created_at at time zone %(zone)s::text)::date)::text as key,"
    + _PERCENTILES
    + "from rag_searches s where"
    + _MEASURED
    + "group by (created_at at time zone %(zone)s::text)::date",
    "model": "select coalesce(t.settings ->> 'embeddingModel', 'none') as key,"
    + _PERCENTILES
    + "from rag_searches s join search_settings t on t.project_id = s.project_id and t.id = s.settings_id where"
    + _MEASURED
    + "group by 1",
    "scope": "select scope::text as key,"
    + _PERCENTILES
    + "from rag_searches s cross join lateral (select distinct unnest(s.scopes) as scope) of_search where"
    + _MEASURED
    + "group by scope",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Which searches are meant: `start` inclusive, `end` exclusive, both aware; days are those of `zone`."""

    project_id: str
    start: datetime
    end: datetime
    zone: str = "UTC"
    synthetic: bool = False

    @property
    def parameters(self) -> dict[str, object]:
        """As the queries name them."""
        return {
            "project": self.project_id,
            "start": self.start,
            "end": self.end,
            "zone": self.zone,
            "synthetic": self.synthetic,
        }


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


@dataclass(frozen=True, slots=True, kw_only=True)
class PartLatencies:
    """One part's latencies: `searches` measured, and for each step p50, p95 and p99 in milliseconds."""

    key: str
    searches: int
    total: list[float]
    embed: list[float]
    vector: list[float]
    lexical: list[float]
    rank: list[float]


@contextmanager
def shared_snapshot(database: Database, snapshot_id: str | None = None) -> Iterator[tuple[Connection, str]]:
    """A read-only transaction, and the id by which another connection sees the same state while it lasts.

    One that is to see the state of another is a help and no need: it is not waited for.
    """
    within_s = None if snapshot_id is None else _WORTH_WAITING_S
    with database.snapshot(within_s=within_s, same_as=snapshot_id) as connection:
        # one connection may stand idle while another still counts, so it waits longer than an abandoned one
        connection.execute(
            """
            select set_config('work_mem', %s, true), set_config('max_parallel_workers_per_gather', '0', true),
                set_config('idle_in_transaction_session_timeout', %s, true)
            """,
            (_MEMORY, _PATIENCE),
        )
        row = connection.execute("select pg_export_snapshot()").fetchone()
        yield connection, str(row[0] if row else "")


def check_zone(connection: Connection, zone: str) -> None:
    """Refuse a time zone that the database does not know.

    Raises:
        InvalidInput: It is none.
    """
    try:
        connection.execute("select now() at time zone %s::text", (zone,))
    except psycopg.errors.InvalidParameterValue as error:
        raise InvalidInput(
            f"The database knows no time zone {zone!r}.", hint="Use a name such as America/Sao_Paulo, or UTC."
        ) from error


def read_counts(connection: Connection, span: Span) -> list[PartCounts]:
    """Every part's counts, one row a split and key; none for an empty window."""
    # both scans come in the order of (time, search), so votes are counted and joined as a stream; without the
    # hints the planner sorts or hashes millions of rows
    _hint(connection, streaming=True)
    with connection.cursor(row_factory=class_row(PartCounts)) as cursor:
        return cursor.execute(
            COUNTS,
            span.parameters,
        ).fetchall()


def read_ranks(connection: Connection, span: Span) -> list[tuple[str, int, int]]:
    """Verdict, rank and number of votes, by verdict and rank; those on degraded searches left out."""
    _hint(connection, streaming=False)
    return connection.execute(
        RANKS,
        span.parameters,
    ).fetchall()


def read_latencies(connection: Connection, span: Span, split: Split) -> list[PartLatencies]:
    """The latencies of a split's parts, degraded searches left out; a part without any has no row."""
    _hint(connection, streaming=False)
    with connection.cursor(row_factory=class_row(PartLatencies)) as cursor:
        return cursor.execute(LATENCIES[split], span.parameters).fetchall()


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
        {"project": project_id, "ids": list(settings_ids), "origin": list(_ORIGIN)},
    ).fetchall()
    return {key: RecordedSettings(settings=settings, adopted=adopted) for key, settings, adopted in rows}


def read_turns(connection: Connection, span: Span, most: int | None = None) -> list[tuple[datetime, str]]:
    """When searches that were no trials began to run under other settings, oldest first; the first of all too.

    At most so many, where a number is given.
    """
    _hint(connection, streaming=True)
    # a row is a search whose settings are not those of the one before it, by time and id through rag_searches_report
    return connection.execute(
        """
        select created_at, settings_id
        from (
            select s.created_at, s.id, s.settings_id,
                lag(s.settings_id) over (order by s.created_at, s.id) as settings_before
            from rag_searches s
            where s.project_id = %(project)s and s.created_at >= %(start)s and s.created_at < %(end)s
              and not s.trial and (%(synthetic)s or not s.synthetic)
        ) asked
        where settings_before is distinct from settings_id
        order by created_at, id
        limit %(most)s
        """,
        span.parameters | {"most": most},
    ).fetchall()


def _hint(connection: Connection, *, streaming: bool) -> None:
    """Planner hints until the end of the transaction or the next hint; no result depends on them."""
    connection.execute(
        """
        select set_config(name, value, true)
        from (values
            ('enable_seqscan', case when %(streaming)s then 'off' else 'on' end),
            ('enable_bitmapscan', case when %(streaming)s then 'off' else 'on' end),
            ('enable_sort', case when %(streaming)s then 'off' else 'on' end),
            ('enable_incremental_sort', case when %(streaming)s then 'off' else 'on' end)
        ) hint (name, value)
        """,
        {"streaming": streaming},
    )
