"""Where nothing is lost, which rival is overtaken when, what a threshold trades, and who really decides."""

import dataclasses

import numpy as np
import pytest

from golden_material import chunk, found
from rag_core.calibration.effective import effective_weight
from rag_core.calibration.exact.exact import build_exact
from rag_core.calibration.exact.lines import RESOLUTION
from rag_core.calibration.exact.steps import ThresholdSteps
from rag_core.calibration.safety import (
    overtakes,
    passing,
    safe_thresholds,
    safe_weights,
    widest_thresholds,
)
from rag_core.calibration.table import build_table, judge_places
from rag_core.calibration.trade import weigh_errors
from rag_core.errors import InvalidInput
from rag_core.metrics.intervals import Interval
from rag_core.model import CandidateSet, Fusion, Place, RankingSettings

A, B, Z = (Place("file", f"docs/{letter}.md") for letter in "abz")
FREE = RankingSettings(weight_vector=0.75, weight_lexical=0.25, threshold=None, limit=1)
# 0.75 w and 0.5 - 0.25 w meet at w = 0.5; a rises, b falls
RISING = found(chunk("docs/a.md", vector=(0.75, 1)), chunk("docs/b.md", vector=(0.25, 2), lexical=(0.5, 1)))
# 0.25 w and 0.75 - 0.75 w meet at w = 0.75; a falls
FALLING = found(chunk("docs/a.md", lexical=(0.75, 1)), chunk("docs/b.md", vector=(0.25, 1)))


def by_score(*scores: tuple[str, float]) -> CandidateSet:
    return found(*(chunk(place, vector=(score, rank)) for rank, (place, score) in enumerate(scores, start=1)))


def test_the_safe_weights_are_those_at_which_every_case_that_passes_still_passes() -> None:
    table = build_table([RISING, FALLING])
    judged = judge_places(table, [[A], [A]])
    exact = build_exact(table, judged, FREE, places=False)
    # the first passes from 0.5 on, the second up to 0.75; both ties go to a
    assert safe_weights(exact, np.array([True, True])) == (Interval(0.5, 0.75),)
    assert safe_weights(exact, np.array([True, False])) == (Interval(0.5, 1.0),)
    assert safe_weights(exact, np.array([False, False])) == (Interval(0.0, 1.0),)


def test_an_end_at_which_a_case_is_lost_is_inset() -> None:
    table = build_table([RISING])
    judged = judge_places(table, [[B]])
    exact = build_exact(table, judged, FREE, places=False)
    # b passes below 0.5, and at 0.5 a tie goes to a
    assert safe_weights(exact, np.array([True])) == (Interval(0.0, 0.5 - RESOLUTION),)


def test_no_weight_is_safe_where_two_cases_exclude_each_other() -> None:
    table = build_table([RISING, RISING])
    judged = judge_places(table, [[A], [B]])
    exact = build_exact(table, judged, FREE, places=False)
    assert safe_weights(exact, np.array([True, True])) == ()


def test_safe_weights_can_be_a_union() -> None:
    # at w = 0.5, b (0.5 throughout) stands above both of a's chunks, 0.9375 w and 0.9375 (1 - w)
    valley = found(
        chunk("docs/a.md", ordinal=0, vector=(0.9375, 1)),
        chunk("docs/a.md", ordinal=1, lexical=(0.9375, 1)),
        chunk("docs/b.md", vector=(0.5, 2), lexical=(0.5, 2)),
    )
    table = build_table([valley])
    judged = judge_places(table, [[A]])
    exact = build_exact(table, judged, FREE, places=False)
    spans = safe_weights(exact, np.array([True]))
    assert [(span.low, span.high) for span in spans] == [
        (0.0, pytest.approx(1 - 0.5 / 0.9375)),
        (pytest.approx(0.5 / 0.9375), 1.0),
    ]


def test_the_safe_thresholds_lie_between_what_must_be_refused_and_what_must_be_found() -> None:
    settings = dataclasses.replace(FREE, weight_vector=1.0, weight_lexical=0.0, threshold=0.3)
    table = build_table([by_score(("docs/a.md", 0.5)), by_score(("docs/b.md", 0.25))])
    judged = judge_places(table, [[A], []])
    keep = passing(table, judged, settings)
    assert keep.tolist() == [True, True]
    assert safe_thresholds(table, judged, settings, keep) == Interval(float(np.nextafter(0.25, 1)), 0.5)
    assert safe_thresholds(table, judged, settings, np.array([True, False])) == Interval(-np.inf, 0.5)


def test_a_rival_is_named_with_the_weights_between_which_it_stands_above() -> None:
    table = build_table([RISING])
    exact = build_exact(table, judge_places(table, [[A]]), FREE, places=False)
    (rival,) = overtakes(exact, 0)
    assert (rival.rival.origin.place, rival.begins, rival.ends) == (B, 0.0, 0.5)


def test_a_case_without_its_file_among_the_candidates_overtakes_nothing() -> None:
    table = build_table([RISING])
    exact = build_exact(table, judge_places(table, [[Z]]), FREE, places=False)
    assert overtakes(exact, 0) == ()


