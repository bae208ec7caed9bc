"""Do the lexical functions stand where the field's stand? Vaswani's 93 English questions, and `bm25s` beside ours.

    pip install bm25s    # pure, on NumPy; no dependency of ours. Without it its row is left out, and nothing is written
    python bench/measure_vaswani.py

11,429 abstracts of electronics (`../shared/data/ir/vaswani`), each one chunk; words alone, no vector is made. The same
texts and questions are indexed as English and as Portuguese, which shows what the language is worth. `bm25s` is
given the lexemes that the index holds, as often as it holds them, and each question's own terms. Writes
`bench/results/vaswani.md` and ends with 1 where a demand is not met. Takes two minutes.
"""

import importlib
import importlib.util
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import ir_measures
import numpy as np
from ir_measures import Qrel, ScoredDoc

from material import TOP, JudgedQuestion, index_words, throwaway_services
from medir.wiring import Services
from rag_core.database.connecting import Connection
from rag_core.database.search.candidates import lexical_candidates
from rag_core.database.search.lexical_query import build_lexical_query
from rag_core.lexical.tsquery import LexicalQuery
from rag_core.metrics.comparison import compare
from rag_core.metrics.kernels import Floats, JudgedHits, measure_hits
from rag_core.metrics.measures import parse_measure
from rag_core.model import CandidateSettings, LexicalFunction, LexicalWay

COLLECTION, DEPTH, SEED = "vaswani", 100, 20261130
NDCG = parse_measure("ndcg@10")
LANGUAGES = ("english", "portuguese")
BM25, TS_RANK = "`bm25`", "`ts_rank`"
WAYS: Mapping[str, LexicalWay] = {
    TS_RANK: LexicalWay(),
    "`ts_rank_cd`": LexicalWay(function=LexicalFunction.TS_RANK_CD),
    "`coverage`": LexicalWay(function=LexicalFunction.COVERAGE),
    "`coverageIdf`": LexicalWay(function=LexicalFunction.COVERAGE_IDF, title_weight=0.0),
    BM25: LexicalWay(function=LexicalFunction.BM25, title_weight=0.0),
    "`bm25`, k1 0.9, b 0.4": LexicalWay(function=LexicalFunction.BM25, k1=0.9, b=0.4, title_weight=0.0),
}
OF_BM25S = "bm25s"
# how far the means of the two may be apart, and how far a question's scores from one and the same multiple
NEAR, SAME_SCORE = 0.01, 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a question found: keys of places, best first, and their scores."""

    keys: Sequence[str]
    scores: Sequence[float]


Run = Mapping[str, Found]


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """How two runs of BM25 stand to each other: questions in one order, and the greatest departure of their scores."""

    same_order: int
    departure: float


def main() -> int:
    with throwaway_services() as services:
        runs: dict[str, dict[str, Run]] = {}
        for language in LANGUAGES:
            project, questions = index_words(services, COLLECTION, language=language, project_id=language)
            runs[language] = {
                name: run_of(services, project.project_id, questions, way) for name, way in WAYS.items()
            }
        theirs = run_of_bm25s(services, LANGUAGES[0], questions)
    english = runs[LANGUAGES[0]]
    if theirs is not None:
        english[OF_BM25S] = theirs
    agreement = None if theirs is None else agree(english[BM25], theirs)
    failed = unmet(questions, english, agreement)
    text = "\n".join(report(questions, runs, agreement, failed)) + "\n"
    if theirs is not None:
        (TOP / "bench" / "results" / "vaswani.md").write_text(text, encoding="utf-8")
    print(text)
    return int(bool(failed))


def run_of(services: Services, project_id: str, questions: Sequence[JudgedQuestion], way: LexicalWay) -> Run:
    settings = CandidateSettings(fetch_depth=DEPTH, lexical=way)
    run: dict[str, Found] = {}
    with services.database.snapshot() as connection:
        for each in questions:
            query = build_lexical_query(connection, each.question, way, project_id=project_id)
            rows = lexical_candidates(connection, project_id, query, settings) if query else []
            run[each.id] = Found(
                keys=[row.origin.place.key for row in rows], scores=[row.score for row in rows]
            )
    return run


def run_of_bm25s(services: Services, project_id: str, questions: Sequence[JudgedQuestion]) -> Run | None:
    """The same chunks, words and terms under another program; None where it is not installed."""
    if importlib.util.find_spec("bm25s") is None:
        return None
    way = WAYS[BM25]
    with services.database.snapshot() as connection:
        queries = {
            each.id: build_lexical_query(connection, each.question, way, project_id=project_id)
            for each in questions
        }
        held = lexemes_of_chunks(connection, project_id)
    one_for_all = representatives([query for query in queries.values() if query])
    retriever = importlib.import_module("bm25s").BM25(method="lucene", k1=way.k1, b=way.b, dtype="float64")
    retriever.index(
        [[one_for_all.get(word, word) for word in words] for words in held.values()], show_progress=False
    )
    keys = list(held)
    run: dict[str, Found] = {}
    for name, query in queries.items():
        asked = sorted({one_for_all.get(term[0], term[0]) for term in query.terms}) if query else []
        known = retriever.get_tokens_ids(asked)
        scores = retriever.get_scores_from_ids(known) if known else np.zeros(len(keys))
        # chunks stand in the order that cuts ties
        best = [number for number in np.argsort(-scores, kind="stable")[:DEPTH] if scores[number] > 0]
        run[name] = Found(keys=[keys[number] for number in best], scores=scores[best].tolist())
    return run


def lexemes_of_chunks(connection: Connection, project_id: str) -> dict[str, list[str]]:
    """Each chunk's lexemes by its path, each as often as the index holds it; chunks in the order that cuts ties."""
    # a row is a lexeme of a chunk, or a chunk without any
    rows = connection.execute(
        """
        select source_path, coalesce(lexeme, ''), coalesce(cardinality(positions), 0)
        from chunks left join lateral unnest(search_vector) on true
        where project_id = %s
        order by source_path collate "C", lexeme collate "C"
        """,
        (project_id,),
    ).fetchall()
    held: dict[str, list[str]] = {}
    for path, lexeme, written in rows:
        held.setdefault(path, []).extend([lexeme] * written)
    return held


