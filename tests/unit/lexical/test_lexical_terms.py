"""Terms: what a question asks for, once for each thing however it is spelled."""

from collections.abc import Mapping, Sequence

import pytest

from rag_core.lexical.terms import (
    AskedTerm,
    ParserToken,
    asked_terms,
    keys_of,
    left_out,
    resolved_terms,
)


def word(text: str, lexeme: str | None = None) -> ParserToken:
    return ParserToken(alias="word", text=text, lexemes=(lexeme or text.lower(),))


def number(text: str) -> ParserToken:
    return ParserToken(alias="int" if text.startswith("-") else "uint", text=text, lexemes=(text,))


def joined(text: str) -> ParserToken:
    return ParserToken(alias="numword", text=text, lexemes=(text.lower(),))


def file(text: str) -> ParserToken:
    return ParserToken(alias="file", text=text, lexemes=(text,))


def stop(text: str) -> ParserToken:
    return ParserToken(alias="word", text=text, lexemes=())


def sign(text: str) -> ParserToken:
    return ParserToken(alias="blank", text=text, lexemes=None)


SPACE = sign(" ")


def terms(
    tokens: Sequence[ParserToken],
    known: Mapping[str, Sequence[str]] | None = None,
    *,
    with_parts: bool = True,
    stop_words: frozenset[str] = frozenset(),
) -> list[tuple[str, ...]]:
    asked = asked_terms(tokens, stop_words=stop_words)
    assert set(known or {}) <= set(keys_of(asked)), "the test would offer what nobody asks for"
    return list(resolved_terms(asked, known or {}, with_parts=with_parts))


def test_without_other_spellings_the_terms_are_the_lexemes_typed() -> None:
    tokens = [word("Limite", "limit"), SPACE, stop("de"), SPACE, word("saque", "saqu"), sign("?")]
    assert terms(tokens) == [("limit",), ("saqu",)]
    assert terms([word("RN"), number("-058")]) == [("-058",), ("rn",)]
    assert terms([joined("rn058")]) == [("rn058",)]
    assert terms([file("docs/guia-geral.md")]) == [("docs/guia-geral.md",)]


def test_a_word_has_the_spellings_under_its_own_key_and_its_plurals() -> None:
    known = {"padrao": ["padrã"], "padroes": ["padro", "padrõ"]}
    assert terms([word("padrao", "padra")], known) == [("padra", "padro", "padrã", "padrõ")]


def test_two_words_that_share_a_spelling_are_one_term() -> None:
    known = {"padrao": ["padrã"], "padroes": ["padrõ"]}
    tokens = [word("padrão", "padrã"), SPACE, word("padrões", "padrõ"), SPACE, word("rota", "rot")]
    assert terms(tokens, known) == [("padrã", "padrõ"), ("rot",)]
    assert terms([word("rota", "rot"), SPACE, word("rotas", "rot")]) == [("rot",)]


@pytest.mark.parametrize(
    "tokens",
    [
        [word("RN"), number("-058")],
        [word("RN"), SPACE, number("058")],
        [word("rn"), sign("_"), number("058")],
        [word("rn"), number("-58")],
        [joined("rn058")],
        [joined("RN58")],
    ],
)
def test_every_spelling_of_an_identifier_asks_for_its_letters_and_its_number(
    tokens: list[ParserToken],
) -> None:
    known = {"rn@58": ["rn", "rn058"], "rn#58": ["-058", "058", "rn058"]}
    letters, numbers = sorted(terms(tokens, known), key=len)
    assert {"rn", "rn058"} <= set(letters)
    assert {"-058", "058", "rn058"} <= set(numbers)


def test_two_identifiers_with_the_same_letters_are_not_one() -> None:
    known = {"rn#58": ["-058", "rn058"], "rn@58": ["rn", "rn058"], "rn#61": ["-061"], "rn@61": ["rn"]}
    tokens = [word("RN"), number("-058"), SPACE, stop("e"), SPACE, word("RN"), number("-061")]
    assert terms(tokens, known) == [("-058", "rn058"), ("-061",), ("rn", "rn058")]


def test_a_number_is_one_with_and_without_a_sign_and_no_identifier() -> None:
    either = ("+2014", "-2014", "2014")
    assert terms([number("2014")]) == terms([number("-2014")]) == [either]
    assert terms([word("vai", "vai"), SPACE, word("de", "de"), sign(" - "), number("2014")])[0] == either
    assert terms([number("2014"), SPACE, number("-2014")], {"2014/": ["12/2014"]}) == [
        (*either[:2], "12/2014", "2014")
    ]
    assert keys_of(asked_terms([stop("de"), SPACE, number("2025")])) == ("2025/",)
    assert "lote#500" not in keys_of(asked_terms([word("lote"), sign(", "), number("500")]))


