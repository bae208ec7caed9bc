"""A family's weights and thresholds at a glance: curves, safe weights, turns, regions; numbers worked out by hand."""

import dataclasses

import numpy as np
import pytest

from golden_material import chunk, found
from rag_core.calibration.choice.families import Variant
from rag_core.calibration.landscape import Landscape, build_landscape
from rag_core.calibration.regions import BANDS, RegionMap, draw_regions, sample_map
from rag_core.calibration.table import build_table, judge_places
from rag_core.metrics.intervals import Interval
from rag_core.metrics.measures import MRR, PASSED, REJECTED, Measure
from rag_core.model import (
    CandidateSet,
    Fate,
    Fusion,
    LexicalWay,
    Place,
    RankingSettings,
)

A, B, Z = (Place("file", f"docs/{letter}.md") for letter in "abz")
FREE = RankingSettings(weight_vector=0.75, weight_lexical=0.25, threshold=None, limit=1)
# 0.75 w and 0.5 - 0.25 w meet at w = 0.5, at 0.375; a rises, b falls
RISING = found(chunk("docs/a.md", vector=(0.75, 1)), chunk("docs/b.md", vector=(0.25, 2), lexical=(0.5, 1)))
# 0.25 w and 0.75 - 0.75 w meet at w = 0.75; a falls
FALLING = found(chunk("docs/a.md", lexical=(0.75, 1)), chunk("docs/b.md", vector=(0.25, 1)))


def landscape(
    *cases: tuple[CandidateSet, list[Place]], settings: RankingSettings = FREE, measure: Measure = PASSED
) -> Landscape:
    table = build_table([candidates for candidates, _ in cases])
    variant = Variant(
        lexical=LexicalWay(),
        table=table,
        judged=judge_places(table, [expected for _, expected in cases]),
    )
    return build_landscape(variant, settings, measure)


BOTH = ((RISING, [A]), (FALLING, [A]))


def test_the_curve_is_the_mean_over_cases_between_their_crossings():
    curve = landscape(*BOTH).curve(None)
    assert curve is not None
    # the first passes from 0.5 on, the second up to 0.75
    assert curve.ends.tolist() == [0.0, 0.5, 0.75, 1.0]
    assert curve.inside.tolist() == [0.5, 1.0, 0.5]
    assert [curve.value_at(weight) for weight in (0.0, 0.6, 1.0)] == [0.5, 1.0, 0.5]


def test_a_threshold_cuts_the_curve_where_the_right_file_falls_under_it():
    curve = landscape(*BOTH).curve(0.6)
    assert curve is not None
    # 0.75 w reaches 0.6 at 0.8, 0.75 - 0.75 w keeps it up to 0.2
    assert curve.ends.tolist() == pytest.approx([0.0, 0.2, 0.8, 1.0])
    assert curve.inside.tolist() == [0.5, 0.0, 0.5]


def test_a_curve_can_be_of_some_cases_and_is_none_of_no_case():
    whole = landscape(*BOTH)
    first = whole.curve(None, cases=np.array([True, False]))
    assert first is not None
    assert first.ends.tolist() == [0.0, 0.5, 1.0]
    assert whole.curve(None, cases=np.array([False, False])) is None
    assert landscape(*BOTH, measure=REJECTED).curve(None) is None


def test_the_safe_weights_at_a_threshold_keep_every_case_that_is_to_be_kept():
    whole = landscape(*BOTH)
    assert whole.safe_weights(None, np.array([True, True])) == (Interval(0.5, 0.75),)
    assert whole.safe_weights(None, np.array([False, True])) == (Interval(0.0, 0.75),)
    assert whole.safe_weights(None, np.array([False, False])) == (Interval(0.0, 1.0),)
    assert whole.safe_weights(0.6, np.array([True, True])) == ()


def test_each_case_has_the_nearest_weights_and_the_threshold_at_which_it_turns():
    turns = landscape(*BOTH, (RISING, [Z])).turns(0.625, 0.25)
    assert turns.passes.tolist() == [True, True, False]
    np.testing.assert_allclose(turns.below, [0.5, np.nan, np.nan])
    # 0.75 - 0.75 w falls under 0.25 at 2/3, before its rival passes it at 0.75
    np.testing.assert_allclose(turns.above, [np.nan, 2 / 3, np.nan])
    # at 0.625 the right files have 0.46875 and 0.28125
    np.testing.assert_allclose(turns.threshold, [0.46875, 0.28125, np.nan])


def test_a_verdict_has_the_weights_at_which_it_turns():
    turns = landscape(*BOTH, (RISING, [Z])).turns(0.625, None)
    np.testing.assert_allclose(turns.below, [0.5, np.nan, np.nan])
    np.testing.assert_allclose(turns.above, [np.nan, 0.75, np.nan])


def test_the_margin_is_the_nearer_way_as_a_share_of_the_map():
    turns = landscape(*BOTH, (RISING, [Z])).turns(0.625, 0.25)
    margins = turns.distances(0.625, 0.25, low=0.0, high=1.0)
    # the first by its weight (0.125), the second by its threshold (0.03125), the third nowhere
    np.testing.assert_allclose(margins, [0.125, 0.03125, np.inf])
    # without a threshold it is a longer way up
    np.testing.assert_allclose(turns.distances(0.625, None, low=0.0, high=0.5), [0.125, 1 / 24, np.inf])


def test_a_case_without_an_answer_passes_only_above_its_threshold():
    turns = landscape((RISING, [])).turns(0.75, 0.6)
    # a's 0.5625 is cited up to there; 0.75 w reaches 0.6 at 0.8
    assert turns.passes.tolist() == [True]
    assert turns.threshold.tolist() == [0.5625]
    assert turns.above.tolist() == pytest.approx([0.8])


