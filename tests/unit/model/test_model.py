"""The words of the product hold their invariants on construction."""

import dataclasses
import math

import pytest

from golden_material import chunk, found
from rag_core.errors import InvalidInput
from rag_core.model import (
    ALL_SCOPES,
    CandidateSettings,
    Chunk,
    EmbeddingModel,
    Fusion,
    Origin,
    Place,
    RankingSettings,
    Scope,
    SearchSettings,
    canonical_digest,
)
from rag_core.model.settings import changed_numbers
from rag_core.settings.presets import SEEDS


def settings(**changes: object) -> SearchSettings:
    ranking = dataclasses.replace(SEEDS.ranking, **changes)
    return SearchSettings(
        candidates=CandidateSettings(fetch_depth=ranking.candidates_per_signal),
        ranking=ranking,
        source="preset",
        preset="seeds",
    )


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("signal", ["vector", "lexical"])
def test_a_score_that_is_no_finite_number_is_refused(signal: str, bad: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        chunk("a.md", **{signal: (bad, 1)})


@pytest.mark.parametrize("half", [{"vector_score": None}, {"vector_rank": None}])
def test_score_and_rank_of_a_signal_come_together(half: dict[str, None]) -> None:
    with pytest.raises(ValueError, match="together"):
        dataclasses.replace(chunk("a.md", vector=(0.5, 1)), **half)


def test_no_chunk_is_a_candidate_twice() -> None:
    with pytest.raises(ValueError, match="twice"):
        found(chunk("a.md", vector=(0.5, 1)), chunk("a.md", lexical=(0.5, 1)))


@pytest.mark.parametrize("weight", [-0.1, 1.1, math.nan, math.inf])
@pytest.mark.parametrize("name", ["weight_vector", "weight_lexical"])
def test_a_weight_lies_between_0_and_1(name: str, weight: float) -> None:
    with pytest.raises(InvalidInput, match=name.replace("_", " ")):
        settings(**{name: weight})


@pytest.mark.parametrize("name", ["threshold", "threshold_when_degraded"])
def test_a_threshold_is_a_finite_number_or_none(name: str) -> None:
    with pytest.raises(InvalidInput, match=name.replace("_", " ")):
        settings(**{name: math.nan})
    assert settings(**{name: None}).ranking == dataclasses.replace(SEEDS.ranking, **{name: None})


@pytest.mark.parametrize("name", ["candidates_per_signal", "max_per_file", "limit", "rrf_k"])
def test_counts_are_at_least_1(name: str) -> None:
    with pytest.raises(InvalidInput, match=name.replace("_", " ")):
        settings(**{name: 0})


def test_only_the_cap_can_be_none() -> None:
    assert settings(max_per_file=None).ranking.max_per_file is None


def test_some_scope_is_searched_each_once_and_in_one_order() -> None:
    with pytest.raises(InvalidInput, match="scope"):
        CandidateSettings(scopes=())
    for wrong in ((Scope.ADR, Scope.DOCS), (Scope.DOCS, Scope.DOCS)):
        with pytest.raises(ValueError, match="order"):
            CandidateSettings(scopes=wrong)


def test_candidates_are_never_ranked_deeper_than_they_were_fetched() -> None:
    with pytest.raises(ValueError, match="deep"):
        SearchSettings(
            candidates=CandidateSettings(fetch_depth=19), ranking=SEEDS.ranking, source="preset", preset=None
        )
    deeper = settings().with_ranking(dataclasses.replace(SEEDS.ranking, candidates_per_signal=50))
    assert deeper.candidates.fetch_depth == 50


def test_the_settings_in_json_have_the_contracts_keys() -> None:
    assert settings(threshold=None, max_per_file=None).to_json() == {
        "source": "preset",
        "preset": "seeds",
        "weightVector": 0.6,
        "weightLexical": 0.4,
        "threshold": None,
        "thresholdWhenDegraded": None,
        "candidatesPerSignal": 20,
        "maxPerFile": None,
        "limit": 5,
        "fusion": "weightedSum",
        "lexicalOperator": "any",
        "lexicalFunction": "ts_rank",
        "embeddingModel": None,
        "fetchDepth": 20,
    }


def test_the_k_of_rrf_is_a_number_of_those_settings_that_have_one_and_is_60_where_none_is_told() -> None:
    told = settings(fusion=Fusion.RRF, rrf_k=10).to_json()
    assert told["rrfK"] == 10
    assert settings(fusion=Fusion.RRF, rrf_k=10).id != settings(fusion=Fusion.RRF).id
    assert settings(rrf_k=10) == settings()
    assert "rrfK" not in settings(rrf_k=10).to_json()
    older = {key: value for key, value in told.items() if key != "rrfK"}
    assert SearchSettings.from_json(older, source="adopted", model_id=None).ranking.rrf_k == 60


def test_a_number_that_only_one_of_two_settings_has_is_changed() -> None:
    before, now = settings().to_json(), settings(fusion=Fusion.RRF).to_json()
    assert changed_numbers(before, now) == ("fusion", "rrfK")
    assert changed_numbers(now, before) == ("fusion", "rrfK")
    assert changed_numbers(now, now | {"source": "x", "rrfK": 2}) == ("rrfK",)
    assert changed_numbers(before, before) == ()


def test_equal_numbers_are_one_setting_under_any_name_and_depth() -> None:
    named = dataclasses.replace(settings(), source="trial", preset=None)
    deeper = dataclasses.replace(settings(), candidates=CandidateSettings(fetch_depth=200))
    assert named.id == deeper.id == settings().id
    assert len(settings().id) == 16


@pytest.mark.parametrize(
    "changes",
    [
        {"weight_vector": 0.5},
        {"weight_lexical": 0.5},
        {"threshold": 0.1},
        {"threshold": None},
        {"threshold_when_degraded": 0.1},
        {"candidates_per_signal": 21},
        {"max_per_file": 3},
        {"limit": 6},
        {"fusion": Fusion.RRF},
    ],
)
def test_any_other_number_is_another_setting(changes: dict[str, object]) -> None:
    assert settings(**changes).id != settings().id


def test_the_scopes_that_are_searched_are_no_setting() -> None:
    docs_only = dataclasses.replace(settings(), candidates=CandidateSettings(scopes=(Scope.DOCS,)))
    assert docs_only.id == settings().id


@pytest.mark.parametrize("text", ["docs/a.md", "session:abc", "session:with:colon"])
def test_a_place_is_read_and_written_alike(text: str) -> None:
    assert str(Place.parse(text)) == text


def test_files_stand_before_sessions_and_both_by_code_point() -> None:
    places = [Place.parse(text) for text in ("session:0", "docs/á.md", "docs/b.md", "docs/B.md", "session:Z")]
    assert [str(place) for place in sorted(places)] == [
        "docs/B.md",
        "docs/b.md",
        "docs/á.md",
        "session:0",
        "session:Z",
    ]


def test_code_points_beyond_the_basic_plane_come_last_as_in_utf_8() -> None:
    # U+FF5E before U+1F600; UTF-16 would turn them round
    assert sorted([Place("file", "😀"), Place("file", "～")]) == [Place("file", "～"), Place("file", "😀")]


def test_a_citation_quotes_the_path_and_its_headings_or_the_session_and_its_event() -> None:
    adr = Origin(place=Place("file", "docs/adr/0127-x.md"), heading_path=("Decisão",))
    assert adr.citation == "docs/adr/0127-x.md › Decisão"
    spoken = Origin(place=Place("session", "s1"), event_id="e7", title="Plantão")
    assert spoken.citation == "session:s1 › e7"
    assert Origin(place=Place("file", "docs/a.md")).citation == "docs/a.md"


def test_a_chunks_hash_is_the_sha_256_of_its_text() -> None:
    origin = Origin(place=Place("file", "a.md"))
    text = Chunk(scope=Scope.DOCS, origin=origin, ordinal=0, content="abc")
    assert text.content_hash == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_an_embedding_models_id_can_be_read_back() -> None:
    model = EmbeddingModel(
        provider="ollama", name="hf.co/x@y/nomic", digest="0a109f422b47", prefixes="search-v1"
    )
    assert model.id == "ollama/hf.co/x@y/nomic@0a109f422b47+search-v1"
    assert EmbeddingModel.parse(model.id) == model


@pytest.mark.parametrize("text", ["", "ollama", "other/name@d+p", "ollama/@d+p", "ollama/n@d", "ollama/n@+p"])
def test_what_is_no_models_id_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="id"):
        EmbeddingModel.parse(text)


def test_a_digest_does_not_depend_on_the_order_of_keys() -> None:
    assert canonical_digest({"a": 1, "b": "é"}) == canonical_digest({"b": "é", "a": 1})
    assert canonical_digest({"a": 1}) != canonical_digest({"a": 2})


def test_all_scopes_are_the_three_of_the_enum() -> None:
    assert tuple(Scope) == ALL_SCOPES == ("docs", "adr", "session")


def test_settings_cannot_be_changed_after_they_were_made() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        SEEDS.ranking.limit = 10
    assert RankingSettings.__slots__
