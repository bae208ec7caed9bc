"""The two queries of a search: as many rows as there are, whatever the plan, and ties cut by place and ordinal."""

import dataclasses
import uuid
from collections.abc import Iterator, Sequence

import numpy as np
import pytest
import rows
from psycopg import sql

from rag_core.database.connecting import Connection
from rag_core.database.connections import Database
from rag_core.database.index.chunks import ChunkRow, insert_chunks
from rag_core.database.index.postings import write_postings
from rag_core.database.search.candidates import (
    SignalRow,
    lexical_candidates,
    vector_candidates,
)
from rag_core.database.search.lexical_query import build_lexical_query
from rag_core.database.search.positions import read_positions
from rag_core.model import (
    CandidateSettings,
    Chunk,
    LexicalFunction,
    LexicalOperator,
    LexicalWay,
    Origin,
    Place,
    Scope,
)
from rag_core.ports import Vectors

MODEL = "embedded/random@0123456789ab+none"
DOCS, ADRS = 1_000, 25
EVERYTHING = CandidateSettings(embedding_model=MODEL)
RANDOM = np.random.default_rng(7)
QUESTIONS = RANDOM.normal(size=(5, 768)).astype(np.float32)


def unit(vectors: Vectors) -> Vectors:
    return (vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)).astype(np.float32)


def row(
    place: str, vector: Vectors | None, *, ordinal: int = 0, content: str = "texto", model: str = MODEL
) -> ChunkRow:
    where = Place.parse(place)
    scope = Scope.SESSION if where.kind == "session" else Scope.ADR if "/adr/" in place else Scope.DOCS
    return ChunkRow(
        id=uuid.uuid4(),
        chunk=Chunk(scope=scope, origin=Origin(place=where), ordinal=ordinal, content=content),
        embedding=vector,
        embedding_model=None if vector is None else model,
    )


def fill(connection: Connection, project_id: str, chunks: Sequence[ChunkRow]) -> None:
    rows.project(connection, project_id)
    for place in {chunk.chunk.origin.place for chunk in chunks}:
        if place.kind == "session":
            rows.session(connection, project_id, place.key)
    insert_chunks(connection, project_id, chunks)
    write_postings(connection, project_id)


def keys(found: Sequence[SignalRow]) -> list[tuple[str, int]]:
    return [(str(entry.origin.place), entry.ordinal) for entry in found]


@pytest.fixture(scope="module")
def filled(module_database: Database) -> Database:
    """Project `large` with random vectors, 2 % of them ADRs; project `small`, whose vectors lie among them."""
    with module_database.connection() as connection:
        vectors = unit(RANDOM.normal(size=(DOCS + ADRS, 768)))
        places = [f"docs/{n:05}.md" for n in range(DOCS)] + [f"docs/adr/{n:04}.md" for n in range(ADRS)]
        fill(connection, "large", [row(p, v) for p, v in zip(places, vectors, strict=True)])
        fill(
            connection,
            "small",
            [row(f"docs/{n}.md", v) for n, v in enumerate(unit(RANDOM.normal(size=(25, 768))))],
        )
        connection.execute("analyze chunks")
    return module_database


@pytest.fixture
def snapshot(filled: Database) -> Iterator[Connection]:
    with filled.snapshot() as connection:
        yield connection


@pytest.fixture
def connection(module_database: Database) -> Iterator[Connection]:
    """A transaction that is rolled back."""
    with module_database.connection() as opened, opened.transaction(force_rollback=True):
        yield opened


@pytest.mark.parametrize(
    ("project_id", "scopes", "matching"),
    [
        ("large", (Scope.DOCS, Scope.ADR, Scope.SESSION), DOCS + ADRS),
        ("large", (Scope.ADR,), ADRS),
        ("large", (Scope.SESSION,), 0),
        ("small", (Scope.DOCS,), 25),
    ],
)
@pytest.mark.parametrize("depth", [20, 100])
def test_the_approximate_index_returns_as_many_rows_as_an_exact_scan_under_any_filter(
    snapshot: Connection, project_id: str, scopes: tuple[Scope, ...], matching: int, depth: int
) -> None:
    settings = dataclasses.replace(EVERYTHING, scopes=scopes, fetch_depth=depth)
    for question in QUESTIONS:
        exact = vector_candidates(snapshot, project_id, question, settings, exact=True)
        serving = vector_candidates(snapshot, project_id, question, settings, exact=False)
        assert len(exact) == len(serving) == min(depth, matching)
        assert [entry.rank for entry in serving] == list(range(1, len(serving) + 1))