def test_an_outcome_has_the_values_of_every_measure_and_what_became_of_the_right_file():
    whole = landscape(*BOTH, (RISING, [Z]), (RISING, []))
    outcome = whole.outcome(dataclasses.replace(FREE, weight_vector=0.25, weight_lexical=0.75), [MRR])
    # at 0.25 the first has 0.1875 against 0.4375, the second 0.5625 against 0.0625
    assert outcome.passes.tolist() == [False, True, False, False]
    np.testing.assert_array_equal(outcome.values[MRR], [0.0, 1.0, 0.0, np.nan])
    assert outcome.fates == (Fate.LIMIT, Fate.HIT, None, None)
    strict = whole.outcome(dataclasses.replace(FREE, threshold=0.9), [])
    assert strict.fates == (Fate.THRESHOLD, Fate.THRESHOLD, None, None)
    assert strict.passes.tolist() == [False, False, False, True]


def test_without_any_candidate_nothing_turns_and_nothing_is_scored():
    empty = landscape((found(), [A]), (found(), []))
    turns = empty.turns(0.5, None)
    assert turns.passes.tolist() == [False, True]
    assert np.isnan([turns.below, turns.above, turns.threshold]).all()
    assert empty.outcome(FREE, []).fates == (None, None)
    assert empty.thresholds == Interval(0.0, 1.0)


def test_under_rrf_nothing_depends_on_the_weight():
    flat = landscape(*BOTH, settings=dataclasses.replace(FREE, fusion=Fusion.RRF))
    curve = flat.curve(None)
    assert curve is not None
    # b is in both lists of the first case; in the second the tie of 1/61 and 1/61 goes to a
    assert (curve.ends.tolist(), curve.inside.tolist()) == ([0.0, 1.0], [0.5])
    turns = flat.turns(0.3, None)
    assert turns.passes.tolist() == [False, True]
    assert np.isnan([turns.below, turns.above]).all()
    assert turns.threshold[1] == 1 / 61


def drawn(*cases: tuple[CandidateSet, list[Place]], high: float = 1.0) -> RegionMap:
    regions = draw_regions(landscape(*cases).map, low=0.0, high=high)
    assert regions is not None
    return regions


def test_the_region_of_a_case_lies_under_its_ceiling():
    regions = drawn((RISING, [A]))
    assert (regions.best, regions.judged, regions.exact) == (1.0, 1, True)
    (best,) = [region for region in regions.regions if region.band == 0]
    corners = {(round(w, 9), round(t, 9)) for w, t in zip(best.weights, best.thresholds, strict=True)}
    # from 0.5 on, under 0.75 w
    assert corners == {(0.5, 0.0), (1.0, 0.0), (1.0, 0.75), (0.5, 0.375)}
    assert {BANDS[region.band] for region in regions.regions} == {0, 1}


def test_a_region_goes_on_over_a_bend_of_its_ceiling():
    # 0.8 w and 0.8 - 0.8 w, two chunks of one file: the better of them is a ceiling with a bend at 0.5
    bent = found(
        chunk("docs/a.md", ordinal=0, vector=(0.8, 1)), chunk("docs/a.md", ordinal=1, lexical=(0.8, 1))
    )
    regions = drawn((bent, [A]))
    (best,) = [region for region in regions.regions if region.band == 0]
    assert (0.5, 0.4) in {
        (round(w, 9), round(t, 9)) for w, t in zip(best.weights, best.thresholds, strict=True)
    }
    assert regions.height(0) == 0.8


def test_where_a_measure_judges_no_case_there_are_no_regions():
    assert draw_regions(landscape((RISING, [A]), measure=REJECTED).map, low=0.0, high=1.0) is None
    with pytest.raises(ValueError, match="at least one case"):
        sample_map(landscape((RISING, [A]), measure=REJECTED).map, np.array([0.5]), np.array([0.0]))


def test_a_map_of_too_many_ceilings_is_simplified_and_says_so():
    random = np.random.default_rng(0)
    cases = [
        (
            found(
                chunk("docs/a.md", vector=(float(random.uniform(0.1, 0.9)), 1), lexical=(0.01, 2)),
                chunk("docs/b.md", vector=(0.05, 2), lexical=(float(random.uniform(0.1, 0.9)), 1)),
            ),
            [A],
        )
        for _ in range(2100)
    ]
    whole = landscape(*cases, settings=dataclasses.replace(FREE, limit=2))
    regions = draw_regions(whole.map, low=0.0, high=1.0)
    assert regions is not None
    assert not regions.exact
    # in the middle of a column the simplified regions are exact
    middle, threshold = 0.5025, 0.3
    value = float(sample_map(whole.map, np.array([middle]), np.array([threshold]))[0, 0])
    (here,) = [
        region
        for region in regions.regions
        if min(region.weights) < middle < max(region.weights)
        and min(region.thresholds) < threshold < max(region.thresholds)
    ]
    fewer = round((regions.best - value) * regions.judged)
    assert here.band == max(band for band, least in enumerate(BANDS) if least <= fewer)


def test_a_sample_of_the_map_is_the_mean_at_each_place():
    whole = landscape(*BOTH)
    values = sample_map(whole.map, np.array([0.25, 0.625]), np.array([-np.inf, 0.4]))
    # at 0.625 the right files have 0.46875 and 0.28125; at 0.25 only the second leads, with 0.5625
    assert values.tolist() == [[0.5, 0.5], [1.0, 0.5]]
