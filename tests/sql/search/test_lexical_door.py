"""The lexical door: a word is found in all its spellings, and the short cut to the best rows changes nothing."""

import dataclasses
import random
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lexical_material import COVERAGE, EVERYTHING, ask, fill, query_of

from material import ANA, Repository, services
from rag_core.database.connecting import Connection
from rag_core.database.connections import Database
from rag_core.database.index.spellings import has_spellings, write_spellings
from rag_core.database.search.candidates import lexical_candidates
from rag_core.database.search.lexical_query import read_spellings, read_tokens
from rag_core.database.search.positions import read_positions
from rag_core.index.outcome import IndexMode
from rag_core.lexical.stop_words import stop_words_of
from rag_core.lexical.terms import asked_terms
from rag_core.lexical.tsquery import quoted
from rag_core.model import (
    CandidateSettings,
    LexicalFunction,
    LexicalOperator,
    LexicalWay,
)
from rag_core.project.projects import add_project

ALL = LexicalOperator.ALL


@pytest.fixture
def connection(module_database: Database) -> Iterator[Connection]:
    """A transaction that is rolled back."""
    with module_database.connection() as opened, opened.transaction(force_rollback=True):
        yield opened


IDENTIFIERS = {
    "docs/hyphen.md": "A regra RN-058 vale sempre.",
    "docs/joined.md": "Veja também rn058, que muda o prazo.",
    "docs/space.md": "Conforme a RN 058, não se cobra.",
    "docs/underscore.md": "O campo RN_058 guarda o valor.",
    "docs/other.md": "A regra RN-059 é outra.",
    "docs/number.md": "O prazo é de 58 dias, ou 058 no formulário.",
}
RULE_58 = {"docs/hyphen.md", "docs/joined.md", "docs/space.md", "docs/underscore.md"}


@pytest.mark.parametrize("question", ["RN-058", "RN 058", "rn058", "rn-58", "rn 58", "RN_058", "Rn58"])
def test_every_spelling_of_an_identifier_finds_every_other_first_and_with_one_score(
    connection: Connection, question: str
) -> None:
    fill(connection, IDENTIFIERS)
    found = ask(connection, question)
    assert set(list(found)[:4]) == RULE_58
    assert len({round(found[place], 9) for place in RULE_58}) == 1
    others = set(found) - RULE_58
    assert all(found[place] < min(found[rule] for rule in RULE_58) for place in others)


@pytest.mark.parametrize("question", ["RN-058", "RN 058", "rn058", "rn-58"])
def test_an_identifier_is_covered_once_and_wholly_in_any_spelling(
    connection: Connection, question: str
) -> None:
    fill(connection, IDENTIFIERS)
    covered = ask(connection, question, COVERAGE)
    assert {place for place, share in covered.items() if share == 1.0} == RULE_58
    assert covered["docs/other.md"] == 0.5
    all_terms = dataclasses.replace(EVERYTHING, lexical=LexicalWay(operator=ALL))
    assert set(ask(connection, question, all_terms)) == RULE_58


@pytest.mark.parametrize("question", ["ADR 127", "ADR-0127", "adr-127", "adr0127", "ADR-127"])
def test_leading_zeros_are_no_difference(connection: Connection, question: str) -> None:
    fill(
        connection,
        {
            "docs/a.md": "Decidido em ADR-0127.",
            "docs/b.md": "A ADR-127 foi revista.",
            "docs/c.md": "A ADR-1270 trata de outra coisa.",
        },
    )
    first, second, *rest = ask(connection, question).items()
    assert {first[0], second[0]} == {"docs/a.md", "docs/b.md"}
    assert all(score < second[1] for _, score in rest)


def test_a_plain_number_after_a_word_is_no_identifier(connection: Connection) -> None:
    fill(connection, {"docs/a.md": "Vence em 2025-11-10.", "docs/b.md": "Vence no dia 10."})
    assert set(query_of(connection, "dia 10").terms) == {("10",), ("dia",)}
    assert set(ask(connection, "dia 10")) == {"docs/b.md"}


