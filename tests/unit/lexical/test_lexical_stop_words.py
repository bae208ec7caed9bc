"""Function words: the closed classes in every spelling, and nothing that is also the name of a thing."""

import pytest

from rag_core.lexical.spellings import fold
from rag_core.lexical.stop_words import STOP_WORDS, as_listed, stop_words_of

PORTUGUESE = stop_words_of("portuguese")


@pytest.mark.parametrize(
    "words",
    [
        "é e que quê qual quais quem quando quanto quanta quantos quantas como onde aonde donde porque porquê cadê",
        "o a os as um uma uns umas eu você vocês nós eles elas lhe me te se",
        "dum numa dessa daquele nesse naquilo àquele pelo pelas às ao do nas dentre",
        "são era foi seja será está estão estava tem têm tinha há havia haverá houve sido tendo estar ter haver",
        "não ou mas porém pois nem também só já ainda até sob após perante",
    ],
)
def test_function_words_are_listed_as_they_are_written_and_as_they_are_typed_without_accents(
    words: str,
) -> None:
    for word in words.split():
        assert as_listed(word) in PORTUGUESE
        assert as_listed(word.upper()) in PORTUGUESE
        assert fold(word) in PORTUGUESE


@pytest.mark.parametrize(
    "word",
    [
        "nada",
        "fim",
        "ser",
        "mesa",
        "sede",
        "caso",
        "TI",
        "SI",
        "ES",
        "AI",
        "más",
        "pôr",
        "estado",
        "logo",
        "consigo",
        "estáveis",
    ],
)
def test_what_is_also_the_name_of_a_thing_is_none(word: str) -> None:
    assert as_listed(word) not in PORTUGUESE


def test_an_accent_that_was_typed_is_not_taken_away() -> None:
    assert {"mas", "e\u0301", "és"} - PORTUGUESE == {"e\u0301"}
    assert as_listed("E\u0301") in PORTUGUESE
    assert "es" not in PORTUGUESE


def test_a_language_that_nobody_has_written_down_has_none() -> None:
    assert set(STOP_WORDS) == {"portuguese"}
    assert stop_words_of("english") == frozenset()