def test_parts_of_a_name_take_part_only_where_the_index_knows_them_and_any_term_may_match() -> None:
    known = {"/guia-geral.md": ["docs/guia-geral.md"], "guia": ["gui"]}
    tokens = [file("guia-geral.md")]
    assert terms(tokens, known) == [("docs/guia-geral.md", "guia-geral.md"), ("gui",)]
    assert terms(tokens, known, with_parts=False) == [("docs/guia-geral.md", "guia-geral.md")]


def test_a_host_inside_an_address_is_not_taken_apart() -> None:
    tokens = [
        ParserToken(alias="protocol", text="https://", lexemes=None),
        ParserToken(alias="url", text="exemplo.org/a", lexemes=("exemplo.org/a",)),
        ParserToken(alias="host", text="exemplo.org", lexemes=("exemplo.org",)),
        ParserToken(alias="url_path", text="/a", lexemes=("/a",)),
    ]
    assert keys_of(asked_terms(tokens)) == ()
    assert terms(tokens) == [("/a",), ("exemplo.org",), ("exemplo.org/a",)]


def test_function_words_are_left_out_and_told_as_they_were_typed() -> None:
    tokens = [word("Onde", "onde"), SPACE, word("não", "não"), SPACE, stop("de"), SPACE, word("ONDE", "onde")]
    stop_words = frozenset({"onde", "não"})
    assert terms([*tokens, SPACE, word("rota", "rot")], stop_words=stop_words) == [("rot",)]
    assert terms(tokens, stop_words=stop_words) == []
    assert left_out([*tokens, word("rota", "rot"), sign("?")], stop_words=stop_words) == ("Onde", "não", "de")
    assert terms([stop("de"), sign("?")]) == []


def test_a_number_behind_a_function_word_is_no_identifier() -> None:
    tokens = [word("após", "apos"), SPACE, number("10")]
    assert terms(tokens, stop_words=frozenset({"após"})) == [("+10", "-10", "10")]


JOINED = file("flutter/nativo")
WHOLE = "flutter/nativo"
KNOWN_JOINED = {
    "/flutter/nativo": [WHOLE],
    "flutter": ["flutt"],
    "flutter/": [WHOLE],
    "nativo": ["nativ"],
    "nativo/": [WHOLE],
}


def test_joined_words_are_asked_for_as_a_whole_and_in_their_parts() -> None:
    assert terms([JOINED], KNOWN_JOINED) == [("flutt", WHOLE), (WHOLE,), (WHOLE, "nativ")]


def test_a_word_finds_the_names_that_it_is_a_part_of_and_two_parts_of_one_are_two_terms() -> None:
    known = {key: KNOWN_JOINED[key] for key in ("flutter", "flutter/", "nativo", "nativo/")}
    assert terms([word("nativo", "nativ")], {"nativo/": [WHOLE]}) == [(WHOLE, "nativ")]
    asked = [word("Flutter", "flutt"), SPACE, word("nativo", "nativ")]
    assert terms(asked, known) == [("flutt", WHOLE), (WHOLE, "nativ")]


def test_where_all_terms_must_match_all_parts_of_joined_words_are_as_good_as_the_whole() -> None:
    assert terms([JOINED], KNOWN_JOINED, with_parts=False) == [("flutt", WHOLE), (WHOLE, "nativ")]
    only_one = {"/flutter/nativo": [WHOLE], "nativo": ["nativ"]}
    assert terms([JOINED], only_one, with_parts=False) == [(WHOLE,)]


def test_an_identifier_inside_a_name_is_asked_for_as_one() -> None:
    known = {"rn@59": ["rn"], "rn#59": ["-059"]}
    assert terms([file("/rn-059")], known) == [("-059",), ("/rn-059",), ("rn",)]


def test_function_words_among_the_parts_of_a_name_are_dropped_and_a_name_of_nothing_else_is_one() -> None:
    stop_words = frozenset({"e", "ou"})
    assert terms([file("e/ou")], stop_words=stop_words) == []
    assert left_out([file("e/ou")], stop_words=stop_words) == ("e/ou",)
    known = {"vale": ["val"]}
    assert terms([file("ou/vale")], known, stop_words=stop_words) == [("ou/vale",), ("val",)]


def test_what_is_known_of_other_keys_plays_no_part() -> None:
    asked = (AskedTerm(own=("rot",), keys=("rota",)),)
    assert resolved_terms(asked, {"rotas": ["rotass"]}, with_parts=True) == (("rot",),)
