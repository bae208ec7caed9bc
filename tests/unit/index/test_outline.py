"""What a chunk repeats of the one before it."""

from hypothesis import given
from hypothesis import strategies as st

from rag_core.chunking import chunk_document
from rag_core.index.outline import repeated_chars
from rag_core.model import Place, Scope

texts = st.text(alphabet="ab \n", max_size=200)


def test_the_end_of_the_chunk_before_is_counted_where_the_next_begins_with_it() -> None:
    assert repeated_chars("O frete é fixo na coleta.", "fixo na coleta. Depois muda.") == len(
        "fixo na coleta."
    )


def test_a_chunk_that_begins_with_something_else_repeats_nothing() -> None:
    assert repeated_chars("O frete é fixo.", "A fila espera.") == 0


def test_a_few_signs_in_common_are_a_coincidence() -> None:
    assert repeated_chars("Termina assim: fim.", "fim. E recomeça.") == 0


def test_nothing_repeats_nothing() -> None:
    assert repeated_chars("", "A fila espera.") == 0
    assert repeated_chars("A fila espera.", "") == 0


def test_no_more_is_counted_than_was_asked_for() -> None:
    assert repeated_chars("a" * 300, "a" * 300, at_most=150) == 150


def test_the_overlap_of_a_long_section_is_found() -> None:
    section = "# Frete\n\n" + " ".join(f"palavra{number}" for number in range(300)) + "\n"
    first, second, *_ = chunk_document(section, place=Place("file", "docs/a.md"), scope=Scope.DOCS)
    repeated = repeated_chars(first.content, second.content)
    assert 100 < repeated <= 150
    assert first.content.endswith(second.content[:repeated])


@given(texts, texts)
def test_what_is_counted_stands_at_both_places(previous: str, content: str) -> None:
    repeated = repeated_chars(previous, content)
    assert previous.endswith(content[:repeated])
