"""What holds for any candidates and any settings: one ranking, replayable, that loses and invents nothing."""

import dataclasses
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from golden_material import chunk, found
from rag_core.model import (
    Candidate,
    CandidateSet,
    Fate,
    Fusion,
    Place,
    RankedCandidate,
    Ranking,
    RankingSettings,
)
from rag_core.ranking.fusion import fuse
from rag_core.ranking.ranking import rank

PLACES = ("docs/a.md", "docs/b.md", "docs/é.md", "session:a", "session:z")
# coarse values make ties common, the others make every float possible
COSINES = st.one_of(st.sampled_from((0.0, 0.25, 0.5)), st.floats(-1, 1))
LEXICAL_SCORES = st.one_of(st.sampled_from((0.0625, 0.125)), st.floats(0, 1, exclude_max=True))
WEIGHTS = st.one_of(st.sampled_from((0.0, 0.4, 0.6, 1.0)), st.floats(0, 1))
THRESHOLDS = st.one_of(st.none(), st.sampled_from((0.0, 0.05, 0.2)), st.floats(-2, 2))
SETTINGS = st.builds(
    RankingSettings,
    weight_vector=WEIGHTS,
    weight_lexical=WEIGHTS,
    threshold=THRESHOLDS,
    threshold_when_degraded=THRESHOLDS,
    candidates_per_signal=st.integers(1, 12),
    max_per_file=st.one_of(st.none(), st.integers(1, 3)),
    limit=st.integers(1, 6),
    fusion=st.sampled_from(Fusion),
    rrf_k=st.sampled_from((1, 2, 10, 60)),
)


@dataclass(frozen=True, slots=True)
class Index:
    """Every chunk with its score in each signal, None where that signal does not have it at all."""

    scores: Mapping[tuple[str, int], tuple[float | None, float | None]]
    vector_available: bool

    def fetch(self, depth: int) -> CandidateSet:
        """What two queries would return, each cut at `depth` after ordering by score, place and ordinal."""
        by_vector, by_lexical = (self._ranks(signal, depth) for signal in (0, 1))
        return found(
            *(
                chunk(
                    place,
                    ordinal=ordinal,
                    vector=by_vector.get((place, ordinal)),
                    lexical=by_lexical.get((place, ordinal)),
                )
                for place, ordinal in self.scores
                if (place, ordinal) in by_vector or (place, ordinal) in by_lexical
            ),
            vector_available=self.vector_available,
        )

    def _ranks(self, signal: int, depth: int) -> dict[tuple[str, int], tuple[float, int]]:
        having = [(key, scores[signal]) for key, scores in self.scores.items()]
        ordered = sorted(
            ((key, score) for key, score in having if score is not None),
            key=lambda entry: (-entry[1], Place.parse(entry[0][0]), entry[0][1]),
        )
        return {key: (score, position) for position, (key, score) in enumerate(ordered[:depth], start=1)}


@st.composite
def indexes(draw: st.DrawFn) -> Index:
    keys = draw(
        st.lists(st.tuples(st.sampled_from(PLACES), st.integers(0, 5)), min_size=1, max_size=14, unique=True)
    )
    available = draw(st.booleans())
    cosines = st.one_of(st.none(), COSINES) if available else st.none()
    return Index(
        {key: (draw(cosines), draw(st.one_of(st.none(), LEXICAL_SCORES))) for key in keys}, available
    )


CANDIDATES = indexes().map(lambda index: index.fetch(20))


def places_and_scores(ranking: Ranking) -> list[tuple[object, ...]]:
    return [
        (entry.candidate.tie_key, entry.score, entry.whole_rank, entry.rank, entry.fate)
        for entry in ranking.whole_set
    ]


@given(indexes(), SETTINGS, st.integers(0, 12))
def test_fetching_deeper_and_replaying_equals_fetching_as_deep_as_the_settings_say(
    index: Index, settings: RankingSettings, more: int
) -> None:
    live = index.fetch(settings.candidates_per_signal)
    deep = index.fetch(settings.candidates_per_signal + more)
    assert rank(deep, settings) == rank(live, settings)


@given(CANDIDATES, SETTINGS, st.randoms(use_true_random=False))
def test_the_order_in_which_candidates_come_changes_nothing(
    candidates: CandidateSet, settings: RankingSettings, random: Random
) -> None:
    shuffled = list(candidates.candidates)
    random.shuffle(shuffled)
    other = dataclasses.replace(candidates, candidates=tuple(shuffled))
    assert rank(other, settings) == rank(candidates, settings)