def test_where_a_filter_leaves_few_rows_the_approximate_index_finds_nearly_all_the_right_ones(
    snapshot: Connection,
) -> None:
    settings = dataclasses.replace(EVERYTHING, scopes=(Scope.ADR,))
    for question in QUESTIONS:
        exact = vector_candidates(snapshot, "large", question, settings, exact=True)
        serving = vector_candidates(snapshot, "large", question, settings, exact=False)
        assert len(set(keys(exact)) & set(keys(serving))) >= 19


def test_deeper_than_the_index_can_scan_is_scanned_exactly(snapshot: Connection) -> None:
    settings = dataclasses.replace(EVERYTHING, fetch_depth=1_010)
    exact = vector_candidates(snapshot, "large", QUESTIONS[0], settings, exact=True)
    serving = vector_candidates(snapshot, "large", QUESTIONS[0], settings, exact=False)
    assert len(serving) == 1_010
    assert serving == exact


def test_an_exact_scan_uses_no_approximate_index_and_serving_does(filled: Database) -> None:
    def scans_while(exact: bool) -> int:
        before = _index_scans(filled)
        with filled.snapshot() as connection:
            vector_candidates(connection, "large", QUESTIONS[0], EVERYTHING, exact=exact)
        return _index_scans(filled) - before

    assert scans_while(exact=True) == 0
    assert scans_while(exact=False) == 1


@pytest.mark.parametrize("exact", [True, False])
def test_a_deeper_list_begins_with_the_shallower_one(snapshot: Connection, exact: bool) -> None:
    shallow = dataclasses.replace(EVERYTHING, fetch_depth=20)
    deep = dataclasses.replace(EVERYTHING, fetch_depth=80)
    few = vector_candidates(snapshot, "small", QUESTIONS[1], shallow, exact=exact)
    many = vector_candidates(snapshot, "small", QUESTIONS[1], deep, exact=exact)
    assert len(many) == 25
    assert many[:20] == few


def test_a_cosine_is_one_less_the_distance_and_the_best_comes_first(connection: Connection) -> None:
    axes = np.eye(768, dtype=np.float32)
    fill(
        connection,
        "p",
        [row("docs/same.md", axes[0]), row("docs/right.md", axes[1]), row("docs/away.md", -axes[0])],
    )
    found = vector_candidates(connection, "p", axes[0], EVERYTHING, exact=True)
    assert [(str(entry.origin.place), entry.score, entry.rank) for entry in found] == [
        ("docs/same.md", 1.0, 1),
        ("docs/right.md", 0.0, 2),
        ("docs/away.md", -1.0, 3),
    ]


TIED = ["session:a", "docs/é.md", "docs/b.md", "docs/B.md", "docs/a.md", "session:B"]
IN_ORDER = [("docs/B.md", 0), ("docs/a.md", 0), ("docs/a.md", 1), ("docs/b.md", 0), ("docs/é.md", 0)]


@pytest.mark.parametrize("exact", [True, False])
def test_equal_cosines_are_cut_by_file_before_session_then_code_point_then_ordinal(
    connection: Connection, exact: bool
) -> None:
    same = np.eye(768, dtype=np.float32)[0]
    fill(connection, "p", [row(place, same) for place in TIED] + [row("docs/a.md", same, ordinal=1)])
    settings = dataclasses.replace(EVERYTHING, fetch_depth=5)
    assert keys(vector_candidates(connection, "p", same, settings, exact=exact)) == IN_ORDER


@pytest.mark.parametrize("function", list(LexicalFunction))
def test_equal_lexical_scores_are_cut_the_same_way(connection: Connection, function: LexicalFunction) -> None:
    fill(
        connection,
        "p",
        [row(place, None, content="frete fixo") for place in TIED]
        + [row("docs/a.md", None, ordinal=1, content="frete fixo")],
    )
    settings = dataclasses.replace(EVERYTHING, fetch_depth=5, lexical=LexicalWay(function=function))
    assert keys(ask(connection, "frete", settings)) == IN_ORDER


