"""What would make a failing case pass, one number at a time."""

import dataclasses

import pytest

from golden_material import VECTOR_ONLY, by_vector, chunk, found
from rag_core.evaluation.explanation import CaseExplanation, explain
from rag_core.golden.cases import GoldenCase
from rag_core.golden.remedies import Remedy
from rag_core.golden.verdicts import judge
from rag_core.model import CandidateSet, CandidateSettings, Fusion, Place, RankingSettings, SearchSettings
from rag_core.ranking.ranking import rank

NO_ANSWER = GoldenCase(id="none", question="q", no_answer=True)


def expecting(*places: str) -> GoldenCase:
    return GoldenCase(id="a", question="q", expected=tuple(Place.parse(place) for place in places))


def explained(case: GoldenCase, candidates: CandidateSet, settings: RankingSettings) -> CaseExplanation:
    searched = SearchSettings(
        candidates=CandidateSettings(fetch_depth=100), ranking=settings, source="trial", preset=None
    )
    return explain(case, candidates, rank(candidates, settings), searched, contents={}, left_out=())


def by_kind(case: GoldenCase, candidates: CandidateSet, settings: RankingSettings) -> dict[str, Remedy]:
    found_remedies = explained(case, candidates, settings).remedies
    for remedy in found_remedies:
        if remedy.settings is not None:
            assert judge(case, rank(candidates, remedy.settings)).passed
    return {remedy.kind: remedy for remedy in found_remedies}


def test_a_case_that_passes_needs_no_remedy() -> None:
    assert by_kind(expecting("a.md"), by_vector(("a.md", 0.9)), VECTOR_ONLY) == {}


def test_a_file_crowded_out_by_another_one_passes_with_a_tighter_cap_or_a_wider_limit() -> None:
    crowded = by_vector(("a.md", 0.9), ("a.md", 0.8), ("b.md", 0.7))
    helping = by_kind(expecting("b.md"), crowded, VECTOR_ONLY)
    assert list(helping) == ["maxPerFile", "limit"]
    assert helping["maxPerFile"].sentence == "It passes with a cap of 1 a file (now 2)."
    assert helping["limit"].sentence == "It passes with a limit of 3 (now 2)."


def test_a_limit_below_the_rank_in_the_whole_set_is_explained_by_the_cap() -> None:
    crowded = by_vector(("a.md", 0.9), ("a.md", 0.85), ("a.md", 0.8), ("c.md", 0.75), ("b.md", 0.7))
    # fifth of all, fourth once the third chunk of a.md is capped
    assert by_kind(expecting("b.md"), crowded, VECTOR_ONLY)["limit"].sentence == (
        "It passes with a limit of 4 (now 2); the file cap takes 1 of those above it."
    )


def test_the_nearest_cap_is_chosen_also_from_no_cap() -> None:
    # without a cap a.md fills both places of two; of the caps 3, 2 and 1 only 1 helps
    uncapped = dataclasses.replace(VECTOR_ONLY, max_per_file=None)
    crowded = by_vector(("a.md", 0.9), ("a.md", 0.8), ("b.md", 0.7))
    assert by_kind(expecting("b.md"), crowded, uncapped)["maxPerFile"].sentence == (
        "It passes with a cap of 1 a file (now none)."
    )
    wider = dataclasses.replace(uncapped, limit=3)
    four = by_vector(("a.md", 0.9), ("a.md", 0.8), ("a.md", 0.7), ("b.md", 0.6))
    chosen = by_kind(expecting("b.md"), four, wider)["maxPerFile"].settings
    assert chosen is not None
    assert chosen.max_per_file == 2


def test_a_case_below_the_threshold_is_told_the_score_that_would_keep_it() -> None:
    helping = by_kind(expecting("b.md"), by_vector(("a.md", 0.9), ("b.md", 0.12345)), VECTOR_ONLY)
    assert list(helping) == ["threshold"]
    assert helping["threshold"].settings == dataclasses.replace(VECTOR_ONLY, threshold=0.12345)
    assert helping["threshold"].sentence == "It passes with a threshold of 0.1234 or less (now 0.2)."


def test_in_an_outage_the_threshold_for_outages_is_the_one_to_lower() -> None:
    settings = RankingSettings(
        weight_vector=0.5, weight_lexical=0.5, threshold=0.2, threshold_when_degraded=0.1, limit=2
    )
    outage = found(chunk("a.md", lexical=(0.125, 1)), vector_available=False)
    chosen = by_kind(expecting("a.md"), outage, settings)["threshold"].settings
    assert chosen == dataclasses.replace(settings, threshold_when_degraded=0.0625)


