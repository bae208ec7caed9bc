"""Intervals and paired tests by hand."""

import math

import numpy as np
import pytest

from rag_core.metrics.comparison import compare
from rag_core.metrics.intervals import Interval, bootstrap_mean, wilson
from rag_core.metrics.significance import ALPHA, holm, least_detectable, randomisation_test, sign_test


def test_wilson_agrees_with_values_worked_out_by_its_formula() -> None:
    # 8 of 10: centre (0.8 + 1.9207/10) / 1.38415, reach 1.95996 / 1.38415 * sqrt(0.016 + 0.0096036)
    found = wilson(8, 10)
    assert found is not None
    assert (found.low, found.high) == pytest.approx((0.4901625, 0.9433178), abs=1e-6)


def test_wilson_ends_at_the_ends() -> None:
    none_of_ten, ten_of_ten = wilson(0, 10), wilson(10, 10)
    assert none_of_ten is not None
    assert ten_of_ten is not None
    assert (none_of_ten.low, none_of_ten.high) == (0.0, pytest.approx(0.2775328, abs=1e-6))
    assert (ten_of_ten.low, ten_of_ten.high) == (pytest.approx(0.7224672, abs=1e-6), 1.0)


def test_nothing_counted_has_no_interval() -> None:
    assert wilson(0, 0) is None
    assert bootstrap_mean(np.zeros(0), seed=0) is None


def test_more_successes_than_trials_are_refused() -> None:
    with pytest.raises(ValueError, match="2 successes of 1"):
        wilson(2, 1)


@pytest.mark.parametrize(
    ("won", "lost", "p_value"),
    [
        (0, 0, 1.0),
        (2, 1, 1.0),
        (5, 0, 2 / 32),
        (6, 0, 2 / 64),
        (0, 6, 2 / 64),
        (7, 1, 2 * (1 + 8) / 256),
        (3, 3, 1.0),
    ],
)
def test_the_sign_test_counts_coin_throws(won: int, lost: int, p_value: float) -> None:
    assert sign_test(won, lost) == pytest.approx(p_value)


def test_the_sign_test_is_exact_for_thousands_of_cases() -> None:
    assert 0 < sign_test(1700, 1500) < 0.001
    assert sign_test(1600, 1600) == 1


def test_six_cases_won_and_none_lost_are_the_least_that_can_be_told_from_chance() -> None:
    assert least_detectable() == 6
    assert least_detectable(0.1) == 5


def test_the_randomisation_test_tries_every_flip_when_they_are_few() -> None:
    # of the eight signs of 3, 2, 1 only +++ and --- are as far from 0 as 6
    assert randomisation_test(np.array([3.0, 2.0, 0.0, 1.0]), seed=0) == 2 / 8


def test_flips_of_equal_size_give_the_sign_test() -> None:
    differences = np.array([1.0] * 7 + [-1.0])
    assert randomisation_test(differences, seed=1) == pytest.approx(sign_test(7, 1))


def test_drawn_flips_come_near_the_exact_value_and_repeat_with_their_seed() -> None:
    differences = np.array([1.0] * 20 + [-1.0] * 8)
    drawn = randomisation_test(differences, seed=3)
    assert drawn == randomisation_test(differences, seed=3)
    assert drawn == pytest.approx(sign_test(20, 8), abs=0.01)


def test_drawn_flips_never_give_zero() -> None:
    assert randomisation_test(np.ones(200), seed=0, resamples=99) == 1 / 100


def test_without_a_difference_every_test_says_one() -> None:
    assert randomisation_test(np.zeros(12), seed=0) == 1


def test_holm_multiplies_the_least_most_and_never_falls() -> None:
    # 0.01 * 3; max(0.03, 0.03 * 2) = 0.06; max(0.06, 0.04) = 0.06
    assert holm((0.01, 0.04, 0.03)) == pytest.approx((0.03, 0.06, 0.06))
    assert holm((0.6, 0.9)) == (1.0, 1.0)
    assert holm(()) == ()


def test_the_bootstrap_of_equal_values_is_a_point_and_repeats_with_its_seed() -> None:
    assert bootstrap_mean(np.full(9, 0.25), seed=0) == Interval(0.25, 0.25)
    values = np.array([0.0, 1.0, 1.0, 0.0, 1.0])
    assert bootstrap_mean(values, seed=5) == bootstrap_mean(values, seed=5)


def test_the_bootstrap_of_a_share_is_near_its_normal_interval() -> None:
    values = np.repeat([0.0, 1.0], [600, 400])
    found = bootstrap_mean(values, seed=0)
    reach = 1.96 * math.sqrt(0.24 / 1000)
    assert found is not None
    assert (found.low, found.high) == pytest.approx((0.4 - reach, 0.4 + reach), abs=0.004)


def test_twelve_questions_with_two_better_and_one_worse_are_not_distinguishable() -> None:
    old = np.zeros(12)
    new = np.zeros(12)
    old[2], new[:2] = 1, 1
    found = compare(new, old, seed=0)
    assert found is not None
    assert (found.won, found.lost, found.tied, found.n) == (2, 1, 9, 12)
    assert found.difference == pytest.approx(1 / 12)
    assert found.p_value == sign_test(found.won, found.lost) == 1
    assert found.interval.low < 0 < found.interval.high
    assert found.p_value >= ALPHA


def test_questions_that_a_measure_does_not_judge_are_left_out_of_a_comparison() -> None:
    found = compare(np.array([1.0, np.nan]), np.array([0.0, np.nan]), seed=0)
    assert found is not None
    assert (found.n, found.new, found.old) == (1, 1, 0)
    assert compare(np.array([np.nan]), np.array([np.nan]), seed=0) is None
    with pytest.raises(ValueError, match="question by question"):
        compare(np.array([1.0]), np.array([np.nan]), seed=0)