def test_a_vector_of_another_model_is_never_compared_and_a_missing_one_neither(
    connection: Connection,
) -> None:
    axis = np.eye(768, dtype=np.float32)[0]
    fill(
        connection,
        "p",
        [
            row("docs/mine.md", axis),
            row("docs/other.md", axis, model="ollama/n@0123456789ab+p"),
            row("docs/none.md", None),
        ],
    )
    for exact in (True, False):
        found = vector_candidates(connection, "p", axis, EVERYTHING, exact=exact)
        assert keys(found) == [("docs/mine.md", 0)]


def ask(
    connection: Connection,
    question: str,
    settings: CandidateSettings = EVERYTHING,
    project_id: str = "p",
) -> list[SignalRow]:
    query = build_lexical_query(connection, question, settings.lexical)
    assert query is not None
    return lexical_candidates(connection, project_id, query, settings)


LIMIT_RULE = "A regra RN-058 define o limite diário de saque."


def test_a_natural_question_matches_although_no_chunk_holds_all_its_words(connection: Connection) -> None:
    fill(connection, "p", [row("docs/saque.md", None, content=LIMIT_RULE)])
    question = "Qual é o limite diário de saque por cliente?"
    assert keys(ask(connection, question)) == [("docs/saque.md", 0)]
    every_term = dataclasses.replace(EVERYTHING, lexical=LexicalWay(operator=LexicalOperator.ALL))
    assert ask(connection, question, every_term) == []
    assert keys(ask(connection, "limite do saque diário", every_term)) == [("docs/saque.md", 0)]


def test_no_lexical_function_is_taken_for_another(connection: Connection) -> None:
    fill(connection, "p", [row("docs/saque.md", None, content=LIMIT_RULE)])
    scores = {
        found.score
        for function in LexicalFunction
        for found in ask(
            connection,
            "limite de saque do vulcão",
            dataclasses.replace(EVERYTHING, lexical=LexicalWay(function=function)),
        )
    }
    # the word that no chunk holds weighs more than the others where rarity counts
    assert len(scores) == len(LexicalFunction)


@pytest.mark.parametrize("function", [LexicalFunction.TS_RANK, LexicalFunction.TS_RANK_CD])
def test_ts_rank_is_postgres_own_under_normalisation_32(
    connection: Connection, function: LexicalFunction
) -> None:
    fill(connection, "p", [row("docs/saque.md", None, content=LIMIT_RULE)])
    (found,) = ask(
        connection, "limite de saque", dataclasses.replace(EVERYTHING, lexical=LexicalWay(function=function))
    )
    expected = connection.execute(
        sql.SQL(
            "select {}(search_vector, 'limit | saqu', 32)::float8 from chunks where project_id = 'p'"
        ).format(sql.SQL(str(function)))
    ).fetchone()
    assert (found.score,) == expected
    assert 0 < found.score < 1


def test_coverage_is_the_share_of_the_distinct_terms_asked_that_a_chunk_holds(
    connection: Connection,
) -> None:
    fill(
        connection,
        "p",
        [
            row("docs/all.md", None, content="limite, saque, cliente"),
            row("docs/two.md", None, content="o saque, o saque e o cliente"),
            row("docs/one.md", None, content="um cliente"),
            row("docs/none.md", None, content="outra coisa"),
        ],
    )
    settings = dataclasses.replace(EVERYTHING, lexical=LexicalWay(function=LexicalFunction.COVERAGE))
    found = ask(connection, "limite de saque do cliente, saque", settings)
    assert [(str(entry.origin.place), entry.score) for entry in found] == [
        ("docs/all.md", 1.0),
        ("docs/two.md", pytest.approx(2 / 3)),
        ("docs/one.md", pytest.approx(1 / 3)),
    ]


def test_a_word_is_found_in_another_form_of_it_in_portuguese(connection: Connection) -> None:
    fill(connection, "p", [row("docs/a.md", None, content="As rotas foram congeladas.")])
    assert len(ask(connection, "rota congelada")) == 1


def test_the_lexical_query_stays_within_project_and_scopes(connection: Connection) -> None:
    fill(
        connection,
        "p",
        [row("docs/a.md", None, content="frete"), row("docs/adr/1.md", None, content="frete")],
    )
    fill(connection, "q", [row("docs/b.md", None, content="frete")])
    adrs = dataclasses.replace(EVERYTHING, scopes=(Scope.ADR,))
    assert keys(ask(connection, "frete", adrs)) == [("docs/adr/1.md", 0)]
    assert keys(ask(connection, "frete", project_id="q")) == [("docs/b.md", 0)]


