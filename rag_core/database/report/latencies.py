"""How long the searches of a window took: percentiles of each part of a split, and of the whole at even steps.

Degraded searches are left out, as everywhere where latency is told.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import LiteralString

from psycopg import sql
from psycopg.rows import class_row

from rag_core.database.connecting import Connection
from rag_core.database.report.counts import Split
from rag_core.database.report.snapshot import hint
from rag_core.database.report.window import MEASURED, parameters_of
from rag_core.model import Window

# a row is a key of a split, in no order; reads rag_searches_report once and sorts by key, then by latency
_BY = """
select {key} as key, count(*) as searches,
    percentile_cont(array[0.5, 0.95, 0.99]) within group (order by latency_ms) as total,
    percentile_cont(array[0.5, 0.95, 0.99]) within group (order by embed_ms) as embed,
    percentile_cont(array[0.5, 0.95, 0.99]) within group (order by vector_ms) as vector,
    percentile_cont(array[0.5, 0.95, 0.99]) within group (order by lexical_ms) as lexical,
    percentile_cont(array[0.5, 0.95, 0.99]) within group (order by rank_ms) as rank
from rag_searches s {joined}
where {measured}
{grouped}
"""


def _by(key: LiteralString, grouped: LiteralString, *, joined: LiteralString = "") -> sql.Composed:
    return sql.SQL(_BY).format(
        key=sql.SQL(key), joined=sql.SQL(joined), measured=MEASURED, grouped=sql.SQL(grouped)
    )


LATENCIES: Mapping[Split, sql.Composed] = {
    "whole": _by("''", "having count(*) > 0"),
    "settings": _by('settings_id collate "C"', "group by 1"),
    "surface": _by("surface::text", "group by surface"),
    "actor": _by(
        "actor_kind::text || ':' || (actor_id collate \"C\")", 'group by actor_id collate "C", actor_kind'
    ),
    "day": _by(
        "((created_at at time zone %(zone)s::text)::date)::text",
        "group by (created_at at time zone %(zone)s::text)::date",
    ),
    "model": _by(
        "coalesce(t.settings ->> 'embeddingModel', 'none')",
        "group by 1",
        joined="join search_settings t on t.project_id = s.project_id and t.id = s.settings_id",
    ),
    "scope": _by(
        "scope::text",
        "group by scope",
        joined="cross join lateral (select distinct unnest(s.scopes) as scope) of_search",
    ),
}


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


def read_latencies(
    connection: Connection, project_id: str, window: Window, split: Split
) -> list[PartLatencies]:
    """The latencies of a split's parts, degraded searches left out; a part without any has no row."""
    hint(connection, streaming=False)
    with connection.cursor(row_factory=class_row(PartLatencies)) as cursor:
        return cursor.execute(LATENCIES[split], parameters_of(project_id, window)).fetchall()


def read_latency_curve(
    connection: Connection, project_id: str, window: Window, shares: Sequence[float]
) -> tuple[int, list[float]]:
    """How many searches were measured, and the total latency in ms at each share from 0 to 1; none for none."""
    # one row, over rag_searches_report alone
    row = connection.execute(
        sql.SQL("""
            select count(*), percentile_cont(%(shares)s::float8[]) within group (order by s.latency_ms)
            from rag_searches s
            where {measured}
        """).format(measured=MEASURED),
        parameters_of(project_id, window) | {"shares": list(shares)},
    ).fetchone()
    if row is None or not row[0]:
        return 0, []
    return row[0], row[1]
