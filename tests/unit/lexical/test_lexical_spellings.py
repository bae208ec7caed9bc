"""Keys: the spellings of one word meet under one of them, other words do not."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_core.lexical.spellings import (
    fold,
    key_of_identifier,
    key_of_letters,
    key_of_name,
    keys_asked,
    keys_of_word,
    parts_of_name,
)


@pytest.mark.parametrize(
    "word", ["previsão", "PREVISÃO", "previsao", unicodedata.normalize("NFD", "previsão")]
)
def test_case_accents_and_normal_form_make_no_difference(word: str) -> None:
    assert fold(word) == "previsao"
    assert keys_of_word(word) == ("previsao",)


@given(st.text())
def test_folding_twice_changes_nothing_more(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(st.text(alphabet="abcçãéíõúàXYZ-", min_size=1))
def test_a_question_asks_for_every_key_under_which_its_own_word_is_kept(word: str) -> None:
    assert set(keys_of_word(word)) <= set(keys_asked(word))


@pytest.mark.parametrize(
    ("one", "many"),
    [
        ("canal", "canais"),
        ("papel", "papéis"),
        ("fácil", "fáceis"),
        ("fuzil", "fuzis"),
        ("lençol", "lençóis"),
        ("azul", "azuis"),
        ("padrão", "padrões"),
        ("pão", "pães"),
        ("mão", "mãos"),
        ("homem", "homens"),
        ("mês", "meses"),
        ("país", "países"),
        ("luz", "luzes"),
        ("mulher", "mulheres"),
        ("código", "códigos"),
        ("disponível", "disponíveis"),
    ],
)
def test_singular_and_plural_ask_for_each_other(one: str, many: str) -> None:
    assert fold(many) in keys_asked(one)
    assert fold(one) in keys_asked(many)


def test_a_hyphenated_word_is_also_kept_as_one() -> None:
    assert keys_of_word("pré-venda") == ("pre-venda", "prevenda")
    assert keys_of_word("-") == ("-",)


def test_an_identifier_has_one_key_for_its_number_and_one_for_its_letters() -> None:
    assert {key_of_identifier(*parts) for parts in (("RN", "058"), ("rn", "58"), ("Rn", "0058"))} == {"rn#58"}
    assert key_of_letters("RN", "058") == "rn@58"
    assert key_of_identifier("adr", "000") == "adr#0"
    assert key_of_identifier("RN", "580") != key_of_identifier("RN", "58")


def test_a_file_name_is_the_same_with_and_without_its_folders() -> None:
    assert (
        key_of_name("docs/adr/0012-Reentrega.md") == key_of_name("0012-reentrega.md") == "/0012-reentrega.md"
    )
    assert keys_of_word("docs/adr/0012-guia.md") == ("/0012-guia.md",)


def test_words_that_are_joined_are_no_file_and_have_a_key_for_the_whole_and_one_for_each_part() -> None:
    assert keys_of_word("flutter/nativo") == ("/flutter/nativo", "flutter/", "nativo/")
    assert keys_of_word("next.js") == ("/next.js", "next/", "js/")
    assert key_of_name("Android/nativo") != key_of_name("Flutter/nativo")


def test_an_identifier_inside_a_name_has_the_keys_of_an_identifier() -> None:
    assert keys_of_word("/rn-059") == ("/rn-059", "rn@59", "rn#59")
    assert keys_of_word("rn-058.depois") == ("/rn-058.depois", "rn@58", "rn#58", "depois/")


def test_an_address_leaves_its_parts_to_its_host_and_its_path() -> None:
    assert keys_of_word("next.js/react") == ("/next.js/react",)
    assert keys_of_word("/react") == ("/react", "react/")


def test_two_joined_numbers_have_keys_and_those_of_a_date_or_a_version_have_none() -> None:
    assert keys_of_word("12/2024") == ("/12/2024", "12/", "2024/")
    assert keys_of_word("10/11/2025") == ("/10/11/2025",)
    assert keys_of_word("http/1.1") == ("/http/1.1", "http/")


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("docs/adr/0012-reentrega-limitada.md", ("reentrega", "limitada")),
        ("src/my_file.py", ("my", "file")),
        ("kafka.topic.consumers", ("kafka", "topic", "consumers")),
        ("2024.10.1", ()),
        (".env", ("env",)),
        ("Flutter/nativo", ("Flutter", "nativo")),
        ("TCP/IP/UDP", ("TCP", "IP", "UDP")),
        ("Next.js", ("Next", "js")),
        ("fim.Agora", ("fim", "Agora")),
        ("/etc/passwd", ("passwd",)),
        ("./guia/RN-059", ("RN-059",)),
        ("7/24", ("7", "24")),
    ],
)
def test_the_parts_of_a_file_are_the_words_of_its_name_and_of_joined_words_all(
    name: str, parts: tuple[str, ...]
) -> None:
    assert parts_of_name(name) == parts


def test_plurals_by_ending_are_of_portuguese_alone() -> None:
    assert "canal" in keys_asked("canais", ["english", "portuguese"])
    assert keys_asked("canais", ["english"]) == ("canais",)
    assert keys_asked("e-mails", ["english"]) == ("e-mails", "emails")
    assert fold("Straße") in keys_asked("Straße", ["german"])
