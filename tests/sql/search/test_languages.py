"""Words are found by the rules of their chunk's language, in a project of one language and in one of several."""

import dataclasses
import re
import uuid
from collections.abc import Iterator, Mapping

import pytest
import rows

from rag_core.database.connecting import Connection
from rag_core.database.connections import Database
from rag_core.database.index.chunks import ChunkRow, insert_chunks
from rag_core.database.index.identity import read_languages, write_identity
from rag_core.database.index.postings import write_postings
from rag_core.database.index.spellings import write_spellings
from rag_core.database.search.candidates import lexical_candidates
from rag_core.database.search.lexical_query import build_lexical_query, read_tokens
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
from rag_core.model.languages import LANGUAGES, text_search_config

EVERYTHING = CandidateSettings(fetch_depth=50)
ALL = dataclasses.replace(EVERYTHING, lexical=LexicalWay(operator=LexicalOperator.ALL))
BM25 = dataclasses.replace(EVERYTHING, lexical=LexicalWay(function=LexicalFunction.BM25))
ENGLISH = {
    "docs/runners.md": "The runners were running along the river.",
    "docs/policies.md": "Our policies and indices are for RN-058.",
    "docs/cafe.md": "The café is what it is.",
}
PORTUGUESE = {
    "docs/corrida.md": "Os corredores corriam nas margens do rio.",
    "docs/canais.md": "Os canais são de negociação; a RN-058 vale.",
}


@pytest.fixture
def connection(module_database: Database) -> Iterator[Connection]:
    """A transaction that is rolled back."""
    with module_database.connection() as opened, opened.transaction(force_rollback=True):
        yield opened


def fill(connection: Connection, texts: Mapping[str, Mapping[str, str]], *, language: str) -> None:
    """One chunk a place, by language, in a project `p` that is in another one, as an index run leaves them."""
    rows.project(connection, "p")
    connection.execute("update projects set language = %s", (language,))
    insert_chunks(
        connection,
        "p",
        [
            ChunkRow(
                id=uuid.uuid4(),
                chunk=Chunk(
                    scope=Scope.DOCS,
                    origin=Origin(place=Place("file", place)),
                    ordinal=0,
                    content=content,
                    language=own,
                ),
                embedding=None,
                embedding_model=None,
            )
            for own, each in texts.items()
            for place, content in each.items()
        ],
    )
    write_spellings(connection, "p")
    write_postings(connection, "p")
    write_identity(
        connection,
        "p",
        embedding_model=None,
        chunker_version="2",
        text_search_config=text_search_config(language),
    )


def scores(
    connection: Connection, question: str, settings: CandidateSettings = EVERYTHING
) -> dict[str, float]:
    """The scores by place, best first."""
    query = build_lexical_query(connection, question, settings.lexical, project_id="p")
    found = lexical_candidates(connection, "p", query, settings) if query else []
    return {row.origin.place.key: row.score for row in found}


def ask(connection: Connection, question: str, settings: CandidateSettings = EVERYTHING) -> set[str]:
    return set(scores(connection, question, settings))


def terms(connection: Connection, question: str) -> tuple[tuple[str, ...], ...]:
    query = build_lexical_query(connection, question, LexicalWay(), project_id="p")
    return query.terms if query else ()


def test_the_languages_are_those_that_the_database_takes_and_each_makes_words_of_its_own(
    connection: Connection,
) -> None:
    (definition,) = connection.execute(
        "select pg_get_constraintdef(oid) from pg_constraint where conname = 'text_language_check'"
    ).fetchone() or ("",)
    assert set(re.findall(r"'(\w+)'", definition)) == set(LANGUAGES)
    for language in LANGUAGES:
        row = connection.execute(
            "select medir_tsvector(%(name)s, %(text)s) = to_tsvector(%(name)s::regconfig, %(text)s)",
            {"name": language, "text": "The runners были correndo und liefen, nehmen γρήγορα"},
        ).fetchone()
        assert row == (True,)


def test_english_words_are_found_in_another_form_and_its_stop_words_are_no_terms(
    connection: Connection,
) -> None:
    fill(connection, {"english": ENGLISH}, language="english")
    assert read_languages(connection, "p") == ("english",)
    assert ask(connection, "run") == {"docs/runners.md"}
    assert ask(connection, "Where is the policy, and the index?") == {"docs/policies.md"}
    assert set(terms(connection, "the policy of a river")) == {("polici",), ("river",)}
    assert terms(connection, "what is the") == ()