NFD = unicodedata.normalize("NFD", "negociação")


@pytest.mark.parametrize(
    "question", ["negociação", "negociacao", NFD, "NEGOCIAÇÃO", "negociações", "negociacoes"]
)
def test_accents_their_lack_and_both_normal_forms_find_each_other(
    connection: Connection, question: str
) -> None:
    spelled = ["negociação", "negociacao", NFD, "negociações", "negociacoes"]
    fill(connection, {f"docs/{n}.md": f"Sobre a {word} do frete." for n, word in enumerate(spelled)})
    found = ask(connection, question)
    assert len(found) == len(spelled)
    assert len({round(score, 9) for score in found.values()}) == 1


@pytest.mark.parametrize(
    ("one", "many"),
    [
        ("padrão", "padrões"),
        ("canal", "canais"),
        ("papel", "papéis"),
        ("fácil", "fáceis"),
        ("lençol", "lençóis"),
        ("homem", "homens"),
        ("item", "itens"),
        ("mês", "meses"),
        ("pão", "pães"),
        ("túnel", "túneis"),
        ("azul", "azuis"),
        ("perfil", "perfis"),
    ],
)
def test_plurals_that_the_stemmer_parts_find_their_singular_and_the_reverse(
    connection: Connection, one: str, many: str
) -> None:
    fill(connection, {"docs/one.md": f"Há um {one} aqui.", "docs/many.md": f"Há muitos {many} aqui."})
    for question in (one, many):
        assert len(ask(connection, question)) == 2


def test_words_that_only_share_a_stem_without_accents_stay_apart(connection: Connection) -> None:
    fill(connection, {"docs/a.md": "A chave pública.", "docs/b.md": "A publicação do edital."})
    assert set(ask(connection, "pública")) == {"docs/a.md"}


@pytest.mark.parametrize("question", ["0012-reentrega-limitada.md", "docs/adr/0012-reentrega-limitada.md"])
def test_a_file_is_found_by_its_name_by_its_path_and_by_the_words_in_it(
    connection: Connection, question: str
) -> None:
    fill(
        connection,
        {
            "docs/a.md": "Veja docs/adr/0012-reentrega-limitada.md antes.",
            "docs/b.md": "Está em 0012-reentrega-limitada.md mesmo.",
            "docs/adr/0012-reentrega-limitada.md": "Reentrega limitada a duas tentativas.",
            "docs/c.md": "Nada disso.",
        },
    )
    assert set(ask(connection, question)) == {
        "docs/a.md",
        "docs/b.md",
        "docs/adr/0012-reentrega-limitada.md",
    }


@pytest.mark.parametrize("question", ["HASH_SAL_RAIZ", "hash_sal_raiz", "hash sal raiz"])
def test_a_name_with_underscores_is_found_in_either_case_and_by_its_words(
    connection: Connection, question: str
) -> None:
    fill(connection, {"docs/a.md": "Troque HASH_SAL_RAIZ com cuidado.", "docs/b.md": "Outra coisa."})
    assert ask(connection, question, COVERAGE) == {"docs/a.md": 1.0}


def test_a_hyphenated_word_is_found_written_as_one(connection: Connection) -> None:
    fill(connection, {"docs/a.md": "Mande um e-mail.", "docs/b.md": "Mande um email."})
    assert len(ask(connection, "email")) == 2
    assert len(ask(connection, "e-mail")) == 2


def test_frequent_words_and_stop_words_without_accents_are_no_terms(connection: Connection) -> None:
    fill(connection, {"docs/a.md": "O cliente não paga."})
    assert query_of(connection, "porque o cliente nao paga, e onde?").terms == (("client",), ("pag",))


def test_the_function_words_hold_the_whole_stock_list(connection: Connection) -> None:
    row = connection.execute(
        "select pg_read_file(setting || '/tsearch_data/portuguese.stop') from pg_config where name = 'SHAREDIR'"
    ).fetchone()
    assert row is not None
    # Snowball's list has forms of haver that nobody uses
    unused = {"houverei", "houverá", "houveremos", "houverão", "houveria", "houveríamos", "houveriam"}
    assert set(row[0].split()) - unused <= stop_words_of("portuguese")


