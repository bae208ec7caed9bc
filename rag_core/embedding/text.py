"""What is done to a text before a model sees it."""

from collections.abc import Sequence

from rag_core.errors import EmbeddingFailed


def encodable_text(text: str) -> str:
    r"""The text without NUL and without lone surrogates, which no provider and no database takes.

    NUL is removed; two surrogates that make one character become it; a lone one becomes U+FFFD. Clean text is
    returned unchanged.

    Examples:
        >>> encodable_text("a\x00b")
        'ab'
    """
    return text.replace("\0", "").encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def is_blank(text: str) -> bool:
    """Whether nothing in the text can be seen; the empty text is blank.

    Models give such a text a vector all the same, of nothing; so it is never embedded. Zero-width characters
    count as nothing.
    """
    return not any(character.isprintable() and not character.isspace() for character in text)


def embeddable(texts: Sequence[str]) -> list[str]:
    """The texts cleaned, in the same order; what every provider sends.

    Raises:
        EmbeddingFailed: One of them is blank.
    """
    cleaned = [encodable_text(text) for text in texts]
    if any(is_blank(text) for text in cleaned):
        raise EmbeddingFailed("A blank text has no vector.", content_fault=True)
    return cleaned
