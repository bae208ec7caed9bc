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
        rrf_k=draw(st.sampled_from([1, 60, 10_000])),
    )
    candidates = CandidateSettings(
        fetch_depth=1000,
        lexical=LexicalWay(
            operator=draw(st.sampled_from(LexicalOperator)), function=draw(st.sampled_from(LexicalFunction))
        ),
    )
    return SearchSettings(candidates=candidates, ranking=ranking, source="adopted", preset=None)


def asdict_given(numbers: Overrides) -> dict[str, object]:
    return {name: value for name, value in dataclasses.asdict(numbers).items() if value is not None}


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


@given(settings())
def test_settings_come_back_from_their_json_and_a_number_that_plays_no_part_is_not_in_it(
    one: SearchSettings,
) -> None:
    told = one.to_json()
    assert ("rrfK" in told) == one.ranking.fusion.takes_k
    assert SearchSettings.from_json(told, source="adopted", model_id=None).ranking == one.ranking
    assert ("rrf_k" in asdict_given(Overrides.of(one))) == one.ranking.fusion.takes_k


def test_a_k_goes_along_to_another_fusion_that_takes_one_and_is_refused_where_none_does() -> None:
    own = RankingSettings(weight_vector=0.6, weight_lexical=0.4, threshold=None, fusion=Fusion.RRF, rrf_k=10)
    assert Overrides(limit=3).ranked(own).rrf_k == 10
    assert Overrides(rrf_k=2).ranked(own).rrf_k == 2
    away = Overrides(fusion=Fusion.MIN_MAX).ranked(own)
    assert Overrides(fusion=Fusion.RRF).ranked(away).rrf_k == 60
    with pytest.raises(InvalidInput, match="minMax takes no k") as refused:
        Overrides(rrf_k=10).ranked(away)
    assert "rrf" in refused.value.hint


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
    [
        {"limit": 51},
        {"candidates": 1001},
        {"weight_vector": 1.5},
        {"limit": 0},
        {"max_per_file": 0},
        {"fusion": Fusion.RRF, "rrf_k": 0},
        {"fusion": Fusion.RRF, "rrf_k": 10_001},
    ],
)
def test_a_number_out_of_range_is_refused(numbers: dict[str, float]) -> None:
    own = RankingSettings(weight_vector=0.6, weight_lexical=0.4, threshold=0.2)
    with pytest.raises(InvalidInput):
        Overrides(**numbers).ranked(own)