def test_occurrences_of_all_spellings_count_as_those_of_one_lexeme(connection: Connection) -> None:
    fill(
        connection,
        {
            "docs/mixed.md": "padrão e padrões",
            "docs/same.md": "padrão e padrão",
            "docs/once.md": "padrão",
        },
    )
    found = ask(connection, "padrão")
    # one term, twice: 0.1 × (1 + 1/4) / (π²/6), then x / (x + 1)
    twice = 0.1 * 1.25 / 1.64493406685
    assert found["docs/mixed.md"] == pytest.approx(twice / (twice + 1), abs=1e-7)
    assert found["docs/same.md"] == pytest.approx(found["docs/mixed.md"], abs=1e-9)
    assert found["docs/once.md"] < found["docs/same.md"]


MANY_WORDS = {"x": "rota", "y": "cliente", "z": "padrão", "w": "canal", "v": "prazo"}


def test_mixed_spellings_score_as_postgres_scores_one_spelling(connection: Connection) -> None:
    chance = random.Random(5)
    spelled = {"z": ["padrão", "padrões", "padrao"], "w": ["canal", "canais"]}
    mixed: dict[str, str] = {}
    single: dict[str, str] = {}
    for number in range(60):
        letters = chance.choices("xyzwv", k=chance.randint(1, 12))
        mixed[f"docs/{number:02}.md"] = " ".join(
            chance.choice(spelled.get(letter, [MANY_WORDS[letter]])) for letter in letters
        )
        single[f"docs/{number:02}.md"] = " ".join(MANY_WORDS[letter] for letter in letters)
    fill(connection, mixed, "mixed")
    fill(connection, single, "single")
    assert query_of(connection, "padrões", project_id="mixed").terms == (("padra", "padrã", "padrõ"),)
    question = "padrão, canal, rota"
    for function in (LexicalFunction.TS_RANK, LexicalFunction.COVERAGE, LexicalFunction.TS_RANK_CD):
        settings = dataclasses.replace(EVERYTHING, fetch_depth=60, lexical=LexicalWay(function=function))
        found = ask(connection, question, settings, "mixed")
        assert found == pytest.approx(ask(connection, question, settings, "single"), abs=1e-7)


def test_a_question_whose_words_have_one_spelling_makes_the_query_and_the_score_it_always_made(
    connection: Connection,
) -> None:
    fill(connection, {"docs/a.md": "O limite de saque é diário.", "docs/b.md": "Sem limite: saque, saque."})
    query = query_of(connection, "limite de saque")
    assert query.tsquery == "'limit' | 'saqu'"
    assert query_of(connection, "limite de saque", LexicalWay(operator=ALL)).tsquery == "'limit' & 'saqu'"
    expected = connection.execute(
        """
        select source_path, ts_rank(search_vector, '''limit'' | ''saqu''', 32)::float8
        from chunks where project_id = 'p' order by 2 desc
        """
    ).fetchall()
    assert list(ask(connection, "limite de saque").items()) == expected


def test_without_spellings_the_terms_are_the_lexemes_of_postgres(module_database: Database) -> None:
    signs = st.sampled_from(
        [*"aeçãR7 -_./@#:&|!'\\()<>\n", "RN-058 ", "http://x.org/a?b=c ", "de ", "docs/a-b.md "]
    )

    @given(st.lists(signs, max_size=30).map("".join))
    def check(text: str) -> None:
        with module_database.connection() as connection:
            row = connection.execute(
                "select coalesce(array_agg(lexeme), '{}') from unnest(to_tsvector('portuguese', "
                "medir_plain(%s::text)))",
                (text,),
            ).fetchone()
            asked = asked_terms(read_tokens(connection, text), stop_words=frozenset())
        assert row is not None
        lexemes = set(row[0])
        assert lexemes <= {lexeme for term in asked for lexeme in term.own}
        assert all(lexemes & set(term.own) for term in asked), (
            "only a number has others of its own: its signs"
        )

    check()