@pytest.mark.parametrize("operator", list(LexicalOperator))
@pytest.mark.parametrize(
    "word",
    [
        "d'água",
        "https://exemplo.org/a?x=1&y=2",
        "C:\\temp\\x",
        "a|b",
        "!nada",
        "<->",
        "o'brien's",
        "x:*",
        "ana@b.org",
    ],
)
def test_signs_that_mean_something_to_a_tsquery_are_only_text(
    connection: Connection, word: str, operator: LexicalOperator
) -> None:
    fill(
        connection,
        "p",
        [
            row("docs/a.md", None, content=f"Veja {word} aqui, na praça."),
            row("docs/b.md", None, content="Nem isto."),
        ],
    )
    settings = dataclasses.replace(EVERYTHING, lexical=LexicalWay(operator=operator))
    assert keys(ask(connection, f"{word} praça", settings)) == [("docs/a.md", 0)]


@pytest.mark.parametrize("question", ["", "de a o", "?!", "- - - -", "' \" \\", "🙂", "&|!()"])
def test_a_question_without_searchable_words_makes_no_query(connection: Connection, question: str) -> None:
    assert build_lexical_query(connection, question, LexicalWay()) is None


def test_positions_go_on_where_the_candidates_end(connection: Connection) -> None:
    vectors = unit(RANDOM.normal(size=(30, 768)))
    fill(
        connection,
        "p",
        [
            row("docs/a.md", vector, ordinal=number, content=f"frete {'frete ' * (number % 4)}")
            for number, vector in enumerate(vectors)
        ],
    )
    query = build_lexical_query(connection, "frete", LexicalWay())
    assert query is not None
    deep = dataclasses.replace(EVERYTHING, fetch_depth=30)
    by_vector = {
        entry.chunk_id: entry.rank
        for entry in vector_candidates(connection, "p", vectors[3], deep, exact=True)
    }
    by_words = {entry.chunk_id: entry.rank for entry in lexical_candidates(connection, "p", query, deep)}
    positions = read_positions(
        connection, "p", Place("file", "docs/a.md"), vector=vectors[3], query=query, settings=EVERYTHING
    )
    assert [position.ordinal for position in positions] == list(range(30))
    assert {p.chunk_id: p.vector_position for p in positions} == by_vector
    assert {p.chunk_id: p.lexical_position for p in positions} == by_words


@pytest.mark.parametrize("function", list(LexicalFunction))
@pytest.mark.parametrize("operator", list(LexicalOperator))
def test_a_position_is_the_rank_among_the_candidates_and_what_is_no_candidate_has_none(
    connection: Connection, operator: LexicalOperator, function: LexicalFunction
) -> None:
    vectors = RANDOM.normal(size=(12, 768)).astype(np.float32)
    fill(
        connection,
        "p",
        [
            row(
                "docs/a.md",
                None if number % 4 == 0 else vector,
                ordinal=number,
                content=("frete " * (number % 3) + "coleta " * (number % 5)) or "nada",
                model="ollama/other@ba9876543210+none" if number % 4 == 1 else MODEL,
            )
            for number, vector in enumerate(vectors)
        ],
    )
    settings = dataclasses.replace(
        EVERYTHING, fetch_depth=30, lexical=LexicalWay(operator=operator, function=function)
    )
    query = build_lexical_query(connection, "frete da coleta", settings.lexical)
    assert query is not None
    by_vector = vector_candidates(connection, "p", vectors[3], settings, exact=True)
    by_words = lexical_candidates(connection, "p", query, settings)
    assert 0 < len(by_vector) < 12
    assert 0 < len(by_words) < 12
    positions = read_positions(
        connection, "p", Place("file", "docs/a.md"), vector=vectors[3], query=query, settings=settings
    )
    placed = {p.chunk_id: p.vector_position for p in positions if p.vector_position is not None}
    assert placed == {entry.chunk_id: entry.rank for entry in by_vector}
    worded = {p.chunk_id: p.lexical_position for p in positions if p.lexical_position is not None}
    assert worded == {entry.chunk_id: entry.rank for entry in by_words}


def _index_scans(database: Database) -> int:
    with database.connection() as connection:
        connection.execute("select pg_stat_force_next_flush()")
        found = connection.execute(
            "select idx_scan from pg_stat_user_indexes where indexrelname = 'chunks_embedding'"
        ).fetchone()
    assert found is not None
    return int(found[0])
