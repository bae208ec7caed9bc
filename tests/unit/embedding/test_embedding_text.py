"""What is done to a text before a model sees it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_core.embedding.text import embeddable, encodable_text, is_blank
from rag_core.errors import EmbeddingFailed

any_text = st.text(st.characters(exclude_categories=()))


@pytest.mark.parametrize(
    ("given_text", "cleaned"),
    [
        ("", ""),
        ("Decisão\r\n", "Decisão\r\n"),
        ("a\0b\0", "ab"),
        ("a\udc80b", "a\ufffdb"),
        ("\ud83d\ude00", "😀"),
        ("\ude00\ud83d", "\ufffd\ufffd"),
        ("\ufeffa", "\ufeffa"),
    ],
)
def test_nul_is_removed_and_lone_surrogates_are_replaced(given_text: str, cleaned: str) -> None:
    assert encodable_text(given_text) == cleaned


@given(any_text)
def test_clean_text_can_always_be_encoded_and_is_not_changed_again(text: str) -> None:
    cleaned = encodable_text(text)
    cleaned.encode()
    assert "\0" not in cleaned
    assert encodable_text(cleaned) == cleaned


@pytest.mark.parametrize("text", ["", " ", "\n\t\r\n", "\u00a0\u2003", "\u200b\ufeff", "\u0007"])
def test_a_text_in_which_nothing_can_be_seen_is_blank(text: str) -> None:
    assert is_blank(text)


@pytest.mark.parametrize("text", ["a", " ç ", "-", "😀", "\u200bx"])
def test_a_text_with_one_visible_sign_is_not_blank(text: str) -> None:
    assert not is_blank(text)


def test_texts_are_cleaned_in_order_and_a_blank_one_is_refused() -> None:
    assert embeddable(["b\0", "a"]) == ["b", "a"]
    assert embeddable([]) == []
    with pytest.raises(EmbeddingFailed) as failure:
        embeddable(["a", "\0 "])
    assert failure.value.content_fault
