"""Other numbers in the place of those of some settings: one form, whoever gives them."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_core.errors import InvalidInput
from rag_core.model import (
    CandidateSettings,
    Fusion,
    LexicalFunction,
    LexicalOperator,
    LexicalWay,
    RankingSettings,
    SearchSettings,
)
from rag_core.settings.overrides import Overrides, with_preset
from rag_core.settings.presets import PRESETS, Preset

THRESHOLDS = st.none() | st.sampled_from([0.0, 0.1, 0.25])


@st.composite
def settings(draw: st.DrawFn) -> SearchSettings:
    weight = draw(st.sampled_from([0.0, 0.2, 0.7, 1.0]))
    ranking = RankingSettings(
        weight_vector=weight,
        weight_lexical=1.0 - weight,
        threshold=draw(THRESHOLDS),
        threshold_when_degraded=draw(THRESHOLDS),
        candidates_per_signal=draw(st.sampled_from([1, 20, 1000])),
        max_per_file=draw(st.none() | st.integers(1, 3)),
        limit=draw(st.sampled_from([1, 5, 50])),
        fusion=draw(st.sampled_from(Fusion)),
    )
    candidates = CandidateSettings(
        fetch_depth=1000,
        lexical=LexicalWay(
            operator=draw(st.sampled_from(LexicalOperator)), function=draw(st.sampled_from(LexicalFunction))
        ),
    )
    return SearchSettings(candidates=candidates, ranking=ranking, source="adopted", preset=None)


@given(settings(), settings())
def test_what_differs_between_two_settings_put_over_the_one_makes_the_other(
    before: SearchSettings, after: SearchSettings
) -> None:
    made = Overrides.between(before, after).over(before)
    assert (made.ranking, made.candidates) == (after.ranking, after.candidates)


@given(settings(), settings())
def test_every_number_in_full_makes_the_same_settings_of_any_others(
    one: SearchSettings, other: SearchSettings
) -> None:
    assert Overrides.of(one).over(other).ranking == one.ranking


@given(settings())
def test_nothing_differs_between_settings_and_themselves(one: SearchSettings) -> None:
    assert not Overrides.between(one, one).any_given
    assert Overrides().ranked(one.ranking) == one.ranking


def test_only_what_differs_is_named_and_a_threshold_that_goes_with_its_fusion_is_not() -> None:
    ranking = RankingSettings(weight_vector=0.6, weight_lexical=0.4, threshold=0.2)
    one = SearchSettings(candidates=CandidateSettings(), ranking=ranking, source="seeds", preset="seeds")
    other = one.with_ranking(
        dataclasses.replace(ranking, fusion=Fusion.RRF, threshold=None, max_per_file=None)
    )
    assert Overrides.between(one, other) == Overrides(fusion=Fusion.RRF, max_per_file=None)
    assert Overrides.between(other, one) == Overrides(
        fusion=Fusion.WEIGHTED_SUM, threshold=0.2, max_per_file=2
    )


def test_a_lexical_weight_that_is_not_quite_the_rest_stays_with_its_vector_weight() -> None:
    own = RankingSettings(weight_vector=0.7, weight_lexical=0.3, threshold=None)
    assert 1 - 0.7 != 0.3
    assert Overrides(weight_vector=0.7, limit=3).ranked(own).weight_lexical == 0.3
    assert Overrides(weight_vector=0.6).ranked(own).weight_lexical == 0.4


@pytest.mark.parametrize("preset", PRESETS.values())
@given(one=settings())
def test_a_presets_numbers_stand_in_the_place_of_others(preset: Preset, one: SearchSettings) -> None:
    made = with_preset(one, preset)
    assert (made.ranking, made.preset, made.source) == (preset.ranking, preset.name, "trial")
    assert made.candidates.lexical == preset.lexical


@pytest.mark.parametrize(
    "numbers",
    [{"limit": 51}, {"candidates": 1001}, {"weight_vector": 1.5}, {"limit": 0}, {"max_per_file": 0}],
)
def test_a_number_out_of_range_is_refused(numbers: dict[str, float]) -> None:
    own = RankingSettings(weight_vector=0.6, weight_lexical=0.4, threshold=0.2)
    with pytest.raises(InvalidInput):
        Overrides(**numbers).ranked(own)