def test_accents_and_identifiers_are_found_in_every_spelling_in_english_too(connection: Connection) -> None:
    fill(connection, {"english": ENGLISH}, language="english")
    assert ask(connection, "cafe") == ask(connection, "CAFÉS") == {"docs/cafe.md"}
    assert ask(connection, "rn058") == ask(connection, "RN 058") == {"docs/policies.md"}


def test_words_that_portuguese_alone_leaves_out_are_words_in_english(connection: Connection) -> None:
    fill(connection, {"english": {"docs/pro.md": "Pro users pay per seat."}}, language="english")
    assert ask(connection, "pro") == {"docs/pro.md"}
    assert terms(connection, "como pagar") == (("como",), ("pagar",))


@pytest.mark.parametrize("language", ["english", "portuguese"])
def test_a_mixed_project_is_asked_in_each_language_of_its_chunks(
    connection: Connection, language: str
) -> None:
    fill(connection, {"english": ENGLISH, "portuguese": PORTUGUESE}, language=language)
    assert read_languages(connection, "p") == ("english", "portuguese")
    assert ask(connection, "run") == {"docs/runners.md"}
    assert ask(connection, "policy") == {"docs/policies.md"}
    assert ask(connection, "corredor") == {"docs/corrida.md"}
    assert ask(connection, "canal de negociacao", ALL) == {"docs/canais.md"}
    assert ask(connection, "rn058") == {"docs/policies.md", "docs/canais.md"}
    assert ask(connection, "the policies of RN-058", ALL) == {"docs/policies.md"}


def test_a_stop_word_of_one_language_is_none_of_a_mixed_projects_words(
    connection: Connection,
) -> None:
    fill(connection, {"english": ENGLISH, "portuguese": PORTUGUESE}, language="english")
    assert terms(connection, "the river") == terms(connection, "o river") == (("riv", "river"),)
    assert terms(connection, "uma") == terms(connection, "the uma") == ()
    assert terms(connection, "a") == ()


def test_tokens_of_several_languages_are_those_of_each_with_all_their_lexemes(connection: Connection) -> None:
    question = "Correndo running, docs/guia.md RN-058 e-mail http://x.org/a"
    both = read_tokens(connection, question, ("english", "portuguese"))
    english = read_tokens(connection, question, ("english",))
    portuguese = read_tokens(connection, question)
    for mixed, one, other in zip(both, english, portuguese, strict=True):
        assert mixed.text == one.text == other.text
        lexemes = {*(one.lexemes or ()), *(other.lexemes or ())}
        left_out = () in (one.lexemes, other.lexemes)
        assert mixed.lexemes == (None if one.lexemes is None else () if left_out else tuple(sorted(lexemes)))
    assert both[0].lexemes == ("corr", "correndo")


def test_bm25_puts_the_rarer_english_word_first_and_counts_no_stop_word(connection: Connection) -> None:
    texts = {
        "docs/a.md": "The circuits of amplifiers.",
        "docs/b.md": "Circuit amplifier",
        "docs/c.md": "What the amplifier is to a circuit, and why.",
        "docs/d.md": "The the of and with",
        "docs/z.md": "An oscillator drives radios",
    }
    fill(connection, {"english": texts}, language="english")
    question = "What is the circuit with the oscillators of?"
    assert next(iter(scores(connection, question))) == "docs/a.md"
    found = scores(connection, question, BM25)
    assert list(found) == ["docs/z.md", "docs/a.md", "docs/b.md", "docs/c.md"]
    assert found["docs/a.md"] == found["docs/b.md"] == found["docs/c.md"]
    assert found == scores(connection, "CIRCUITS oscillator", BM25)


def test_bm25_counts_a_word_that_two_languages_stem_otherwise_as_one(connection: Connection) -> None:
    held, other = {"docs/en.md": "The river."}, {"docs/pt.md": "O river."}
    fill(connection, {"english": held, "portuguese": other}, language="english")
    found = scores(connection, "river", BM25)
    # each chunk holds it once and nothing else, at the average length
    assert found == pytest.approx({"docs/en.md": 1 / 2.2, "docs/pt.md": 1 / 2.2}, rel=1e-12)
