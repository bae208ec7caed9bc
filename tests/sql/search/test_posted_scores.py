"""Scores from word statistics equal a plain count over the chunks, and the statistics are those of the rows."""

import math
import random
import uuid
from collections import Counter
from collections.abc import Iterator

import pytest
import rows

from rag_core.database.connecting import Connection
from rag_core.database.connections import Database
from rag_core.database.index.chunks import ChunkRow, insert_chunks
from rag_core.database.index.postings import write_postings
from rag_core.database.index.spellings import write_spellings
from rag_core.database.search.candidates import lexical_candidates
from rag_core.database.search.lexical_query import build_lexical_query
from rag_core.database.search.positions import read_positions
from rag_core.errors import Unavailable
from rag_core.lexical.tsquery import LexicalQuery
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

# singular and plural, with and without accents; an identifier; words of every chunk; words that leave no lexeme
WORDS = (
    *("canal", "canais", "previsão", "previsao", "previsões", "frete", "fretes", "pedágio", "pedagio"),
    *("RN-058", "RN058", "RN-061", "fila", "filas", "entrega", "entregas", "motorista", "veículo", "veiculo"),
    *(
        "nota",
        "fiscal",
        "10",
        "2014",
        "docs/guia.md",
        "guia",
        "Next.js",
        "e-mail",
        "email",
        "de",
        "a",
        "o",
        "que",
    ),
)
TITLES = ("Fretes congelados", "Guia da fila", "Pedágio", None)
CORPORA, QUESTIONS = 25, 40
WAYS = (
    LexicalWay(function=LexicalFunction.BM25),
    LexicalWay(function=LexicalFunction.BM25, k1=0.6, b=0.2, title_weight=0.5),
    LexicalWay(function=LexicalFunction.BM25, operator=LexicalOperator.ALL, k1=0.0, b=1.0, title_weight=2.0),
    LexicalWay(function=LexicalFunction.COVERAGE_IDF, title_weight=0.5),
    LexicalWay(function=LexicalFunction.COVERAGE_IDF, operator=LexicalOperator.ALL, title_weight=0.0),
)


def made_chunk(
    path: str, ordinal: int, content: str, *, title: str | None = None, headings: tuple[str, ...] = ()
):
    where = Place.parse(path)
    scope = Scope.ADR if "/adr/" in path else Scope.DOCS
    origin = Origin(place=where, title=title, heading_path=headings)
    return ChunkRow(
        id=uuid.uuid4(),
        chunk=Chunk(scope=scope, origin=origin, ordinal=ordinal, content=content),
        embedding=None,
        embedding_model=None,
    )


def corpus(chance: random.Random) -> Iterator[ChunkRow]:
    size = chance.choice((1, 2, 7, 30))
    everywhere = chance.choice(("", "frete ", "RN-058 "))
    for number in range(size):
        words = chance.choices(WORDS, k=chance.choice((0, 1, 5, 40)))
        # "—" has no word at all
        content = (everywhere + " ".join(words)) or "—"
        path = f"docs/{chance.choice(('', 'adr/'))}{number // 3}-{chance.choice(('frete', 'fila'))}.md"
        yield made_chunk(
            path,
            number % 3,
            content,
            title=chance.choice(TITLES),
            headings=chance.choice(((), ("Entregas",), ("Guia", 'O "frete"'))),
        )


def fill(connection: Connection, chunks: list[ChunkRow]) -> None:
    connection.execute("truncate projects cascade")
    rows.project(connection, "p")
    insert_chunks(connection, "p", chunks)
    write_spellings(connection, "p")
    write_postings(connection, "p")


def counted(connection: Connection, text: str) -> Counter[str]:
    found = connection.execute(
        "select lexeme, cardinality(positions) from unnest(medir_tsvector('portuguese', %s))", (text,)
    ).fetchall()
    return Counter(dict(found))


def title_of(chunk: Chunk) -> str:
    origin = chunk.origin
    path = origin.place.key.removesuffix(".md")
    for sign in "/.-_":
        path = path.replace(sign, " ")
    return " ".join((origin.title or "", *origin.heading_path, path))


def expected_scores(
    chunks: list[ChunkRow],
    texts: list[Counter[str]],
    titles: list[Counter[str]],
    query: LexicalQuery,
    way: LexicalWay,
) -> dict[tuple[str, int], float]:
    lengths = [sum(text.values()) for text in texts]
    average = sum(lengths) / len(lengths) or 1.0
    weighed = [
        [
            sum(text[lexeme] for lexeme in term) + way.title_weight * sum(title[lexeme] for lexeme in term)
            for text, title in zip(texts, titles, strict=True)
        ]
        for term in query.terms
    ]
    rarity = [
        math.log(1 + (len(chunks) - holding + 0.5) / (holding + 0.5))
        for holding in (sum(1 for value in values if value) for values in weighed)
    ]
    scores: dict[tuple[str, int], float] = {}
    for number, row in enumerate(chunks):
        held = [values[number] for values in weighed]
        matching = all(held) if way.operator is LexicalOperator.ALL else any(held)
        if not matching:
            continue
        norm = way.k1 * (1 - way.b + way.b * lengths[number] / average)
        parts = (
            [value / (value + norm) if value else 0.0 for value in held]
            if way.function is LexicalFunction.BM25
            else [min(value, 1.0) for value in held]
        )
        total = sum(idf * part for idf, part in zip(rarity, parts, strict=True)) / sum(rarity)
        if total > 0:
            scores[row.chunk.origin.place.key, row.chunk.ordinal] = total
    return scores