def test_any_lexeme_is_one_operand_of_a_tsquery(module_database: Database) -> None:
    @given(
        st.text(
            alphabet=st.characters(exclude_characters="\x00", exclude_categories=["Cs"]),
            min_size=1,
            max_size=40,
        )
    )
    def check(lexeme: str) -> None:
        with module_database.connection() as connection:
            assert connection.execute("select numnode(%s::tsquery)", (quoted(lexeme),)).fetchone() == (1,)

    check()


WORDS = [
    "rota",
    "cliente",
    "padrão",
    "padrões",
    "prazo",
    "nota",
    "frete",
    "canal",
    "canais",
    "carga",
    "RN-058",
    "rn058",
]
QUESTIONS = [
    "rota",
    "rota cliente",
    "rota cliente prazo nota frete carga",
    "padrão do canal na rota do cliente com RN 058, prazo e frete",
    "padrões",
]


@pytest.fixture(scope="module")
def crowded(module_database: Database) -> Database:
    """Project `crowd`: 400 chunks of few words, some of them frequent, so that many rows compete and tie.

    Every eighth repeats two words so often that it outdoes chunks that hold three of them once.
    """
    chance = random.Random(11)
    weights = [20, 12, 8, 4, 6, 6, 3, 3, 2, 2, 2, 1]

    def text(number: int) -> str:
        if number % 8 == 0:
            return " ".join(chance.sample(WORDS[:7], 2) * 30)
        return " ".join(chance.choices(WORDS, weights, k=chance.randint(1, 5)))

    with module_database.connection() as connection:
        fill(connection, {f"docs/{number:03}.md": text(number) for number in range(400)}, "crowd")
        connection.execute("analyze")
    return module_database


def everything_ranked(
    connection: Connection, question: str, settings: CandidateSettings
) -> list[tuple[str, float]]:
    """All matching chunks, each scored by itself, in the order of the ties."""
    deep = dataclasses.replace(settings, fetch_depth=1000)
    query = query_of(connection, question, settings.lexical, "crowd")
    scored = [
        (str(row.origin.place), row.score) for row in lexical_candidates(connection, "crowd", query, deep)
    ]
    matching = connection.execute(
        "select count(*) from chunks where project_id = 'crowd' and search_vector @@ %s::tsquery",
        (query.tsquery,),
    ).fetchone()
    assert matching == (len(scored),)
    return sorted(scored, key=lambda entry: (-entry[1], entry[0]))


@pytest.mark.parametrize("operator", list(LexicalOperator))
@pytest.mark.parametrize("function", list(LexicalFunction))
@pytest.mark.parametrize("question", QUESTIONS)
def test_the_best_rows_are_the_first_of_all_rows_at_any_depth(
    crowded: Database, question: str, function: LexicalFunction, operator: LexicalOperator
) -> None:
    settings = CandidateSettings(lexical=LexicalWay(function=function, operator=operator))
    with crowded.snapshot() as connection:
        whole = everything_ranked(connection, question, settings)
        for depth in (1, 2, 3, 5, 8, 13, 20, 34, 55, 89, 144, 233, 399):
            shallow = dataclasses.replace(settings, fetch_depth=depth)
            assert list(ask(connection, question, shallow, "crowd").items()) == whole[:depth]


def test_plain_ts_rank_gives_the_same_best_rows(crowded: Database) -> None:
    with crowded.snapshot() as connection:
        query = query_of(connection, "rota cliente prazo nota frete carga", project_id="crowd")
        expected = connection.execute(
            """
            select source_path, ts_rank(search_vector, %s::tsquery, 32)::float8 as score
            from chunks where project_id = 'crowd' and search_vector @@ %s::tsquery
            order by score desc, source_path collate "C" limit 20
            """,
            (query.tsquery, query.tsquery),
        ).fetchall()
        settings = dataclasses.replace(EVERYTHING, fetch_depth=20)
        found = ask(connection, "rota cliente prazo nota frete carga", settings, "crowd")
    assert list(found.items()) == expected