def test_a_case_that_one_signal_knows_better_is_told_the_nearest_weights() -> None:
    # at weight w: a.md w, b.md 1 - w; with one hit, b.md wins below 0.5, and at 0.5 a.md does by its name
    settings = RankingSettings(weight_vector=0.6, weight_lexical=0.4, threshold=None, limit=1)
    candidates = found(chunk("a.md", vector=(1.0, 1)), chunk("b.md", lexical=(1.0, 1)))
    weight = by_kind(expecting("b.md"), candidates, settings)["weight"]
    assert (weight.low, weight.high) == (0.0, pytest.approx(0.5, abs=1e-11))
    assert weight.high is not None
    assert weight.high < 0.5
    assert weight.settings == dataclasses.replace(
        settings, weight_vector=weight.high, weight_lexical=1 - weight.high
    )
    assert weight.sentence == "It passes with a vector weight of 0 to 0.4999 (now 0.6)."


def test_a_case_that_passes_on_a_sliver_of_weights_is_told_that_sliver() -> None:
    # lines: a.md 0.75 w, c.md 0.5 - 0.25 w, b.md 0.3752 at every weight; b.md is best only around w = 0.5
    candidates = found(
        chunk("a.md", vector=(0.75, 1)),
        chunk("b.md", vector=(0.3752, 2), lexical=(0.3752, 2)),
        chunk("c.md", vector=(0.25, 3), lexical=(0.5, 1)),
    )
    settings = RankingSettings(weight_vector=0.9, weight_lexical=0.1, threshold=None, limit=1)
    weight = by_kind(expecting("b.md"), candidates, settings)["weight"]
    assert (weight.low, weight.high) == (pytest.approx(0.4992), pytest.approx(0.3752 / 0.75))


def test_each_rival_has_the_weights_at_which_the_expected_chunk_stands_above_it() -> None:
    candidates = found(
        chunk("a.md", vector=(0.75, 1)),
        chunk("b.md", vector=(0.3752, 2), lexical=(0.3752, 2)),
        chunk("c.md", vector=(0.25, 3), lexical=(0.5, 1)),
        chunk("d.md", vector=(0.5, 4), lexical=(0.6, 3)),
    )
    settings = RankingSettings(weight_vector=0.9, weight_lexical=0.1, threshold=None, limit=1)
    told = explained(expecting("b.md"), candidates, settings)
    crossings = {entry.candidate.origin.place.key: told.crossing(entry) for entry in told.ranking.whole_set}
    assert crossings == {"a.md": "below 0.5002", "b.md": "", "c.md": "above 0.4993", "d.md": "no weight"}


def test_reciprocal_ranks_have_no_weight_to_change() -> None:
    settings = RankingSettings(
        weight_vector=0.6, weight_lexical=0.4, threshold=None, limit=1, fusion=Fusion.RRF
    )
    candidates = found(chunk("a.md", vector=(1.0, 1)), chunk("b.md", lexical=(1.0, 1)))
    assert list(by_kind(expecting("b.md"), candidates, settings)) == ["limit"]


def test_a_case_behind_the_depth_is_told_the_depth_that_reaches_it() -> None:
    shallow = dataclasses.replace(VECTOR_ONLY, candidates_per_signal=1)
    helping = by_kind(expecting("b.md"), by_vector(("a.md", 0.9), ("b.md", 0.8)), shallow)
    assert list(helping) == ["depth"]
    assert helping["depth"].sentence == "It passes with 2 candidates a signal (now 1)."


def test_a_case_that_no_single_number_can_save_is_told_so() -> None:
    # too weak for the threshold, and too far down for the limit once it is lowered
    candidates = by_vector(("a.md", 0.9), ("b.md", 0.8), ("c.md", 0.1))
    assert by_kind(expecting("c.md"), candidates, VECTOR_ONLY) == {
        "none": Remedy(
            kind="none", sentence="No single change of cap, limit, weight, threshold or depth makes it pass."
        )
    }


def test_a_place_in_no_candidate_list_is_a_matter_of_the_index() -> None:
    candidates = by_vector(("a.md", 0.9), ("b.md", 0.8))
    tail = ": a matter of the index or of the question's words, not of these numbers."
    one = by_kind(expecting("x.md"), candidates, VECTOR_ONLY)
    two = by_kind(expecting("x.md", "y.md"), candidates, VECTOR_ONLY)
    nothing = by_kind(expecting("x.md"), found(), VECTOR_ONLY)
    assert one["index"].sentence == f"x.md is in neither signal's first 2 candidates{tail}"
    assert two["index"].sentence == f"No expected place is in either signal's first 2 candidates{tail}"
    assert nothing["index"].sentence == f"Neither signal found anything{tail}"
    # of a signal that was not run, nobody knows what it would have found
    by_words = by_kind(
        expecting("x.md"), dataclasses.replace(candidates, vector_available=False), VECTOR_ONLY
    )
    assert by_words["index"].sentence == (
        f"x.md is not in the lexical signal's first 2 candidates, and the vector signal was not run{tail}"
    )


def test_a_case_without_answer_is_told_the_threshold_that_would_empty_it() -> None:
    helping = by_kind(NO_ANSWER, by_vector(("a.md", 0.61234), ("b.md", 0.5)), VECTOR_ONLY)
    assert list(helping) == ["threshold"]
    assert helping["threshold"].sentence == "It would have no hit with a threshold above 0.6124."
