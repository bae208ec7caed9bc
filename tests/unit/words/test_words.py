"""What surfaces say in the same words: numbers and their gaps, settings, and why a search was degraded."""

import dataclasses

import pytest

from rag_core.model import CandidateSettings, DegradedReason, Fusion, RankingSettings, SearchSettings
from rag_core.settings.presets import PRESETS, Preset
from rag_core.words.degraded import why_degraded, why_recorded
from rag_core.words.fusions import threshold_scale
from rag_core.words.numbers import from_to, measured, milliseconds, p_value, percentage, points, share
from rag_core.words.settings import (
    NUMBERS,
    numbers_told,
    settings_as_typed,
    settings_at_a_glance,
    settings_in_full,
)


def test_what_was_not_measured_is_never_0() -> None:
    assert (measured(None), measured(None, missing="not run"), milliseconds(None)) == (
        "—",
        "not run",
        "— not measured",
    )
    assert (share(0, 0), share(0, 3), p_value(None)) == ("—", "0%", "")


def test_few_things_have_no_decimals() -> None:
    assert (share(1, 3), percentage(1 / 3, 199), percentage(1 / 3, 200)) == ("33%", "33%", "33.3%")
    assert (points(0.125, 8), points(-0.0151, 200), points(0.001, 8)) == ("+12", "-1.5", "0")


def test_times_have_decimals_below_a_hundred_milliseconds() -> None:
    assert (milliseconds(12.34), milliseconds(99.94), milliseconds(1_240.4)) == (
        "12.3 ms",
        "99.9 ms",
        "1,240 ms",
    )


def test_an_interval_has_one_more_decimal_where_its_ends_would_be_told_as_one_number() -> None:
    assert (from_to(0.38, 0.957, 2), from_to(0.381, 0.384, 2), from_to(1.0, 1.0)) == (
        "0.38 to 0.96",
        "0.381 to 0.384",
        "1.000 to 1.000",
    )


def some(fusion: Fusion) -> SearchSettings:
    ranking = RankingSettings(
        weight_vector=0.3,
        weight_lexical=0.7,
        threshold=None,
        max_per_file=None,
        limit=4,
        candidates_per_signal=20,
        fusion=fusion,
    )
    return SearchSettings(candidates=CandidateSettings(), ranking=ranking, source="trial", preset=None)


@pytest.mark.parametrize("fusion", Fusion)
def test_settings_of_every_fusion_are_told_with_their_numbers(fusion: Fusion) -> None:
    settings = some(fusion)
    told = dict(numbers_told(settings))
    assert set(told) < set(NUMBERS.values())
    assert (told["vector weight"], told["threshold"], told["chunks a file"]) == ("0.3", "none", "no cap")
    assert settings_in_full(settings).startswith(f"{told['fusion']}, vector weight 0.3, threshold none, ")
    assert "no cap a file" in settings_in_full(settings)
    assert told.get("k of RRF") == ("60" if fusion.takes_k else None)
    assert [("k 60, " in text(settings)) for text in (settings_in_full, settings_as_typed)] == [
        fusion.takes_k
    ] * 2
    assert settings_as_typed(settings).startswith(f"{fusion}, vector 0.3, lexical 0.7, threshold none, ")
    assert settings_at_a_glance(settings).endswith(
        ": vector 0.3, lexical 0.7, no threshold, any number per file, limit 4"
    )


@pytest.mark.parametrize(
    ("fusion", "k", "scale"),
    [
        (Fusion.WEIGHTED_SUM, 60, (1.0, 0.005)),
        (Fusion.RRF, 60, (0.0328, 0.0001)),
        (Fusion.RRF, 1, (1.0, 0.01)),
        (Fusion.WEIGHTED_RRF, 60, (0.0164, 0.0001)),
        (Fusion.WEIGHTED_RRF, 1, (0.5, 0.001)),
    ],
)
def test_thresholds_worth_trying_go_up_to_what_two_first_ranks_are_worth(
    fusion: Fusion, k: int, scale: tuple[float, float]
) -> None:
    ranking = dataclasses.replace(some(fusion).ranking, rrf_k=k)
    assert threshold_scale(ranking) == pytest.approx(scale)


@pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS)
def test_every_preset_can_be_chosen_on_the_scale_of_its_threshold(preset: Preset) -> None:
    highest, step = threshold_scale(preset.ranking)
    threshold = preset.ranking.threshold or 0.0
    assert threshold <= highest
    assert threshold / step == pytest.approx(round(threshold / step))


@pytest.mark.parametrize("reason", DegradedReason)
def test_every_reason_is_a_clause_of_its_own(reason: DegradedReason) -> None:
    others = {why_degraded(other) for other in DegradedReason if other is not reason}
    assert why_degraded(reason) not in others
    assert not why_degraded(reason).endswith(".")
    assert why_recorded(str(reason)) == why_degraded(reason)


def test_a_reason_of_an_older_row_is_told_as_it_stands() -> None:
    assert why_recorded("somethingElse") == "somethingElse"
