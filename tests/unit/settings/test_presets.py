"""Which numbers are in force, and where they came from."""

import dataclasses
from collections.abc import Mapping
from datetime import UTC, datetime

import pytest

from rag_core.database.adopted_settings import AdoptedSettings
from rag_core.database.index.identity import IndexIdentity
from rag_core.errors import InvalidInput, UsageError
from rag_core.model import (
    ALL_SCOPES,
    Fusion,
    LexicalFunction,
    LexicalOperator,
    LexicalWay,
    RankingSettings,
    Scope,
    SearchSettings,
)
from rag_core.settings.committed import CommittedSettings, Limits
from rag_core.settings.golden_folder import CommittedFile
from rag_core.settings.in_force import FirstSource, SettingsSources
from rag_core.settings.overrides import Overrides
from rag_core.settings.presets import EMBEDDED, EMBEDDED_STRICT, PRESETS, SEEDS

NOMIC = "ollama/nomic-embed-text@0a109f422b47+search-v1"
EMBEDDED_ENCODER = "embedded/use-multilingual-v3@0123456789ab+none"
UNKNOWN = "ollama/bge-m3@0123456789ab+none"


def resolve(
    model_id: str | None = NOMIC,
    *,
    adopted: Mapping[str, object] | None = None,
    committed: CommittedSettings | None = None,
    first: FirstSource = "adopted",
    file_limit: int | None = None,
    scopes: tuple[Scope, ...] = ALL_SCOPES,
    **flags: object,
) -> SearchSettings:
    index = IndexIdentity(
        embedding_model=model_id, chunker_version="1", text_search_config="portuguese", generation=1
    )
    decided = AdoptedSettings(
        settings=dict(adopted or {}),
        adopted_by="person:ana",
        adopted_at=datetime(2026, 11, 30, tzinfo=UTC),
        reason="measured",
    )
    sources = SettingsSources(
        index=index,
        adopted=None if adopted is None else decided,
        committed=CommittedFile(settings=committed),
    )
    return sources.resolve(first=first, scopes=scopes, overrides=Overrides(**flags), file_limit=file_limit)


ADOPTED = resolve(weight_vector=0.25, threshold=0.1, limit=8, candidates=50).to_json()


def test_the_seeds_numbers_are_those_of_the_seeds() -> None:
    assert SEEDS.ranking == RankingSettings(
        weight_vector=0.6,
        weight_lexical=0.4,
        threshold=0.2,
        threshold_when_degraded=None,
        candidates_per_signal=20,
        max_per_file=2,
        limit=5,
        fusion=Fusion.WEIGHTED_SUM,
    )
    assert (SEEDS.lexical.operator, SEEDS.lexical.function) == ("any", "ts_rank")


@pytest.mark.parametrize(
    ("model_id", "preset", "source"),
    [
        (NOMIC, "seeds", "preset"),
        (EMBEDDED_ENCODER, "embedded", "preset"),
        (UNKNOWN, "seeds", "seeds"),
        (None, "seeds", "seeds"),
    ],
)
def test_the_model_of_the_index_chooses_the_preset_and_one_without_a_preset_says_so(
    model_id: str | None, preset: str, source: str
) -> None:
    settings = resolve(model_id)
    assert (settings.preset, settings.source) == (preset, source)
    assert settings.ranking == PRESETS[preset].ranking
    assert settings.candidates.embedding_model == model_id


def test_every_preset_says_what_it_was_measured_on_and_its_weights_add_up_to_1() -> None:
    for preset in PRESETS.values():
        assert preset.evidence
        assert preset.ranking.weight_vector + preset.ranking.weight_lexical == pytest.approx(1.0)


@pytest.mark.parametrize("preset", [EMBEDDED, EMBEDDED_STRICT])
def test_the_embedded_encoders_presets_say_that_words_alone_may_be_cited(preset: object) -> None:
    assert "without support of meaning" in preset.description


def test_the_strict_preset_asks_for_more_than_the_one_that_finds() -> None:
    assert (
        dataclasses.replace(
            EMBEDDED,
            name=EMBEDDED_STRICT.name,
            description=EMBEDDED_STRICT.description,
            evidence=EMBEDDED_STRICT.evidence,
            ranking=dataclasses.replace(EMBEDDED.ranking, threshold=EMBEDDED_STRICT.ranking.threshold),
        )
        == EMBEDDED_STRICT
    )
    asked = EMBEDDED_STRICT.ranking.threshold
    assert asked is not None
    assert asked > (EMBEDDED.ranking.threshold or 0.0)