@pytest.mark.parametrize("seed", range(CORPORA))
def test_the_scores_equal_a_plain_count_over_the_chunks(seed: int, module_database: Database) -> None:
    chance = random.Random(seed)
    with module_database.transaction() as connection:
        chunks = list(corpus(chance))
        fill(connection, chunks)
        texts = [counted(connection, row.chunk.content) for row in chunks]
        titles = [counted(connection, title_of(row.chunk)) for row in chunks]
        for number in range(QUESTIONS):
            question = " ".join(chance.choices(WORDS, k=chance.choice((1, 2, 5))))
            way = WAYS[number % len(WAYS)]
            query = build_lexical_query(connection, question, way, project_id="p")
            if query is None:
                continue
            expected = expected_scores(chunks, texts, titles, query, way)

            found = lexical_candidates(
                connection, "p", query, CandidateSettings(fetch_depth=1000, lexical=way)
            )

            scores = {(row.origin.place.key, row.ordinal): row.score for row in found}
            assert scores.keys() == expected.keys(), (question, query.terms)
            assert scores == pytest.approx(expected, rel=0, abs=1e-9)
            order = sorted(found, key=lambda row: (-row.score, row.origin.place, row.ordinal))
            assert [row.chunk_id for row in found] == [row.chunk_id for row in order]


def test_rarity_is_of_the_whole_project_and_hits_of_the_scopes_that_are_asked(
    module_database: Database,
) -> None:
    way = LexicalWay(function=LexicalFunction.BM25)
    chunks = [
        made_chunk("docs/a.md", 0, "frete frete"),
        made_chunk("docs/b.md", 0, "fila"),
        made_chunk("docs/adr/c.md", 0, "frete"),
    ]
    with module_database.transaction() as connection:
        fill(connection, chunks)
        query = build_lexical_query(connection, "fretes", way, project_id="p")
        assert query is not None
        scores = [
            {
                row.origin.place.key: row.score
                for row in lexical_candidates(
                    connection, "p", query, CandidateSettings(scopes=scopes, lexical=way)
                )
            }
            for scopes in ((Scope.DOCS, Scope.ADR), (Scope.ADR,))
        ]
        assert list(scores[1]) == ["docs/adr/c.md"]
        assert scores[1]["docs/adr/c.md"] == scores[0]["docs/adr/c.md"]


def test_a_page_whose_name_stands_in_its_front_matter_alone_is_found_by_it(module_database: Database) -> None:
    chunks = [made_chunk("docs/a.md", 0, "texto", title="Pedágio"), made_chunk("docs/b.md", 0, "outro texto")]
    with module_database.transaction() as connection:
        fill(connection, chunks)
        for weight, found_in in ((0.5, ["docs/a.md"]), (0.0, [])):
            way = LexicalWay(function=LexicalFunction.BM25, title_weight=weight)
            query = build_lexical_query(connection, "pedagio", way, project_id="p")
            assert query is not None
            found = lexical_candidates(connection, "p", query, CandidateSettings(lexical=way))
            assert [row.origin.place.key for row in found] == found_in


def test_an_explanation_tells_the_places_of_the_same_order(module_database: Database) -> None:
    way = LexicalWay(function=LexicalFunction.BM25)
    chunks = [
        made_chunk("docs/a.md", number, text) for number, text in enumerate(("frete", "frete frete", "fila"))
    ]
    with module_database.transaction() as connection:
        fill(connection, chunks)
        query = build_lexical_query(connection, "frete", way, project_id="p")
        settings = CandidateSettings(lexical=way)
        positions = read_positions(
            connection, "p", Place("file", "docs/a.md"), vector=None, query=query, settings=settings
        )
        assert query is not None
        found = lexical_candidates(connection, "p", query, settings)
        assert [position.lexical_position for position in positions] == [2, 1, None]
        assert [row.ordinal for row in found] == [1, 0]


def test_chunks_without_word_statistics_are_told_and_not_taken_for_none(module_database: Database) -> None:
    way = LexicalWay(function=LexicalFunction.BM25)
    with module_database.transaction() as connection:
        connection.execute("truncate projects cascade")
        rows.project(connection, "p")
        query = build_lexical_query(connection, "frete", way, project_id="p")
        assert query is not None
        assert lexical_candidates(connection, "p", query, CandidateSettings(lexical=way)) == []
        insert_chunks(connection, "p", [made_chunk("docs/a.md", 0, "frete")])
        with pytest.raises(Unavailable, match="no word statistics"):
            lexical_candidates(connection, "p", query, CandidateSettings(lexical=way))
