"""What finding a word in its other spellings is worth: each change alone and all together, before and after.

Real questions on four projects, on two judged collections and on the sample, and the same questions typed without
accents. A change is measured by leaving the others out of the same code that searches. Writes
`bench/results/lexical-door.md`. Takes some minutes.
"""

import dataclasses
import statistics
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from material import BENCH, CORPORA, TOP, index_collection, index_corpus, throwaway_services
from medir.sample import ensure_sample
from medir.wiring import Services
from rag_core.database.connecting import Connection
from rag_core.database.index.identity import read_identity
from rag_core.database.index.spellings import has_spellings, write_spellings
from rag_core.database.search.candidates import SignalRow, lexical_candidates, unite, vector_candidates
from rag_core.database.search.lexical_query import read_spellings, read_tokens
from rag_core.golden.cases import GoldenCase
from rag_core.golden.verdicts import judge
from rag_core.lexical.spellings import keys_of_word
from rag_core.lexical.stop_words import stop_words_of
from rag_core.lexical.terms import AskedTerm, Term, asked_terms, keys_of, resolved_terms
from rag_core.lexical.tsquery import LexicalQuery, any_of
from rag_core.model import (
    ALL_SCOPES,
    CandidateSet,
    CandidateSettings,
    Fusion,
    LexicalWay,
    Place,
    RankingSettings,
)
from rag_core.ranking.ranking import rank
from rag_core.settings.golden_folder import read_golden_set
from rag_core.settings.presets import EMBEDDED

DEPTH = 100
COLLECTIONS = ("faquad", "squad-pt-sample")
Terms = tuple[Term, ...]
TAGS = ("identificador", "sem-acento", "uma-palavra")


def _ranking(weight: float, *, fusion: Fusion = Fusion.WEIGHTED_SUM, depth: int = DEPTH) -> RankingSettings:
    return RankingSettings(
        weight_vector=weight,
        weight_lexical=1 - weight,
        threshold=None,
        candidates_per_signal=depth,
        fusion=fusion,
    )