def test_the_seeds_numbers_are_as_they_were_chosen() -> None:
    assert SEEDS.lexical == LexicalWay(operator=LexicalOperator.ANY, function=LexicalFunction.TS_RANK)
    assert SEEDS.ranking == RankingSettings(
        weight_vector=0.6,
        weight_lexical=0.4,
        threshold=0.2,
        candidates_per_signal=20,
        max_per_file=2,
        limit=5,
    )


def test_adopted_settings_are_stronger_than_the_preset() -> None:
    settings = resolve(adopted=ADOPTED)
    assert settings.source == "adopted"
    assert (settings.ranking.weight_vector, settings.ranking.threshold, settings.ranking.limit) == (
        0.25,
        0.1,
        8,
    )
    assert settings.candidates.fetch_depth == 50


def test_a_trials_flag_is_stronger_than_adopted_settings_and_leaves_the_others() -> None:
    settings = resolve(adopted=ADOPTED, threshold=0.3)
    assert settings.source == "trial"
    assert (settings.ranking.threshold, settings.ranking.weight_vector) == (0.3, 0.25)


def test_a_named_preset_takes_the_place_of_adopted_settings() -> None:
    settings = resolve(adopted=ADOPTED, preset="embedded-strict")
    assert (settings.source, settings.preset) == ("trial", "embedded-strict")
    assert settings.ranking == EMBEDDED_STRICT.ranking


def test_the_cases_files_limit_stands_above_the_adopted_one_and_below_the_flag() -> None:
    assert resolve(adopted=ADOPTED, file_limit=3).ranking.limit == 3
    assert resolve(adopted=ADOPTED, file_limit=3, limit=2).ranking.limit == 2
    assert resolve(adopted=ADOPTED).ranking.limit == 8


def test_the_cases_files_limit_makes_no_trial_and_neither_does_a_limit_alone() -> None:
    assert resolve(file_limit=3).source == "preset"
    assert resolve(adopted=ADOPTED, limit=9).source == "adopted"
    assert resolve(limit=9).preset == "seeds"


@pytest.mark.parametrize("weight", [0.0, 0.3, 1.0])
def test_the_lexical_weight_is_the_rest(weight: float) -> None:
    ranking = resolve(weight_vector=weight).ranking
    assert (ranking.weight_vector, ranking.weight_lexical) == (weight, 1.0 - weight)


@pytest.mark.parametrize("weight", [-0.1, 1.5, float("nan"), float("inf")])
def test_a_weight_that_is_none_is_refused_by_its_own_name(weight: float) -> None:
    with pytest.raises(InvalidInput, match="weight vector"):
        resolve(weight_vector=weight)


def test_none_takes_threshold_and_cap_away_and_nothing_leaves_them() -> None:
    without = resolve(threshold=None, max_per_file=None).ranking
    assert (without.threshold, without.max_per_file) == (None, None)
    untouched = resolve(limit=4).ranking
    assert (untouched.threshold, untouched.max_per_file) == (0.2, 2)


def test_more_candidates_are_fetched_as_deep_as_they_are_ranked() -> None:
    assert resolve(candidates=100).candidates.fetch_depth == 100
    fewer = resolve(candidates=5)
    assert fewer.ranking.candidates_per_signal == 5
    assert fewer.candidates.fetch_depth >= 5


def test_another_fusion_drops_the_threshold_unless_the_trial_gives_one() -> None:
    assert resolve(fusion=Fusion.RRF).ranking.threshold is None
    assert resolve(fusion=Fusion.RRF, threshold=0.01).ranking.threshold == 0.01
    assert resolve(fusion=Fusion.WEIGHTED_SUM).ranking.threshold == 0.2


def test_lexical_flags_change_what_is_fetched() -> None:
    candidates = resolve(
        lexical_operator=LexicalOperator.ALL, lexical_function=LexicalFunction.COVERAGE
    ).candidates
    assert (candidates.lexical.operator, candidates.lexical.function) == ("all", "coverage")


def test_an_unknown_preset_is_named_with_those_there_are() -> None:
    with pytest.raises(UsageError, match="'semente'") as refusal:
        resolve(preset="semente")
    assert refusal.value.hint == "Presets: seeds, embedded, embedded-strict."


def test_the_scopes_asked_for_stand_in_every_case() -> None:
    for adopted in (None, ADOPTED):
        assert resolve(adopted=adopted, scopes=(Scope.ADR,)).candidates.scopes == (Scope.ADR,)


