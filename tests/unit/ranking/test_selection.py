"""The three steps between the fused order and the hits: each says what it kept and what it dropped."""

from golden_material import chunk
from rag_core.ranking.selection import ScoredCandidate, Sifted, apply_threshold, cap_per_file, cut_at_limit


def scored(*entries: tuple[str, float]) -> list[ScoredCandidate]:
    return [
        ScoredCandidate(chunk(place, ordinal=ordinal, vector=(score, ordinal + 1)), score)
        for ordinal, (place, score) in enumerate(entries)
    ]


def ordinals(split: Sifted) -> tuple[list[int], list[int]]:
    return (
        [entry.candidate.ordinal for entry in split.kept],
        [entry.candidate.ordinal for entry in split.dropped],
    )


def test_the_threshold_keeps_what_reaches_it() -> None:
    entries = scored(("a", 0.3), ("b", 0.2), ("c", 0.1))
    assert ordinals(apply_threshold(entries, 0.2)) == ([0, 1], [2])


def test_no_threshold_keeps_scores_below_zero_too() -> None:
    assert ordinals(apply_threshold(scored(("a", -0.5)), None)) == ([0], [])


def test_a_threshold_of_zero_is_a_threshold() -> None:
    assert ordinals(apply_threshold(scored(("a", 0.0), ("b", -0.1)), 0.0)) == ([0], [1])


def test_the_cap_counts_each_file_by_itself_and_keeps_the_first() -> None:
    entries = scored(("a", 0.9), ("b", 0.8), ("a", 0.7), ("a", 0.6), ("b", 0.5))
    assert ordinals(cap_per_file(entries, 2)) == ([0, 1, 2, 4], [3])
    assert ordinals(cap_per_file(entries, 1)) == ([0, 1], [2, 3, 4])


def test_a_session_named_like_a_file_is_not_capped_with_it() -> None:
    entries = scored(("a.md", 0.9), ("session:a.md", 0.8), ("session:a.md", 0.7))
    assert ordinals(cap_per_file(entries, 1)) == ([0, 1, 2], [])
    spoken_first = scored(("session:a.md", 0.9), ("a.md", 0.8), ("a.md", 0.7))
    assert ordinals(cap_per_file(spoken_first, 1)) == ([0, 1], [2])


def test_no_cap_folds_nothing() -> None:
    assert ordinals(cap_per_file(scored(("a", 0.9), ("a", 0.8), ("a", 0.7)), None)) == ([0, 1, 2], [])


def test_the_limit_keeps_the_first() -> None:
    entries = scored(("a", 0.9), ("b", 0.8), ("c", 0.7))
    assert ordinals(cut_at_limit(entries, 2)) == ([0, 1], [2])
    assert ordinals(cut_at_limit(entries, 5)) == ([0, 1, 2], [])