def representatives(queries: Sequence[LexicalQuery]) -> dict[str, str]:
    """One lexeme for all spellings of a term, by each of them.

    Raises:
        ValueError: A lexeme is a spelling of two terms, so that one word can't stand for both.
    """
    chosen: dict[str, str] = {}
    for lexeme, first in ((lexeme, term[0]) for query in queries for term in query.terms for lexeme in term):
        if chosen.setdefault(lexeme, first) != first:
            raise ValueError(f"{lexeme!r} is a spelling of {first!r} and of {chosen[lexeme]!r}")
    return chosen


def agree(ours: Run, theirs: Run) -> Agreement:
    departures = [0.0]
    for name, found in ours.items():
        other = dict(zip(theirs[name].keys, theirs[name].scores, strict=True))
        ratios = [
            other[key] / score for key, score in zip(found.keys, found.scores, strict=True) if key in other
        ]
        departures += [max(ratios) / min(ratios) - 1] if ratios else []
    return Agreement(
        same_order=sum(list(found.keys) == list(theirs[name].keys) for name, found in ours.items()),
        departure=max(departures),
    )


def ndcg(questions: Sequence[JudgedQuestion], run: Run) -> Floats:
    """By our own measure, question by question."""
    relevant = np.zeros((len(questions), DEPTH), dtype=bool)
    places = np.full((len(questions), DEPTH), -1)
    for row, each in enumerate(questions):
        keys, wanted = run[each.id].keys, {place.key for place in each.expected}
        relevant[row, : len(keys)] = [key in wanted for key in keys]
        places[row, : len(keys)] = range(len(keys))
    expected = np.array([len(each.expected) for each in questions])
    return measure_hits(JudgedHits(relevant=relevant, places=places, expected=expected, limit=DEPTH), NDCG)


