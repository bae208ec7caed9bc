"""The one ranking function: live search and golden run call `rank`, calibration its twin `replay`, proved equal."""

import dataclasses
from collections.abc import Iterable

from rag_core.model import (
    Candidate,
    CandidateSet,
    Fate,
    RankedCandidate,
    Ranking,
    RankingSettings,
)
from rag_core.ranking.fusion import fuse
from rag_core.ranking.selection import ScoredCandidate, apply_threshold, cap_per_file, cut_at_limit


def rank(found: CandidateSet, settings: RankingSettings) -> Ranking:
    """Fuse, order, apply threshold, per-file cap and limit; every candidate keeps its fate.

    Candidates that were fetched deeper than `settings.candidates_per_signal` are cut first: a signal's score
    and rank beyond that depth become None, as does a score of 0, which is no evidence; a candidate that neither
    signal still holds leaves the set.
    The order is by fused score, best first; equal scores are ordered by place and ordinal, so the same index
    and question give the same hits, whatever order the candidates came in.

    Args:
        found: Both signals' candidates of one question. An empty set gives an empty ranking.
        settings: The numbers. `threshold_when_degraded` applies where `found.vector_available` is false.

    Returns:
        The whole set in order with scores, ranks and fates, and the threshold in force.
    """
    candidates = cut_to_depth(found.candidates, settings.candidates_per_signal)
    scores = fuse(candidates, settings)
    ordered = sorted(
        (ScoredCandidate(candidate, score) for candidate, score in zip(candidates, scores, strict=True)),
        key=lambda entry: (-entry.score, entry.candidate.tie_key),
    )
    threshold = settings.threshold if found.vector_available else settings.threshold_when_degraded
    passed = apply_threshold(ordered, threshold)
    capped = cap_per_file(passed.kept, settings.max_per_file)
    shown = cut_at_limit(capped.kept, settings.limit)

    fates = {
        entry.candidate.tie_key: fate
        for fate, entries in (
            (Fate.THRESHOLD, passed.dropped),
            (Fate.FILE_CAP, capped.dropped),
            (Fate.LIMIT, shown.dropped),
            (Fate.HIT, shown.kept),
        )
        for entry in entries
    }
    hit_ranks = {entry.candidate.tie_key: rank for rank, entry in enumerate(shown.kept, start=1)}
    return Ranking(
        threshold=threshold,
        vector_ran=found.vector_ran,
        lexical_ran=found.lexical_ran,
        whole_set=tuple(
            RankedCandidate(
                candidate=entry.candidate,
                score=entry.score,
                whole_rank=whole_rank,
                rank=hit_ranks.get(entry.candidate.tie_key),
                fate=fates[entry.candidate.tie_key],
            )
            for whole_rank, entry in enumerate(ordered, start=1)
        ),
    )


def cut_to_depth(candidates: Iterable[Candidate], depth: int) -> tuple[Candidate, ...]:
    """The candidates as they would be had each signal returned only its first `depth`, and nothing that scores 0."""
    cut: list[Candidate] = []
    for candidate in candidates:
        in_vector = found_within(candidate.vector_score, candidate.vector_rank, depth)
        in_lexical = found_within(candidate.lexical_score, candidate.lexical_rank, depth)
        if in_vector or in_lexical:
            cut.append(
                dataclasses.replace(
                    candidate,
                    vector_score=candidate.vector_score if in_vector else None,
                    vector_rank=candidate.vector_rank if in_vector else None,
                    lexical_score=candidate.lexical_score if in_lexical else None,
                    lexical_rank=candidate.lexical_rank if in_lexical else None,
                )
            )
    return tuple(cut)


def found_within(score: float | None, rank: int | None, depth: float) -> bool:
    """Whether a signal found the candidate among its first `depth`. A cosine below 0 is a find, of a bad candidate."""
    return rank is not None and rank <= depth and score != 0