def test_settings_read_from_their_json_are_the_same_settings() -> None:
    original = resolve(
        weight_vector=0.3, threshold=None, max_per_file=None, fusion=Fusion.Z_SCORE, candidates=7
    )
    read = SearchSettings.from_json(original.to_json(), scopes=ALL_SCOPES, model_id=NOMIC, source="adopted")
    assert read.ranking == original.ranking
    assert read.id == original.id


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("weightVector", "0.6"),
        ("weightVector", None),
        ("weightVector", True),
        ("threshold", "none"),
        ("fusion", "mmr"),
        ("lexicalOperator", "some"),
        ("limit", 0),
        ("limit", "five"),
    ],
)
def test_settings_whose_json_is_broken_are_refused(key: str, value: object) -> None:
    with pytest.raises(InvalidInput):
        SearchSettings.from_json(
            resolve().to_json() | {key: value}, scopes=ALL_SCOPES, model_id=None, source="adopted"
        )


@pytest.mark.parametrize("key", ["weightVector", "threshold", "thresholdWhenDegraded", "maxPerFile", "limit"])
def test_settings_that_lack_a_number_are_refused_and_it_is_named(key: str) -> None:
    whole = resolve().to_json()
    del whole[key]
    with pytest.raises(InvalidInput, match=key):
        SearchSettings.from_json(whole, scopes=ALL_SCOPES, model_id=None, source="adopted")


@pytest.mark.parametrize("field", [field.name for field in dataclasses.fields(Overrides)])
def test_any_flag_makes_a_trial_of_a_golden_run(field: str) -> None:
    assert not Overrides().any_given
    assert Overrides(**{field: None if field in ("threshold", "max_per_file") else 1}).any_given


COMMITTED = CommittedSettings(numbers=Overrides(weight_vector=0.5, limit=7))


@pytest.mark.parametrize(
    ("given", "source", "weight"),
    [
        ({}, "seeds", 0.6),
        ({"committed": COMMITTED}, "committed", 0.5),
        ({"adopted": ADOPTED}, "adopted", 0.25),
        ({"adopted": ADOPTED, "committed": COMMITTED}, "adopted", 0.25),
        ({"adopted": ADOPTED, "committed": COMMITTED, "first": "committed"}, "committed", 0.5),
        ({"adopted": ADOPTED, "first": "committed"}, "adopted", 0.25),
        ({"adopted": ADOPTED, "committed": COMMITTED, "weight_vector": 0.9}, "trial", 0.9),
        (
            {"adopted": ADOPTED, "committed": COMMITTED, "first": "committed", "preset": "embedded"},
            "trial",
            0.4,
        ),
    ],
)
def test_flags_are_stronger_than_decisions_and_these_than_presets(
    given: dict[str, object], source: str, weight: float
) -> None:
    settings = resolve(UNKNOWN, **given)
    assert (settings.source, settings.ranking.weight_vector) == (source, weight)


def test_a_cases_files_limit_stands_above_both_decisions_and_below_a_flag() -> None:
    for first in ("adopted", "committed"):
        given = {"adopted": ADOPTED, "committed": COMMITTED, "first": first, "file_limit": 3}
        assert resolve(**given).ranking.limit == 3
        assert resolve(**given, limit=4).ranking.limit == 4


def test_a_settings_file_without_a_number_decides_nothing() -> None:
    only_limits = CommittedSettings(made_for=NOMIC, limits=Limits(useful=0.5))
    settings = resolve(adopted=ADOPTED, committed=only_limits, first="committed")
    assert settings.source == "adopted"
    assert resolve(committed=only_limits).source == "preset"


def test_numbers_left_out_of_a_settings_file_are_those_of_its_preset_else_of_the_models() -> None:
    of_model = resolve(EMBEDDED_ENCODER, committed=CommittedSettings(numbers=Overrides(max_per_file=None)))
    assert of_model.ranking == dataclasses.replace(EMBEDDED.ranking, max_per_file=None)
    assert of_model.preset is None
    named = resolve(NOMIC, committed=CommittedSettings(numbers=Overrides(preset="embedded-strict")))
    assert (named.source, named.preset, named.ranking) == (
        "committed", "embedded-strict", EMBEDDED_STRICT.ranking
    )  # fmt: skip


def test_another_fusion_in_a_settings_file_drops_the_presets_threshold() -> None:
    ranking = resolve(committed=CommittedSettings(numbers=Overrides(fusion=Fusion.RRF))).ranking
    assert (ranking.fusion, ranking.threshold) == (Fusion.RRF, None)