@given(CANDIDATES, SETTINGS, st.randoms(use_true_random=False))
def test_every_fusion_gives_a_candidate_the_same_score_wherever_it_stands(
    candidates: CandidateSet, settings: RankingSettings, random: Random
) -> None:
    original = candidates.candidates
    shuffled = list(original)
    random.shuffle(shuffled)
    for fusion in Fusion:
        chosen = dataclasses.replace(settings, fusion=fusion)
        before = dict(zip((c.tie_key for c in original), fuse(original, chosen), strict=True))
        after = dict(zip((c.tie_key for c in shuffled), fuse(shuffled, chosen), strict=True))
        assert after == before


@given(CANDIDATES, SETTINGS, st.randoms(use_true_random=False))
def test_new_chunk_ids_change_nothing(
    candidates: CandidateSet, settings: RankingSettings, random: Random
) -> None:
    renamed = tuple(
        dataclasses.replace(candidate, chunk_id=f"{random.random()}") for candidate in candidates.candidates
    )
    other = dataclasses.replace(candidates, candidates=renamed)
    assert places_and_scores(rank(other, settings)) == places_and_scores(rank(candidates, settings))


@given(CANDIDATES, SETTINGS)
def test_every_candidate_within_the_depth_has_exactly_one_fate(
    candidates: CandidateSet, settings: RankingSettings
) -> None:
    within = {
        candidate.tie_key
        for candidate in candidates.candidates
        if any(
            position is not None and position <= settings.candidates_per_signal and score != 0
            for score, position in (
                (candidate.vector_score, candidate.vector_rank),
                (candidate.lexical_score, candidate.lexical_rank),
            )
        )
    }
    entries = rank(candidates, settings).whole_set
    assert Counter(entry.candidate.tie_key for entry in entries) == Counter(within)
    assert {entry.fate for entry in entries} <= {Fate.HIT, Fate.THRESHOLD, Fate.FILE_CAP, Fate.LIMIT}


@given(CANDIDATES, SETTINGS)
def test_the_whole_set_is_ordered_by_score_then_files_before_sessions_then_path_then_ordinal(
    candidates: CandidateSet, settings: RankingSettings
) -> None:
    def key(entry: RankedCandidate) -> tuple[float, bool, str, int]:
        place = entry.candidate.origin.place
        return (-entry.score, place.kind == "session", place.key, entry.candidate.ordinal)

    entries = rank(candidates, settings).whole_set
    assert list(entries) == sorted(entries, key=key)
    assert [entry.whole_rank for entry in entries] == list(range(1, len(entries) + 1))


@given(CANDIDATES, SETTINGS)
def test_hits_are_ranked_from_1_without_gaps_and_are_no_more_than_the_limit(
    candidates: CandidateSet, settings: RankingSettings
) -> None:
    ranking = rank(candidates, settings)
    assert [hit.rank for hit in ranking.hits] == list(range(1, len(ranking.hits) + 1))
    assert len(ranking.hits) <= settings.limit
    assert all((entry.rank is None) == (entry.fate is not Fate.HIT) for entry in ranking.whole_set)


@given(CANDIDATES, SETTINGS)
def test_the_threshold_keeps_exactly_what_scores_at_least_as_much(
    candidates: CandidateSet, settings: RankingSettings
) -> None:
    ranking = rank(candidates, settings)
    cut = {entry.candidate.tie_key for entry in ranking.whole_set if entry.fate is Fate.THRESHOLD}
    threshold = ranking.threshold
    assert cut == {
        entry.candidate.tie_key
        for entry in ranking.whole_set
        if threshold is not None and entry.score < threshold
    }


@given(CANDIDATES, SETTINGS)
def test_the_threshold_for_degraded_searches_stands_in_only_where_there_is_no_vector_signal(
    candidates: CandidateSet, settings: RankingSettings
) -> None:
    expected = settings.threshold if candidates.vector_available else settings.threshold_when_degraded
    assert rank(candidates, settings).threshold == expected


@given(CANDIDATES, SETTINGS, st.floats(-2, 2), st.floats(0, 2))
def test_raising_the_threshold_only_removes_hits(
    candidates: CandidateSet, settings: RankingSettings, low: float, by: float
) -> None:
    def hits(threshold: float) -> set[object]:
        changed = dataclasses.replace(settings, threshold=threshold, threshold_when_degraded=threshold)
        return {hit.candidate.tie_key for hit in rank(candidates, changed).hits}

    assert hits(low + by) <= hits(low)