@pytest.mark.parametrize("function", list(LexicalFunction))
def test_positions_agree_with_the_candidates_where_words_have_spellings(
    crowded: Database, function: LexicalFunction
) -> None:
    settings = CandidateSettings(lexical=LexicalWay(function=function), fetch_depth=400)
    with crowded.snapshot() as connection:
        query = query_of(connection, QUESTIONS[3], settings.lexical, "crowd")
        found = lexical_candidates(connection, "crowd", query, settings)
        for row in (found[0], found[7], found[-1]):
            (position,) = read_positions(
                connection, "crowd", row.origin.place, vector=None, query=query, settings=settings
            )
            assert position.lexical_position == row.rank


def test_the_planner_is_left_as_it_was(crowded: Database) -> None:
    with crowded.snapshot() as connection:
        ask(connection, "rota cliente", EVERYTHING, "crowd")
        assert connection.execute("select current_setting('enable_seqscan')").fetchone() == ("on",)


def spellings(connection: Connection, project_id: str) -> Sequence[tuple[str, str, int]]:
    return connection.execute(
        'select key, lexeme, chunks from spellings where project_id = %s order by key collate "C", lexeme collate "C"',
        (project_id,),
    ).fetchall()


def test_spellings_follow_from_the_texts_alone(connection: Connection) -> None:
    fill(connection, IDENTIFIERS)
    fill(connection, dict(reversed(IDENTIFIERS.items())), "q")
    assert spellings(connection, "p") == spellings(connection, "q")
    connection.execute("delete from chunks where project_id = 'q' and source_path <> 'docs/number.md'")
    write_spellings(connection, "q")
    fill(connection, {"docs/number.md": IDENTIFIERS["docs/number.md"]}, "r")
    assert spellings(connection, "q") == spellings(connection, "r")


def test_a_project_without_chunks_has_no_spellings_and_those_of_others_are_not_its_own(
    connection: Connection,
) -> None:
    fill(connection, {"docs/a.md": "padrões"}, "p")
    fill(connection, {}, "q")
    assert has_spellings(connection, "p")
    assert not has_spellings(connection, "q")
    assert read_spellings(connection, "q", ["padroes"], of_titles=True) == {}
    assert query_of(connection, "padrão", project_id="q").terms == (("padrã",),)


def test_spellings_go_with_their_project(connection: Connection) -> None:
    fill(connection, {"docs/a.md": "padrões"})
    connection.execute("delete from search_settings where project_id = 'p'")
    connection.execute("delete from projects where project_id = 'p'")
    assert not has_spellings(connection, "p")


def test_words_too_long_to_be_typed_are_not_kept_and_break_nothing(connection: Connection) -> None:
    fill(connection, {"docs/a.md": f"chave {'a1b2' * 600} frete {'x' * 101}"})
    # docs is of the title alone
    assert {key for key, _, chunks in spellings(connection, "p") if chunks} == {"chave", "frete"}


@pytest.mark.parametrize("mode", ["incremental", "full"])
def test_an_index_run_writes_the_spellings_of_what_it_leaves(
    database: Database, tmp_path: Path, mode: IndexMode
) -> None:
    repository = Repository(tmp_path / "repository", {"docs/a.md": "# Regras\n\nA RN-058 fixa padrões.\n"})
    project = add_project(database, "regras", repo=repository.folder)
    made = services(database)
    made.indexing.run(project, actor=ANA)
    repository.remove("docs/a.md")
    repository.commit({"docs/b.md": "# Canais\n\nA rn061 trata de canais.\n"})
    made.indexing.run(project, actor=ANA, mode=mode)
    with database.connection() as connection:
        left = spellings(connection, "regras")
        write_spellings(connection, "regras")
        assert spellings(connection, "regras") == left
    assert {"canais", "rn#61"} <= {key for key, _, _ in left}
    assert "rn#58" not in {key for key, _, _ in left}
    answer = made.search.ask("regras", "RN 61 do canal", actor=ANA)
    (hit,) = answer.ranking.hits
    assert hit.candidate.lexical_score is not None
    assert answer.found.searchable_terms == 3
