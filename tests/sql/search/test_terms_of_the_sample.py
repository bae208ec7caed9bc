"""The sample's questions ask for what they asked for before function words and joined words were minded, but some."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from lexical_material import fill

from rag_core.database.connecting import Connection
from rag_core.database.connections import Database
from rag_core.database.search.lexical_query import build_lexical_query, words_left_out
from rag_core.golden.cases import GoldenCase, parse_cases
from rag_core.model import LexicalWay

GOLDEN_SET = Path(__file__).parents[3] / "golden_set"
RECORDED = json.loads(Path(__file__).with_name("sample_terms.json").read_text(encoding="utf-8"))
"""By case the terms that stayed, or what is `kept`, `gone` and `new` since function words are left out."""

Terms = list[list[str]]


@pytest.fixture(scope="module")
def sample(module_database: Database) -> Iterator[Connection]:
    """The sample's documents, each as one chunk, and their spellings."""
    documents = sorted((GOLDEN_SET / "corpus").rglob("*.md"))
    with module_database.connection() as opened, opened.transaction(force_rollback=True):
        fill(opened, {f"docs/{file.name}": file.read_text(encoding="utf-8") for file in documents})
        yield opened


@pytest.fixture(scope="module")
def cases() -> Sequence[GoldenCase]:
    return parse_cases((GOLDEN_SET / "cases.yaml").read_text(encoding="utf-8"), file="cases.yaml").cases


def terms_of(connection: Connection, case: GoldenCase) -> Terms:
    query = build_lexical_query(connection, case.question, LexicalWay(), project_id="p")
    return sorted(map(list, query.terms)) if query else []


def test_only_the_listed_questions_ask_for_other_terms(
    sample: Connection, cases: Sequence[GoldenCase]
) -> None:
    now = {case.id: terms_of(sample, case) for case in cases}
    changed = {case: sorted(terms["kept"] + terms["new"]) for case, terms in RECORDED["changed"].items()}
    assert now == RECORDED["unchanged"] | changed


def test_what_they_ask_for_differs_in_function_words_signs_and_joined_words_alone(
    sample: Connection, cases: Sequence[GoldenCase]
) -> None:
    for case in cases:
        if case.id not in RECORDED["changed"]:
            continue
        terms = RECORDED["changed"][case.id]
        row = sample.execute(
            "select tsvector_to_array(to_tsvector('portuguese', %s))",
            (" ".join(words_left_out(sample, "p", case.question)),),
        ).fetchone()
        assert row is not None
        before = [term for term in terms["kept"] + terms["gone"] if not set(term) <= set(row[0])]
        assert plain(before) == plain(terms["kept"] + terms["new"]), case.id


def plain(terms: Terms) -> set[tuple[str, ...]]:
    """The terms without joined words and numbers behind a sign."""
    kept = (tuple(lexeme for lexeme in term if lexeme.isalnum()) for term in terms)
    return {term for term in kept if term}