def ndcg_of_others(questions: Sequence[JudgedQuestion], run: Run) -> float:
    """By the field's own library, which is given ranks for scores, so that it sorts no tie anew."""
    measure = ir_measures.parse_measure("nDCG@10")
    judged = [Qrel(each.id, place.key, 1) for each in questions for place in each.expected]
    scored = [
        ScoredDoc(name, key, float(-rank))
        for name, found in run.items()
        for rank, key in enumerate(found.keys)
    ]
    return float(ir_measures.calc_aggregate([measure], judged, scored)[measure])


def unmet(
    questions: Sequence[JudgedQuestion], english: Mapping[str, Run], agreement: Agreement | None
) -> list[str]:
    """Which demands are not met, in words."""
    mean = {name: float(ndcg(questions, run).mean()) for name, run in english.items()}
    checks = {
        "bm25 not below ts_rank": mean[BM25] >= mean[TS_RANK],
        f"bm25 within {NEAR} of bm25s": abs(mean[BM25] - mean.get(OF_BM25S, mean[BM25])) <= NEAR,
        "bm25's scores a multiple of bm25s's": agreement is None or agreement.departure <= SAME_SCORE,
        "our measure as the field's": all(
            abs(mean[name] - ndcg_of_others(questions, run)) < 1e-9 for name, run in english.items()
        ),
    }
    return [what for what, met in checks.items() if not met]


def report(
    questions: Sequence[JudgedQuestion],
    runs: Mapping[str, Mapping[str, Run]],
    agreement: Agreement | None,
    failed: Sequence[str],
) -> list[str]:
    judgements = sum(len(each.expected) for each in questions)
    head = (
        f"Written by `bench/measure_vaswani.py` on {datetime.now(UTC):%Y-%m-%d}. {len(questions)} questions,"
    )
    return [
        "# Lexical functions on Vaswani, in English",
        "",
        head,
        f"{judgements} judgements, 11,429 abstracts of one chunk each; nDCG@10 of the lexical signal alone, {DEPTH}",
        "deep. Won and lost: questions against `ts_rank` in English. Another k1 and b are a look, chosen by nothing.",
        "",
        "| | English | by `ir_measures` | won, lost | difference [95 %] | indexed as Portuguese |",
        "|---|---|---|---|---|---|",
        *(f"| {name} | {' | '.join(cells(questions, runs, name))} |" for name in runs[LANGUAGES[0]]),
        "",
        told_agreement(agreement, len(questions)),
        "",
        f"Not met: {'; '.join(failed)}." if failed else "Every demand is met.",
    ]


def cells(questions: Sequence[JudgedQuestion], runs: Mapping[str, Mapping[str, Run]], name: str) -> list[str]:
    english, portuguese = (runs[language] for language in LANGUAGES)
    values = ndcg(questions, english[name])
    against = compare(values, ndcg(questions, english[TS_RANK]), seed=SEED)
    beside = ["-", "-"]
    if name != TS_RANK and against is not None:
        interval = against.interval
        beside = [
            f"{against.won}, {against.lost}",
            f"{against.difference:+.4f} [{interval.low:+.3f}, {interval.high:+.3f}]",
        ]
    return [
        f"{values.mean():.4f}",
        f"{ndcg_of_others(questions, english[name]):.4f}",
        *beside,
        f"{ndcg(questions, portuguese[name]).mean():.4f}" if name in portuguese else "-",
    ]


def told_agreement(agreement: Agreement | None, questions: int) -> str:
    if agreement is None:
        return "bm25s is not installed (`pip install bm25s`): its row and the demands on it are left out."
    return (
        f"`bm25` and `bm25s` (method lucene, k1 1.2, b 0.75, 64-bit) give {agreement.same_order} of {questions} "
        f"questions the same first\n{DEPTH} in the same order; their scores are ours times one number a question, "
        f"to {agreement.departure:.0e}."
    )


if __name__ == "__main__":
    sys.exit(main())