@given(CANDIDATES, SETTINGS)
def test_the_cap_never_removes_a_file_and_folds_only_behind_its_best_chunks(
    candidates: CandidateSet, settings: RankingSettings
) -> None:
    entries = rank(candidates, settings).whole_set
    for folded in (entry for entry in entries if entry.fate is Fate.FILE_CAP):
        place = folded.candidate.origin.place
        better = [
            entry
            for entry in entries
            if entry.candidate.origin.place == place
            and entry.whole_rank < folded.whole_rank
            and entry.fate in (Fate.HIT, Fate.LIMIT)
        ]
        assert place.kind == "file"
        assert len(better) == settings.max_per_file


@given(CANDIDATES, SETTINGS)
def test_no_file_has_more_hits_than_the_cap(candidates: CandidateSet, settings: RankingSettings) -> None:
    hits = Counter(
        hit.candidate.origin.place
        for hit in rank(candidates, settings).hits
        if hit.candidate.origin.place.kind == "file"
    )
    assert settings.max_per_file is None or all(count <= settings.max_per_file for count in hits.values())


@given(CANDIDATES, SETTINGS, st.integers(1, 6))
def test_a_higher_limit_only_adds_hits_behind_those_there_were(
    candidates: CandidateSet, settings: RankingSettings, more: int
) -> None:
    fewer = rank(candidates, settings).hits
    wider = rank(candidates, dataclasses.replace(settings, limit=settings.limit + more)).hits
    assert places_of(wider)[: len(fewer)] == places_of(fewer)


@given(CANDIDATES, SETTINGS)
def test_the_limit_cuts_only_when_as_many_hits_stand_before_it(
    candidates: CandidateSet, settings: RankingSettings
) -> None:
    entries = rank(candidates, settings).whole_set
    last_hit = max((entry.whole_rank for entry in entries if entry.fate is Fate.HIT), default=0)
    cut = [entry for entry in entries if entry.fate is Fate.LIMIT]
    assert not cut or sum(entry.fate is Fate.HIT for entry in entries) == settings.limit
    assert all(entry.whole_rank > last_hit for entry in cut)


@given(CANDIDATES, SETTINGS)
def test_the_weighted_sum_is_the_formula_to_the_last_bit_and_an_absent_signal_adds_nothing(
    candidates: CandidateSet, settings: RankingSettings
) -> None:
    settings = dataclasses.replace(settings, fusion=Fusion.WEIGHTED_SUM)
    for entry in rank(candidates, settings).whole_set:
        candidate = entry.candidate
        vector = 0.0 if candidate.vector_score is None else candidate.vector_score
        lexical = 0.0 if candidate.lexical_score is None else candidate.lexical_score
        assert entry.score == settings.weight_vector * vector + settings.weight_lexical * lexical


@given(CANDIDATES, SETTINGS)
def test_a_signal_that_did_not_find_a_chunk_stays_absent_in_the_result_and_one_that_gave_it_0_is(
    candidates: CandidateSet, settings: RankingSettings
) -> None:
    deep = dataclasses.replace(settings, candidates_per_signal=20)
    given_candidates: dict[object, Candidate] = {c.tie_key: c for c in candidates.candidates}
    for entry in rank(candidates, deep).whole_set:
        candidate, told = given_candidates[entry.candidate.tie_key], entry.candidate
        assert (told.vector_score, told.lexical_score) == (
            candidate.vector_score or None,
            candidate.lexical_score or None,
        )
        assert told.vector_rank == (candidate.vector_rank if candidate.vector_score else None)
        assert told.lexical_rank == (candidate.lexical_rank if candidate.lexical_score else None)


@given(CANDIDATES, SETTINGS)
def test_no_hit_is_without_evidence_whatever_the_threshold(
    candidates: CandidateSet, settings: RankingSettings
) -> None:
    without = dataclasses.replace(settings, threshold=None, threshold_when_degraded=None)
    for ranking in (rank(candidates, settings), rank(candidates, without)):
        assert all(hit.candidate.vector_score or hit.candidate.lexical_score for hit in ranking.hits)


def places_of(entries: tuple[RankedCandidate, ...]) -> list[object]:
    return [entry.candidate.tie_key for entry in entries]