def test_safe_weights_run_on_where_only_another_case_turns() -> None:
    table = build_table([RISING, FALLING])
    exact = build_exact(table, judge_places(table, [[A], [A]]), FREE, places=False)
    (rising,) = safe_weights(exact, np.array([True, False]))
    (falling,) = safe_weights(exact, np.array([False, True]))
    assert (rising.low, rising.high) == (pytest.approx(0.5), 1.0)
    assert (falling.low, falling.high) == (0.0, pytest.approx(0.75))


def test_no_threshold_at_all_comes_before_any_other_that_is_as_good() -> None:
    steps = ThresholdSteps(ends=np.array([0.1, 0.2, 0.9]), inside=np.array([1.0, 0.0, 1.0, 1.0]))
    assert widest_thresholds(steps, 1.0) == Interval(-np.inf, 0.1)
    refusing = ThresholdSteps(ends=np.array([0.1, 0.2]), inside=np.array([0.0, 1.0, 1.0]))
    assert widest_thresholds(refusing, 1.0) == Interval(0.1, np.inf)


VECTOR = dataclasses.replace(FREE, weight_vector=1.0, weight_lexical=0.0)


def test_the_price_of_a_wrong_citation_moves_the_threshold() -> None:
    # answers at 0.9, 0.5 and 0.2, strangers at 0.3 and 0.1
    table = build_table(
        [by_score(("docs/a.md", score)) for score in (0.9, 0.5, 0.2)]
        + [by_score(("docs/b.md", score)) for score in (0.3, 0.1)]
    )
    judged = judge_places(table, [[A], [A], [A], [], []])
    dear = weigh_errors(table, judged, VECTOR, price=2.0)
    # between 0.3 and 0.5 one answer is missed and nothing is cited wrongly
    assert (dear.best, dear.threshold, dear.least_cost) == (Interval(0.3, 0.5), pytest.approx(0.4), 1)
    cheap = weigh_errors(table, judged, VECTOR, price=0.25)
    # between 0.1 and 0.2 nothing is missed and one of two is cited wrongly
    assert (cheap.best, cheap.threshold, cheap.least_cost) == (Interval(0.1, 0.2), pytest.approx(0.15), 0.25)
    assert cheap.separable is True
    assert cheap.sentence == (
        "At a threshold of 0.15, 0 of 3 answers are missed and 1 of 2 questions without an answer get a citation."
    )
    # of the six pairs, only the answer at 0.2 against the stranger at 0.3 is in the wrong order
    assert cheap.order == pytest.approx(5 / 6)


def test_where_strangers_score_above_answers_no_threshold_separates_them_and_it_says_so() -> None:
    table = build_table([by_score(("docs/a.md", 0.2)), by_score(("docs/b.md", 0.8))])
    trade = weigh_errors(table, judge_places(table, [[A], []]), VECTOR, price=0.25)
    assert trade.threshold is None
    assert trade.separable is False
    assert "No threshold separates" in trade.sentence
    assert trade.order == 0


@pytest.mark.parametrize(("expected", "lacking"), [([A], "without an answer"), ([], "with an answer")])
def test_a_set_with_one_kind_of_case_says_that_it_cannot_place_a_threshold(
    expected: list[Place], lacking: str
) -> None:
    table = build_table([by_score(("docs/a.md", 0.2))])
    trade = weigh_errors(table, judge_places(table, [expected]), VECTOR, price=0.25)
    assert lacking in trade.sentence
    assert trade.order is None


@pytest.mark.parametrize("price", [-0.1, np.inf, np.nan])
def test_a_price_is_a_number_of_missed_answers(price: float) -> None:
    table = build_table([by_score(("docs/a.md", 0.2))])
    with pytest.raises(InvalidInput):
        weigh_errors(table, judge_places(table, [[A]]), VECTOR, price=price)


def test_the_effective_weight_counts_whose_way_disputed_pairs_go() -> None:
    # cosines 0.5, 0.3, 0.2 and lexical none, 0.1, 0.3: every pair is disputed
    disputed = found(
        chunk("docs/a.md", vector=(0.5, 1)),
        chunk("docs/b.md", vector=(0.3, 2), lexical=(0.1, 2)),
        chunk("docs/z.md", vector=(0.2, 3), lexical=(0.3, 1)),
    )
    agreed = found(chunk("docs/a.md", vector=(0.5, 1), lexical=(0.2, 1)), chunk("docs/b.md", vector=(0.4, 2)))
    table = build_table([disputed, agreed])
    settings = dataclasses.replace(FREE, weight_vector=0.6, weight_lexical=0.4)
    # fused 0.30, 0.22, 0.24: a before b and a before z go the vector's way, z before b the words'
    weights = effective_weight(table, settings)
    assert weights.by_case[0] == pytest.approx(2 / 3)
    assert np.isnan(weights.by_case[1])
    assert weights.vector == pytest.approx(2 / 3)
    assert weights.lexical == pytest.approx(1 / 3)


def test_without_a_dispute_there_is_no_effective_weight() -> None:
    table = build_table([found(chunk("docs/a.md", vector=(0.5, 1)))])
    weights = effective_weight(table, dataclasses.replace(FREE, fusion=Fusion.RRF))
    assert (weights.vector, weights.lexical) == (None, None)
