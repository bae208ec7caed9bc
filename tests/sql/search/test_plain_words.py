"""Words that typography, a sign or a joint would hide are found, in text and question, both ways."""

import dataclasses
import unicodedata
from collections.abc import Iterator

import pytest
from lexical_material import COVERAGE, EVERYTHING, ask, fill, query_of

from rag_core.database.connecting import Connection
from rag_core.database.connections import Database
from rag_core.database.search.lexical_query import build_lexical_query, words_left_out
from rag_core.lexical.plain import DASHES, MARKS, WITHOUT_WIDTH
from rag_core.model import LexicalFunction, LexicalOperator, LexicalWay

EVERY_FUNCTION = [
    dataclasses.replace(EVERYTHING, lexical=LexicalWay(function=function, operator=operator))
    for function in LexicalFunction
    for operator in LexicalOperator
]


@pytest.fixture
def connection(module_database: Database) -> Iterator[Connection]:
    """A transaction that is rolled back."""
    with module_database.connection() as opened, opened.transaction(force_rollback=True):
        yield opened


HIDDEN = {
    "a hyphen that does not break": ("RN-060", "RN\u2011060"),
    "an en dash": ("RN-060", "RN\u2013060"),
    "a figure dash": ("RN-060", "RN\u2012060"),
    "an em dash": ("RN-060", "RN\u2014060"),
    "a minus": ("RN-060", "RN\u2212060"),
    "a full-width hyphen": ("RN-060", "RN\uff0d060"),
    "a small hyphen": ("RN-060", "RN\ufe63060"),
    "a soft hyphen": ("negociação", "nego\u00adciação"),
    "a space without width": ("negociação", "nego\u200bciação"),
    "a joiner": ("RN-060", "RN\u2060-\u2060060"),
    "a byte order mark": ("previsão", "\ufeffprevisão"),
    "a mark of direction": ("previsão", "previsão\u200e"),
    "full width": ("RN-060", "\uff32\uff2e\uff0d\uff10\uff16\uff10"),
    "full-width letters": ("frete", "\uff46\uff52\uff45\uff54\uff45"),
    "accents for themselves": ("negociação", unicodedata.normalize("NFD", "negociação")),
    "a space that does not break": ("RN 060", "RN\u00a0060"),
    "a narrow space": ("RN 060", "RN\u202f060"),
}


@pytest.mark.parametrize(("plain", "hidden"), HIDDEN.values(), ids=HIDDEN)
def test_what_typography_hides_is_found_both_ways(connection: Connection, plain: str, hidden: str) -> None:
    fill(
        connection,
        {"docs/plain.md": f"Conforme {plain}, vale.", "docs/hidden.md": f"Conforme {hidden}, vale."},
    )
    for question in (plain, hidden):
        assert ask(connection, question, COVERAGE) == {"docs/plain.md": 1.0, "docs/hidden.md": 1.0}
    scores = ask(connection, hidden)
    assert scores["docs/plain.md"] == pytest.approx(scores["docs/hidden.md"], abs=1e-9)


def test_the_schema_takes_every_dash_for_a_hyphen_and_every_sign_without_width_for_nothing(
    connection: Connection,
) -> None:
    def members(inside: str) -> list[str]:
        found: list[str] = []
        signs = iter(inside)
        for sign in signs:
            if sign == "-":
                last = ord(next(signs))
                found.extend(map(chr, range(ord(found[-1]) + 1, last + 1)))
            else:
                found.append(sign)
        return found

    for signs, expected in ((members(DASHES), "a-b"), (members(WITHOUT_WIDTH), "ab")):
        rows = connection.execute(
            "select sign, medir_plain('a' || sign || 'b') from unnest(%s::text[]) sign", (signs,)
        ).fetchall()
        assert len(rows) == len(signs) > 20
        assert {sign: plain for sign, plain in rows if plain != expected} == {}
    dashes = [chr(n) for n in range(0x80, 0x3100) if unicodedata.category(chr(n)) == "Pd"]
    assert set(dashes) <= set(members(DASHES))
    assert len(members(MARKS)) == 0x70


NUMBERS = {
    "docs/range.md": "No período 2010-2014.",
    "docs/dash.md": "No período 2010\u20132014.",
    "docs/slash.md": "No período 2010/2014.",
    "docs/alone.md": "Em 2014, o prazo.",
    "docs/sign.md": "Ficou em -2014 pontos.",
    "docs/other.md": "Em 2015, RN-2016.",
}


