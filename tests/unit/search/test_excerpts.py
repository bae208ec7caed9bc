"""Texts cut at the words that a question asked for: nothing is lost, nothing is added."""

from hypothesis import given
from hypothesis import strategies as st

from rag_core.search.excerpts import cut_short, excerpts_of, words_of


@given(st.text(max_size=200), st.sets(st.text(max_size=5), max_size=5))
def test_the_pieces_joined_are_the_text(text: str, matched: set[str]):
    words = {*matched, *words_of([text])[:2]}
    assert "".join(piece.text for piece in excerpts_of(text, words)) == text


def test_only_whole_words_match():
    pieces = excerpts_of("A fila, as filas e a FILA_LOTE", {"fila"})
    assert [(piece.text, piece.matched) for piece in pieces] == [
        ("A ", False),
        ("fila", True),
        (", as filas e a FILA_LOTE", False),
    ]


def test_an_identifier_is_one_word():
    assert words_of(["RN-058 e v1.2, fim."]) == ["RN-058", "e", "fim", "v1.2"]


def test_a_word_is_one_with_any_dash_with_signs_without_width_and_with_accents_for_themselves():
    words = ["RN\u2011058", "RN\u2212058", "a\u0301gua", "nego\u00adcia\u200bdo", "\uff32\uff2e\uff0d\uff10"]
    assert words_of([" ".join(words)]) == sorted(words)


def test_markup_is_text_like_any_other():
    pieces = excerpts_of("<img onerror=x>", {"img"})
    assert [piece.text for piece in pieces] == ["<", "img", " onerror=x>"]


def test_an_empty_text_has_no_pieces():
    assert excerpts_of("", {"a"}) == ()


def test_a_text_that_fits_is_left_alone():
    assert cut_short("curto", at_most=5) == "curto"


def test_a_long_text_is_cut_before_a_word():
    assert cut_short("uma frase comprida", at_most=12) == "uma frase…"


def test_a_long_word_is_cut_hard():
    assert cut_short("x" * 20, at_most=10) == "x" * 10 + "…"


@given(st.text(max_size=300), st.integers(min_value=1, max_value=100))
def test_a_cut_is_never_longer_than_asked_but_for_its_ellipsis(text: str, at_most: int):
    assert len(cut_short(text, at_most=at_most)) <= max(at_most, 0) + 1
