"""The check that every vector passes, whoever made it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_core.embedding.vectors import unit_vectors
from rag_core.errors import EmbeddingFailed


def padded(*numbers: float) -> list[float]:
    return [*numbers, *[0.0] * (768 - len(numbers))]


def test_vectors_come_back_at_length_one_in_order() -> None:
    vectors = unit_vectors([padded(3, 4), padded(0, 0, -20)], count=2)
    assert vectors.shape == (2, 768)
    assert vectors.dtype == np.float32
    assert vectors[0, :2].tolist() == pytest.approx([0.6, 0.8])
    assert vectors[1, 2] == -1


def test_no_texts_have_an_empty_array_of_the_right_width() -> None:
    assert unit_vectors([], count=0).shape == (0, 768)


@given(st.floats(min_value=1e-6, max_value=1e6), st.floats(min_value=-1e6, max_value=1e6))
def test_length_is_one_whatever_the_scale(first: float, second: float) -> None:
    vector = unit_vectors([padded(first, second)], count=1)[0]
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize(
    ("raw", "count", "words"),
    [
        ([padded(1)], 2, "1 vectors for 2 texts"),
        ([padded(1)] * 3, 2, "3 vectors for 2 texts"),
        ([], 1, "0 vectors for 1 texts"),
        ([padded(0)], 1, "zeros"),
        ([padded(1), padded(1e-200)], 2, "zeros"),
        ([padded(1, float("nan"))], 1, "not finite"),
        ([padded(float("inf"))], 1, "not finite"),
        ([padded(1e300)], 1, "not finite"),
        ([padded(1), padded(1)[:-1]], 2, "incomplete"),
        ([[]], 1, "empty"),
    ],
)
def test_a_vector_that_one_text_may_have_spoilt_is_a_fault_of_content(
    raw: list[list[float]], count: int, words: str
) -> None:
    with pytest.raises(EmbeddingFailed, match=words) as failure:
        unit_vectors(raw, count=count)
    assert failure.value.content_fault


@pytest.mark.parametrize("dimensions", [384, 767, 1024])
def test_another_dimension_is_the_providers_failure_and_names_both_numbers(dimensions: int) -> None:
    with pytest.raises(EmbeddingFailed, match=f"{dimensions} dimensions; 768 are expected") as failure:
        unit_vectors([[1.0] * dimensions] * 2, count=2)
    assert not failure.value.content_fault
    assert "nomic-embed-text" in failure.value.hint
