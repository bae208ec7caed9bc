"""How the lexical signal grows with the chunks: 12,500 to 200,000, before and after word statistics, in one run.

The chunks are those of `measure_lexical_speed`, without vectors. Each question is asked as a search asks: its query is
built, with spellings, and the best 100 chunks are fetched, by each function. Before: PostgreSQL's `ts_rank` over every
row that holds any term as it was typed. Also told: what the word statistics take on disk, and what an index run pays to
make them and the spellings anew. Writes `bench/results/lexical-growth.md`. Takes about a quarter of an hour.
"""

import math
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice

from material import TOP, throwaway_services
from measure_lexical_speed import COMMON, PROJECT, all_ranked, begin, made_rows, real_questions
from rag_core.database.connecting import Connection
from rag_core.database.index.chunks import insert_chunks
from rag_core.database.index.postings import write_postings
from rag_core.database.index.spellings import write_spellings
from rag_core.database.search.candidates import lexical_candidates
from rag_core.database.search.lexical_query import build_lexical_query
from rag_core.model import CandidateSettings, LexicalFunction, LexicalWay

SIZES = (12_500, 50_000, 100_000, 200_000)
DEPTH = 100
REPEATS = 5
LIMIT_MS, LIMIT_AT = 20.0, 50_000
BEFORE = "every match ranked"
WAYS = {
    "ts_rank": LexicalWay(function=LexicalFunction.TS_RANK),
    "bm25": LexicalWay(function=LexicalFunction.BM25),
    "coverageIdf": LexicalWay(function=LexicalFunction.COVERAGE_IDF),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Grown:
    """One size: milliseconds of each question by function, and what the words take."""

    chunks: int
    times_ms: Mapping[str, Sequence[float]]
    chunks_mb: float
    gin_mb: float
    postings_mb: float
    spellings_mb: float
    postings_s: float
    spellings_s: float


def main() -> None:
    """Grow, ask, write, judge."""
    questions = [*COMMON, *real_questions()]
    rows = made_rows(vectors=False)
    grown: list[Grown] = []
    with throwaway_services(vectors=False) as services:
        with services.database.connection() as connection:
            begin(connection)
        for size in SIZES:
            with services.database.connection() as connection:
                insert_chunks(connection, PROJECT, islice(rows, size - (grown[-1].chunks if grown else 0)))
                connection.execute("vacuum analyze chunks")
                written = {write: seconds(connection, write) for write in (write_spellings, write_postings)}
                connection.execute("vacuum full postings, lexicons, spellings")
                connection.execute("analyze postings, lexicons, spellings")
            with services.database.snapshot() as connection:
                times = {
                    name: [median_ms(ask, repeats) for ask in asks]
                    for name, asks, repeats in (
                        (BEFORE, [before(connection, text) for text in questions], 1),
                        *(
                            (name, [signal(connection, text, way) for text in questions], REPEATS)
                            for name, way in WAYS.items()
                        ),
                    )
                }
            with services.database.connection() as connection:
                grown.append(
                    Grown(
                        chunks=size,
                        times_ms=times,
                        chunks_mb=megabytes(connection, "chunks")
                        - megabytes(connection, "chunks_search_vector"),
                        gin_mb=megabytes(connection, "chunks_search_vector"),
                        postings_mb=megabytes(connection, "postings") + megabytes(connection, "lexicons"),
                        spellings_mb=megabytes(connection, "spellings"),
                        postings_s=written[write_postings],
                        spellings_s=written[write_spellings],
                    )
                )
            print(size, {name: round(statistics.median(each), 1) for name, each in times.items()})
    out = TOP / "bench" / "results" / "lexical-growth.md"
    out.write_text("\n".join(report(grown, len(questions))) + "\n", encoding="utf-8")
    print(out.read_text(encoding="utf-8"))
    judged = next(one for one in grown if one.chunks == LIMIT_AT)
    if any(statistics.median(judged.times_ms[name]) >= LIMIT_MS for name in ("bm25", "coverageIdf")):
        raise SystemExit(f"At {LIMIT_AT:,} chunks the signal takes {LIMIT_MS:.0f} ms or more")


def seconds(connection: Connection, write: Callable[[Connection, str], None]) -> float:
    """How long it takes to make the words anew."""
    started = time.perf_counter()
    with connection.transaction():
        write(connection, PROJECT)
    return time.perf_counter() - started


def megabytes(connection: Connection, relation: str) -> float:
    """A table with its indexes and what it keeps aside, or an index, on disk."""
    row = connection.execute("select pg_total_relation_size(%s::regclass)", (relation,)).fetchone()
    return row[0] / 1e6 if row else 0.0


def before(connection: Connection, question: str) -> Callable[[], object]:
    """The signal as it was."""

    def ask() -> object:
        query = build_lexical_query(connection, question, WAYS["ts_rank"])
        return query and all_ranked(connection, query, DEPTH)

    return ask


def signal(connection: Connection, question: str, way: LexicalWay) -> Callable[[], object]:
    """The signal as it is."""
    settings = CandidateSettings(fetch_depth=DEPTH, lexical=way)

    def ask() -> object:
        query = build_lexical_query(connection, question, way, project_id=PROJECT)
        return query and lexical_candidates(connection, PROJECT, query, settings)

    return ask


def median_ms(ask: Callable[[], object], repeats: int) -> float:
    """The median of some runs after one that warms up."""
    times: list[float] = []
    for _ in range(1 + repeats):
        started = time.perf_counter()
        ask()
        times.append(1000 * (time.perf_counter() - started))
    return statistics.median(times[1:])


def report(grown: Sequence[Grown], questions: int) -> list[str]:
    """The page."""
    names = (BEFORE, *WAYS)
    return [
        "# The lexical signal as the chunks grow",
        "",
        f"Written by `bench/measure_lexical_growth.py` on {datetime.now(UTC):%Y-%m-%d}: {questions} questions, {DEPTH}",
        f"candidates, any term, warm; a question's time is the median of {REPEATS} runs (of 1 where every match is",
        "ranked), from its text to its rows. Milliseconds, median of the questions / 95th percentile.",
        "",
        f"| chunks | {' | '.join(names)} |",
        f"|---|{'---|' * len(names)}",
        *(
            f"| {one.chunks:,} | "
            + " | ".join(
                f"{statistics.median(one.times_ms[name]):.1f} / {percentile(one.times_ms[name], 95):.1f}"
                for name in names
            )
            + " |"
            for one in grown
        ),
        "",
        "Medians drawn, a doubling is four signs:",
        "",
        "```text",
        *(
            f"{name:<18} {one.chunks:>8,} {'█' * bar(statistics.median(one.times_ms[name]))} "
            f"{statistics.median(one.times_ms[name]):.1f} ms"
            for name in names
            for one in grown
        ),
        "```",
        "",
        "On disk, in MB, and what it takes to make the words anew, in seconds:",
        "",
        "| chunks | chunks, no vectors | GIN index | postings, lexicon | spellings | postings, s | spellings, s |",
        "|---|---|---|---|---|---|---|",
        *(
            f"| {one.chunks:,} | {one.chunks_mb:.0f} | {one.gin_mb:.0f} | {one.postings_mb:.0f} "
            f"| {one.spellings_mb:.0f} | {one.postings_s:.1f} | {one.spellings_s:.1f} |"
            for one in grown
        ),
    ]


def percentile(values: Sequence[float], share: int) -> float:
    """The smallest value that so many percent of them do not pass."""
    return sorted(values)[math.ceil(len(values) * share / 100) - 1]


def bar(value_ms: float) -> int:
    """How long a bar is."""
    return max(1, round(4 * math.log2(max(value_ms, 1.0))))


if __name__ == "__main__":
    main()
