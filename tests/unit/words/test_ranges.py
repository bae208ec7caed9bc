"""Ranges in words: no infinity, no never, and nothing that is read lies outside."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_core.metrics.intervals import Interval
from rag_core.words.ranges import tell_outside, tell_span, tell_thresholds, tell_weights


@pytest.mark.parametrize(
    ("low", "high", "told"),
    [
        (0.3, 0.4251, "0.3 to 0.4251"),
        # rounded into the range: 0.12341 up, 0.56789 down
        (0.12341, 0.56789, "0.1235 to 0.5678"),
        (0.5, 0.5, "0.5"),
        # no number of four decimals lies between, but one of six does
        (0.123411, 0.123412, "0.123411 to 0.123412"),
        (0.0, 1e-6, "0"),
    ],
)
def test_a_span_is_told_with_its_ends_rounded_into_it(low: float, high: float, told: str) -> None:
    assert tell_span(low, high) == told


def test_weights_are_told_as_a_union_with_words_for_all_and_none() -> None:
    assert tell_weights(()) == "no weight"
    assert tell_weights((Interval(0.0, 1.0),)) == "any weight"
    assert tell_weights((Interval(0.0, 0.1), Interval(0.4, 1.0))) == "0 to 0.1 and 0.4 to 1"


@pytest.mark.parametrize(
    ("low", "high", "told"),
    [
        (-math.inf, 0.053571, "up to 0.0535, or none at all"),
        (0.20001, math.inf, "0.2001 and above"),
        (-math.inf, math.inf, "any, or none at all"),
        (0.02737, 0.04585, "0.0274 to 0.0458"),
        (-math.inf, 0.00001, "up to 1e-05, or none at all"),
        (-math.inf, -0.25, "up to -0.25, or none at all"),
    ],
)
def test_thresholds_without_an_end_are_told_in_words(low: float, high: float, told: str) -> None:
    assert tell_thresholds((Interval(low, high),)) == told
    assert "inf" not in told


def test_no_safe_threshold_is_not_the_threshold_none() -> None:
    assert tell_thresholds(()) == "no threshold can be named"


@pytest.mark.parametrize(
    ("begins", "ends", "told"),
    [
        (0.0, 0.43121, "above 0.4313"),
        (0.10009, 1.0, "below 0.1"),
        (0.1, 0.5, "below 0.1 or above 0.5"),
        (0.0, 1.0, "no weight"),
    ],
)
def test_weights_outside_a_range_are_told_by_its_ends(begins: float, ends: float, told: str) -> None:
    assert tell_outside(begins, ends) == told


@given(st.floats(-2, 2), st.floats(-2, 2))
def test_what_is_read_lies_in_the_span(one: float, other: float) -> None:
    low, high = sorted((one, other))
    read = [float(number) for number in tell_span(low, high).split(" to ")]
    assert low <= read[0] <= read[-1] <= high
