"""How alike two lists of places are, worked out by hand."""

import pytest

from rag_core.report.overlap import overlap, rank_biased_overlap


@pytest.mark.parametrize(
    ("first", "second", "value"),
    [
        ("abc", "abc", 1),
        ("abc", "cba", 1),
        ("abc", "cd", 1 / 3),
        ("ab", "cd", 0),
        ("a", "abcde", 1 / 5),
        ("", "", 1),
        ("", "a", 0),
        ("a", "", 0),
    ],
)
def test_overlap_is_what_both_name_over_the_longer_list(first: str, second: str, value: float) -> None:
    assert overlap(first, second) == pytest.approx(value)


def test_the_same_list_has_an_rbo_of_one() -> None:
    # 0.1/0.9 * (0.9 + 0.81 + 0.729) + 0.729 = 0.271 + 0.729
    assert rank_biased_overlap("abc", "abc") == pytest.approx(1)


def test_two_places_swapped() -> None:
    # agreement 0 at depth 1, 1 at depth 2: 0.1/0.9 * 0.81 + 0.81 = 0.09 + 0.81
    assert rank_biased_overlap("ab", "ba") == pytest.approx(0.9)


def test_a_difference_at_the_top_weighs_more_than_one_at_the_bottom() -> None:
    # top differs: agreement 0, 1/2, 2/3: 1/9 * (1/2 * .81 + 2/3 * .729) + 2/3 * .729 = .045 + .054 + .486
    assert rank_biased_overlap("abc", "xbc") == pytest.approx(0.585)
    # bottom differs: agreement 1, 1, 2/3: 1/9 * (.9 + .81 + 2/3 * .729) + 2/3 * .729 = .19 + .054 + .486
    assert rank_biased_overlap("abc", "abx") == pytest.approx(0.73)


def test_lists_of_uneven_length_extrapolate_the_shorter_one() -> None:
    # s = 1, l = 2, X1 = X2 = 1, p = 0.9. Equation 32:
    # 1/9 * (1/1 * .9 + 1/2 * .81 + 1 * (2 - 1) / (1 * 2) * .81) + ((1 - 1)/2 + 1/1) * .81 = 1/9 * 1.71 + .81
    assert rank_biased_overlap("a", "ab") == pytest.approx(1.0)
    # s = 1, l = 2, X1 = 0, X2 = 1: 1/9 * (0 + 1/2 * .81 + 0) + ((1 - 0)/2 + 0) * .81 = .045 + .405
    assert rank_biased_overlap("b", "ab") == pytest.approx(0.45)
    # which of the two is the longer makes no difference
    assert rank_biased_overlap("ab", "b") == pytest.approx(0.45)


def test_another_persistence() -> None:
    # p = 0.5, swapped: 0.5/0.5 * (0 + 1 * .25) + 1 * .25
    assert rank_biased_overlap("ab", "ba", persistence=0.5) == pytest.approx(0.5)


@pytest.mark.parametrize(("first", "second", "value"), [("", "", 1.0), ("", "abc", 0.0), ("abc", "", 0.0)])
def test_empty_lists(first: str, second: str, value: float) -> None:
    assert rank_biased_overlap(first, second) == value


@pytest.mark.parametrize("persistence", [0.0, 1.0, -0.1, 1.1])
def test_a_persistence_that_is_no_open_share_is_refused(persistence: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        rank_biased_overlap("a", "a", persistence=persistence)


def test_a_place_named_twice_is_refused() -> None:
    for alike in (overlap, rank_biased_overlap):
        with pytest.raises(ValueError, match="twice"):
            alike("aa", "ab")