@pytest.mark.parametrize("question", ["2014", "-2014", "+2014"])
def test_a_number_is_found_whatever_sign_or_number_stands_before_it(
    connection: Connection, question: str
) -> None:
    fill(connection, NUMBERS)
    assert ask(connection, question, COVERAGE) == {
        place: 1.0 for place in NUMBERS if place != "docs/other.md"
    }


def test_a_range_that_is_asked_is_its_two_numbers(connection: Connection) -> None:
    fill(connection, NUMBERS)
    for question in ("2010-2014", "2010\u20132014"):
        covered = ask(connection, question, COVERAGE)
        assert {place for place, share in covered.items() if share == 1.0} == {
            "docs/range.md",
            "docs/dash.md",
            "docs/slash.md",
        }


JOINED = [
    ("Flutter/nativo", ("Flutter", "nativo")),
    ("entrada/saída", ("entrada", "saída")),
    ("saída/entrada", ("saida", "entradas")),
    ("TCP/IP", ("tcp", "ip")),
    ("Next.js", ("next", "js")),
    ("Next.js/React", ("next", "js", "React")),
    ("cliente.Depois", ("cliente",)),
    ("pedido.Agora", ("pedidos", "agora")),
    ("fila.retry.limite", ("fila", "retry", "limite")),
    ("RN-058/RN-059", ("RN-058", "rn059")),
    ("RN-058.Veja", ("RN-058", "veja")),
    ("motorista/ou", ("motoristas",)),
]


@pytest.mark.parametrize(("whole", "parts"), JOINED)
def test_joined_words_are_found_as_a_whole_and_by_their_parts_both_ways(
    connection: Connection, whole: str, parts: tuple[str, ...]
) -> None:
    fill(
        connection,
        {
            "docs/whole.md": f"Escolha {whole} aqui",
            "docs/parts.md": f"Escolha {' aqui, '.join(parts)} aqui",
            "docs/none.md": "Escolha outra coisa",
        },
    )
    for settings in EVERY_FUNCTION:
        for question in (whole, *parts):
            assert set(ask(connection, question, settings)) == {"docs/whole.md", "docs/parts.md"}, question
    assert ask(connection, whole, COVERAGE)["docs/whole.md"] == 1.0


def test_the_parts_of_a_file_that_a_text_names_are_no_words(connection: Connection) -> None:
    fill(connection, {"docs/a.md": "Veja regras/cobranca/prazos.md antes.", "docs/b.md": "As regras."})
    assert set(ask(connection, "regras")) == {"docs/b.md"}
    assert set(ask(connection, "prazos")) == set()
    assert set(ask(connection, "regras/cobranca/prazos.md")) == {"docs/a.md"}


@pytest.mark.parametrize(
    "question",
    [
        "é",
        "e",
        "É?",
        "que",
        "quê?",
        "o que é isso",
        "por quê",
        "cadê",
        "cade",
        "quais são as",
        "e/ou",
        "E\u0301",
    ],
)
def test_a_question_of_function_words_has_no_searchable_term(connection: Connection, question: str) -> None:
    fill(connection, {"docs/a.md": "O que é, e quais são? Cadê, e/ou por quê."})
    for settings in EVERY_FUNCTION:
        assert build_lexical_query(connection, question, settings.lexical, project_id="p") is None


def test_a_text_that_shares_function_words_alone_is_not_found(connection: Connection) -> None:
    fill(connection, {"docs/a.md": "A placa é azul, e quanto custa?", "docs/b.md": "Motorista."})
    for settings in EVERY_FUNCTION:
        assert set(ask(connection, "quem é o motorista, e quanto?", settings)) == {"docs/b.md"}


def test_function_words_are_left_out_of_a_question_and_told(connection: Connection) -> None:
    fill(connection, {"docs/a.md": "A placa é azul."})
    question = "Qual é a placa, e dum quê é?"
    assert query_of(connection, question).terms == (("plac",),)
    assert words_left_out(connection, "p", question) == ("Qual", "é", "a", "e", "dum", "quê")
    assert words_left_out(connection, "p", "placa azul") == ()