RANKINGS: Mapping[str, RankingSettings] = {
    "lexical only": _ranking(0.0),
    "weight 0.1": _ranking(0.1),
    "weight 0.2": _ranking(0.2),
    "RRF, 20 a signal": _ranking(0.5, fusion=Fusion.RRF, depth=20),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """Which changes are on: a key's class, and the stop words left out of questions."""

    name: str
    takes: Callable[[AskedTerm, str], bool]
    parts: bool = False
    stop_words: frozenset[str] = frozenset()


def _is_own(term: AskedTerm, key: str) -> bool:
    return not _is_identifier(key) and not key.startswith("/") and key in keys_of_word(term.keys[0])


def _is_other_number(term: AskedTerm, key: str) -> bool:
    return not _is_identifier(key) and not key.startswith("/") and not _is_own(term, key)


def _is_identifier(key: str) -> bool:
    return "#" in key or "@" in key


DOORS = (
    Door(name="before", takes=lambda _term, _key: False),
    Door(name="accents", takes=_is_own),
    Door(
        name="accents and plurals", takes=lambda term, key: _is_own(term, key) or _is_other_number(term, key)
    ),
    Door(name="identifiers", takes=lambda _term, key: _is_identifier(key)),
    Door(name="names", takes=lambda _term, key: key.startswith("/"), parts=True),
    Door(name="stop words", takes=lambda _term, _key: False, stop_words=stop_words_of("portuguese")),
    Door(name="all", takes=lambda _term, _key: True, parts=True, stop_words=stop_words_of("portuguese")),
)
BEFORE, ALL = DOORS[0], DOORS[-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question, the places that answer it (none: nothing does), and its tags."""

    text: str
    expected: frozenset[Place]
    tags: tuple[str, ...] = ()
    case: GoldenCase | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One question under one set of terms; `score` is the best lexical one of a right chunk."""

    reciprocal: Mapping[str, float]
    passed: bool
    score: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Reciprocal rank by ranking and question; what the shipped preset passes; the right chunks' lexical scores."""

    reciprocal: Mapping[str, Sequence[float]]
    passed: int | None
    scores: Sequence[float]


def main() -> None:
    """Index everything, ask everything, write."""
    lines = [
        "# The lexical door: a word in its other spellings",
        "",
        f"Written by `bench/measure_lexical_door.py` on {datetime.now(UTC):%Y-%m-%d}. Each cell is hit@5 / MRR over",
        f"the questions that have an answer, {DEPTH} candidates a signal unless said, no threshold, at most 2 chunks",
        "a file. `passed` counts all cases under the preset `embedded` as shipped, threshold included.",
    ]
    out = TOP / "bench" / "results" / "lexical-door.md"
    out.parent.mkdir(exist_ok=True)
    with throwaway_services() as services:
        for name, questions in _material(services):
            table = ["", f"## {name}", "", *_table(services, name, questions)]
            print("\n".join(table), flush=True)
            lines += table
            # after each, so that an interrupted run leaves what it has measured
            out.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _material(services: Services) -> Iterator[tuple[str, list[Question]]]:
    for name in CORPORA:
        _, cases = index_corpus(services, name)
        yield name, [_of_case(case) for case in cases]
    sample = ensure_sample(services, actor=BENCH, say=print, listener=None)
    cases = read_golden_set(TOP / "golden_set" / "cases.yaml").cases
    yield sample.project_id, [_of_case(case) for case in cases]
    for name in COLLECTIONS:
        _, questions = index_collection(services, name)
        with services.database.transaction() as connection:
            if not has_spellings(connection, name):
                write_spellings(connection, name)
        yield name, [Question(text=q.question, expected=q.expected) for q in questions]


def _of_case(case: GoldenCase) -> Question:
    return Question(text=case.question, expected=frozenset(case.expected), tags=case.tags, case=case)


def _table(services: Services, project_id: str, questions: Sequence[Question]) -> list[str]:
    vectors = _vectors(services, project_id, questions)
    known: dict[tuple[str, Terms], Judged] = {}
    typed = {door.name: _ask(services, project_id, questions, vectors, door, known=known) for door in DOORS}
    answered = sum(bool(question.expected) for question in questions)
    lines = [
        f"{answered} questions with an answer, {len(questions) - answered} without.",
        "",
        f"| change | {' | '.join(RANKINGS)} | passed |",
        f"|---|{'---|' * len(RANKINGS)}---|",
        *(_row(name, outcome) for name, outcome in typed.items()),
    ]
    bare = [dataclasses.replace(question, text=_without_accents(question.text)) for question in questions]
    bare_vectors = _vectors(services, project_id, bare)
    for door in (BEFORE, ALL):
        outcome = _ask(services, project_id, bare, bare_vectors, door, known={})
        lines.append(_row(f"{door.name}, questions typed without accents", outcome))
    before, after = (statistics.median(typed[door.name].scores or [0.0]) for door in (BEFORE, ALL))
    lines += ["", f"Median lexical score of the best right chunk: {before:.4f} before, {after:.4f} after."]
    tagged = [tag for tag in TAGS if any(tag in question.tags for question in questions)]
    if tagged:
        lines += ["", "| tag | n | before, lexical only | all, lexical only |", "|---|---|---|---|"]
        lines += [_tag_row(tag, questions, typed) for tag in tagged]
    return lines


def _row(name: str, outcome: Outcome) -> str:
    cells = " | ".join(_cell(values) for values in outcome.reciprocal.values())
    return f"| {name} | {cells} | {'' if outcome.passed is None else outcome.passed} |"


def _cell(reciprocal: Sequence[float]) -> str:
    hits = sum(value > 0 for value in reciprocal) / len(reciprocal)
    return f"{hits:.3f} / {statistics.fmean(reciprocal):.3f}"


def _tag_row(tag: str, questions: Sequence[Question], typed: Mapping[str, Outcome]) -> str:
    asked = [question for question in questions if question.expected]
    chosen = [place for place, question in enumerate(asked) if tag in question.tags]
    cells = [
        _cell([typed[door.name].reciprocal["lexical only"][place] for place in chosen])
        for door in (BEFORE, ALL)
    ]
    return f"| {tag} | {len(chosen)} | {' | '.join(cells)} |"


def _vectors(services: Services, project_id: str, questions: Sequence[Question]) -> list[list[SignalRow]]:
    """The vector signal of each question: no change touches it."""
    with services.database.connection() as connection:
        identity = read_identity(connection, project_id)
    model = identity.embedding_model if identity else None
    settings = CandidateSettings(scopes=ALL_SCOPES, fetch_depth=DEPTH, embedding_model=model)
    found: list[list[SignalRow]] = []
    for question in questions:
        vector = services.search.embed(question.text, model).vector
        if vector is None:
            raise RuntimeError("the embedded encoder gave no vector")
        with services.database.snapshot() as connection:
            found.append(vector_candidates(connection, project_id, vector, settings, exact=True))
    return found


def _ask(
    services: Services,
    project_id: str,
    questions: Sequence[Question],
    vectors: Sequence[list[SignalRow]],
    door: Door,
    *,
    known: dict[tuple[str, Terms], Judged],
) -> Outcome:
    """All questions through one door; what the same terms gave before is taken from `known`."""
    judged: list[tuple[Question, Judged]] = []
    for question, vector_rows in zip(questions, vectors, strict=True):
        with services.database.snapshot() as connection:
            query = _query(connection, project_id, question.text, door)
            key = (question.text, query.terms if query else ())
            if key not in known:
                settings = CandidateSettings(scopes=ALL_SCOPES, fetch_depth=DEPTH)
                rows = lexical_candidates(connection, project_id, query, settings) if query else []
                known[key] = _judge(question, vector_rows, rows)
        judged.append((question, known[key]))
    answered = [one for question, one in judged if question.expected]
    return Outcome(
        reciprocal={name: [one.reciprocal[name] for one in answered] for name in RANKINGS},
        passed=sum(one.passed for _, one in judged) if judged[0][0].case else None,
        scores=[one.score for one in answered if one.score is not None],
    )


def _judge(question: Question, vector_rows: list[SignalRow], rows: list[SignalRow]) -> Judged:
    found = CandidateSet(
        candidates=unite(vector_rows, rows),
        vector_available=True,
        degraded=False,
        degraded_reason=None,
        searchable_terms=1,
    )
    return Judged(
        reciprocal={
            name: _reciprocal_rank(found, ranking, question.expected) for name, ranking in RANKINGS.items()
        },
        passed=question.case is not None and judge(question.case, rank(found, EMBEDDED.ranking)).passed,
        score=max((row.score for row in rows if row.origin.place in question.expected), default=None),
    )


def _reciprocal_rank(found: CandidateSet, ranking: RankingSettings, expected: frozenset[Place]) -> float:
    hits = rank(found, ranking).hits
    return next(
        (1 / number for number, hit in enumerate(hits, start=1) if hit.candidate.origin.place in expected),
        0.0,
    )


def _query(connection: Connection, project_id: str, question: str, door: Door) -> LexicalQuery | None:
    asked = [
        dataclasses.replace(
            term,
            keys=tuple(key for key in term.keys if door.takes(term, key)),
            part_keys=term.part_keys if door.parts else (),
            parts=term.parts if door.parts else (),
        )
        for term in asked_terms(read_tokens(connection, question), stop_words=door.stop_words)
    ]
    spellings = read_spellings(connection, project_id, keys_of(asked))
    known = {key: [spelling.lexeme for spelling in found] for key, found in spellings.items()}
    terms = resolved_terms(asked, known, with_parts=door.parts)
    if not terms:
        return None
    return LexicalQuery(
        tsquery=any_of(sorted({lexeme for term in terms for lexeme in term})),
        terms=terms,
        way=LexicalWay(),
    )


def _without_accents(text: str) -> str:
    decomposed = unicodedata.normalize("NFD", text)
    return "".join(sign for sign in decomposed if not unicodedata.combining(sign))


if __name__ == "__main__":
    main()
