"""What the short cut to the best rows saves: the lexical query over 50,000 chunks, before and after.

The chunks are made of sentences of the corpora and collections, neighbours kept together, with random vectors beside
them so that rows are as wide as real ones. Before: every row that holds any term is read, ranked and sorted. After:
`lexical_candidates`. Both are asked the same questions, and give the same rows with the same scores; the program
stops where they do not. Writes `bench/results/lexical-speed.md`. Takes some minutes.
"""

import json
import random
import re
import statistics
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count, islice
from typing import TypeVar

import numpy as np

from material import CORPORA, DATA, TOP, throwaway_services
from rag_core.database.connecting import Connection
from rag_core.database.index.chunks import ChunkRow, insert_chunks
from rag_core.database.index.spellings import write_spellings
from rag_core.database.projects import insert_project
from rag_core.database.search.candidates import lexical_candidates
from rag_core.database.search.lexical_query import build_lexical_query
from rag_core.lexical.tsquery import LexicalQuery
from rag_core.model import CandidateSettings, Chunk, LexicalWay, Origin, Place, Project, Scope
from rag_core.settings.golden_folder import read_golden_set

CHUNKS = 50_000
DEPTHS = (20, 100, 200)
REPEATS = 3
PROJECT = "speed"
Answer = TypeVar("Answer")
COMMON = (
    "qual o prazo para enviar a nota fiscal eletrônica quando o servidor não responde",
    "como o sistema usa os dados do cliente na aplicação",
    "erro ao enviar arquivo com certificado digital e senha",
    "parâmetro do tipo código que o cliente pode usar para acessar os dados",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """Medians of one question at one depth."""

    question: str
    terms: int
    rows: int
    before_ms: float
    before_on_index_ms: float
    after_ms: float
    spelled_ms: float


def main() -> None:
    """Fill, ask, compare, write."""
    lines = [
        "# The lexical query at 50,000 chunks",
        "",
        f"Written by `bench/measure_lexical_speed.py` on {datetime.now(UTC):%Y-%m-%d}. Medians of {REPEATS} runs a",
        "question, warm, ts_rank, any term. Before: each row that holds any term is ranked and sorted, under the",
        "planner's own choice, and held to the GIN index. After: the shipped query. Rows and scores are the same.",
        "With spellings: the shipped query as it is asked, each word in all its spellings.",
        "Read the ratios; the times depend on the machine and on what else it does.",
    ]
    with throwaway_services() as services:
        with services.database.connection() as connection:
            spellings_s = fill(connection)
        questions = [*COMMON, *real_questions()]
        for depth in DEPTHS:
            with services.database.snapshot() as connection:
                timings = [_time(connection, question, depth) for question in questions]
            lines += ["", f"## {depth} candidates", "", *_table(timings)]
        with services.database.connection() as connection:
            build_ms = statistics.median(
                _median_ms(lambda text=text: _query(connection, text, spellings=True))[0]
                for text in questions
            )
        lines += [
            "",
            f"Building a question's query with its spellings: {build_ms:.1f} ms (median). Writing the spellings of all",
            f"chunks, once an index run that changed any: {spellings_s:.1f} s.",
        ]
    out = TOP / "bench" / "results" / "lexical-speed.md"
    out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(out.read_text(encoding="utf-8"))


def fill(connection: Connection) -> float:
    """Write the chunks; returns how many seconds their spellings took."""
    begin(connection)
    insert_chunks(connection, PROJECT, islice(made_rows(), CHUNKS))
    connection.execute("vacuum analyze chunks")
    started = time.perf_counter()
    with connection.transaction():
        write_spellings(connection, PROJECT)
    seconds = time.perf_counter() - started
    connection.execute("analyze spellings")
    return seconds


def begin(connection: Connection) -> None:
    """The project, before it has chunks."""
    insert_project(
        connection, Project(project_id=PROJECT, name=PROJECT, repo="/", root="", ref="HEAD", golden=None)
    )
    # no vector is searched here, and building that index takes longer than all the rest
    connection.execute("drop index chunks_embedding")


def made_rows(*, vectors: bool = True) -> Iterator[ChunkRow]:
    """Chunks without end, the same each time."""
    chance, numbers, sentences = random.Random(7), np.random.default_rng(7), _sentences()
    for number in count():
        place = Place("file", f"docs/{number // 8:05}.md")
        yield ChunkRow(
            id=uuid.UUID(int=chance.getrandbits(128), version=4),
            chunk=Chunk(
                scope=Scope.DOCS,
                origin=Origin(place=place, heading_path=("Guia", "Uso")),
                ordinal=number % 8,
                content=_text(sentences, chance),
            ),
            embedding=numbers.standard_normal(768, dtype=np.float32) if vectors else None,
            embedding_model="embedded/random@000000000000+none" if vectors else None,
        )


def _text(sentences: Sequence[str], chance: random.Random) -> str:
    taken: list[str] = []
    while sum(map(len, taken)) < 1000:
        first = chance.randrange(len(sentences))
        taken += sentences[first : first + chance.randint(1, 4)]
    return " ".join(taken)[:1200]


def _sentences() -> list[str]:
    texts = [
        file.read_text(encoding="utf-8", errors="ignore")
        for name in CORPORA
        for file in sorted((DATA / "corpora" / name / "files" / "docs").rglob("*.md"))
    ]
    with (DATA / "ir" / "faquad" / "corpus.jsonl").open(encoding="utf-8") as lines:
        texts += [json.loads(line)["text"] for line in lines]
    pieces = (
        piece.strip().replace("\x00", "") for text in texts for piece in re.split(r"(?<=[.!?])\s+|\n+", text)
    )
    return [piece for piece in pieces if len(piece) > 20]


def real_questions() -> list[str]:
    """Questions of the corpora and of a collection, the same each time."""
    chance = random.Random(3)
    questions: list[str] = []
    for name in CORPORA:
        cases = read_golden_set(DATA / "corpora" / name / "cases.yaml").cases
        questions += [case.question for case in chance.sample(list(cases), 3)]
    with (DATA / "ir" / "faquad" / "queries.jsonl").open(encoding="utf-8") as lines:
        asked = [json.loads(line)["text"] for line in lines]
    return [*questions, *chance.sample(asked, 6)]


def _query(connection: Connection, question: str, *, spellings: bool) -> LexicalQuery:
    query = build_lexical_query(connection, question, LexicalWay(), project_id=PROJECT if spellings else None)
    if query is None:
        raise RuntimeError(f"no searchable word: {question}")
    return query


def _time(connection: Connection, question: str, depth: int) -> Timing:
    # without spellings, so that PostgreSQL's own function is the reference
    query = _query(connection, question, spellings=False)
    settings = CandidateSettings(fetch_depth=depth)
    before_ms, expected = _median_ms(lambda: all_ranked(connection, query, depth))
    connection.execute("select set_config('enable_seqscan', 'off', true)")
    before_on_index_ms, _ = _median_ms(lambda: all_ranked(connection, query, depth))
    connection.execute("select set_config('enable_seqscan', 'on', true)")
    after_ms, found = _median_ms(lambda: lexical_candidates(connection, PROJECT, query, settings))
    if [(row.chunk_id, row.score) for row in found] != expected:
        raise RuntimeError(f"other rows or scores: {question}")
    spelled = _query(connection, question, spellings=True)
    spelled_ms, _ = _median_ms(lambda: lexical_candidates(connection, PROJECT, spelled, settings))
    counted = connection.execute(
        "select count(*) from chunks where project_id = %s and search_vector @@ %s::tsquery",
        (PROJECT, query.tsquery),
    ).fetchone()
    return Timing(
        question=question,
        terms=len(query.terms),
        rows=counted[0] if counted else 0,
        before_ms=before_ms,
        before_on_index_ms=before_on_index_ms,
        after_ms=after_ms,
        spelled_ms=spelled_ms,
    )


def all_ranked(connection: Connection, query: LexicalQuery, depth: int) -> list[tuple[str, float]]:
    """Every row that holds any term, ranked and sorted, by PostgreSQL alone."""
    return connection.execute(
        """
        select id::text, ts_rank(search_vector, %(query)s::tsquery, 32)::float8 as score
        from chunks
        where project_id = %(project)s
          and scope = any('{docs,adr,session}'::chunk_scope[])
          and search_vector @@ %(query)s::tsquery
        order by score desc, scope = 'session', coalesce(source_path, session_id) collate "C", ordinal
        limit %(depth)s
        """,
        {"project": PROJECT, "query": query.tsquery, "depth": depth},
    ).fetchall()


def _median_ms(ask: Callable[[], Answer]) -> tuple[float, Answer]:
    times: list[float] = []
    answer = ask()
    for _ in range(REPEATS):
        started = time.perf_counter()
        answer = ask()
        times.append(1000 * (time.perf_counter() - started))
    return statistics.median(times), answer


def _table(timings: Sequence[Timing]) -> list[str]:
    def median(values: Iterator[float]) -> str:
        return f"{statistics.median(values):.0f}"

    total = sum(t.before_ms for t in timings) / sum(t.after_ms for t in timings)
    ratios = sorted(t.before_ms / t.after_ms for t in timings)
    on_index = statistics.median(t.before_on_index_ms / t.after_ms for t in timings)
    return [
        "| question | terms | rows | before, ms | held to the index | after, ms | ratio | with spellings, ms |",
        "|---|---|---|---|---|---|---|---|",
        *(
            f"| {t.question.replace('|', ' ')} | {t.terms} | {t.rows} | {t.before_ms:.0f} "
            f"| {t.before_on_index_ms:.0f} | {t.after_ms:.1f} | {t.before_ms / t.after_ms:.1f} | {t.spelled_ms:.1f} |"
            for t in timings
        ),
        (
            f"| **median of {len(timings)}** | | {median(float(t.rows) for t in timings)} "
            f"| {median(t.before_ms for t in timings)} | {median(t.before_on_index_ms for t in timings)} "
            f"| {median(t.after_ms for t in timings)} | {statistics.median(ratios):.1f} "
            f"| {median(t.spelled_ms for t in timings)} |"
        ),
        "",
        (
            f"All questions together {total:.1f} times faster; least {ratios[0]:.1f}, most {ratios[-1]:.1f}; "
            f"against the same query held to the index {on_index:.1f} (median)."
        ),
    ]


if __name__ == "__main__":
    main()
