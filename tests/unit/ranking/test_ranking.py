"""From candidates to hits, worked out by hand: fuse, order, threshold, cap, cut."""

import dataclasses

from golden_material import by_vector, chunk, found
from rag_core.model import Fate, Place, Ranking, RankingSettings
from rag_core.ranking.ranking import cut_to_depth, rank
from rag_core.settings.presets import SEEDS

# halves are exact in binary, so that a score can sit on the threshold
HALVES = RankingSettings(weight_vector=0.5, weight_lexical=0.5, threshold=0.25)


def table(ranking: Ranking) -> list[tuple[str, int, int | None, str]]:
    """Citation, position in the whole set, rank among the hits, fate."""
    return [
        (str(entry.candidate.origin.place), entry.whole_rank, entry.rank, entry.fate)
        for entry in ranking.whole_set
    ]


def test_no_candidates_give_no_hits_and_name_the_threshold_all_the_same() -> None:
    ranking = rank(found(), SEEDS.ranking)
    assert ranking.whole_set == ()
    assert ranking.hits == ()
    assert ranking.threshold == 0.2


def test_the_seeds_numbers_keep_a_chunk_with_meaning_and_refuse_one_with_words_alone() -> None:
    ranking = rank(
        found(
            # 0.6 x 0.5 + 0.4 x 0.1 = 0.34
            chunk("docs/both.md", vector=(0.5, 1), lexical=(0.1, 2)),
            # 0.6 x 0.25 = 0.15
            chunk("docs/weak.md", vector=(0.25, 2)),
            # 0.4 x 0.3 = 0.12
            chunk("docs/words.md", lexical=(0.3, 1)),
        ),
        SEEDS.ranking,
    )
    assert [round(entry.score, 12) for entry in ranking.whole_set] == [0.34, 0.15, 0.12]
    assert table(ranking) == [
        ("docs/both.md", 1, 1, "hit"),
        ("docs/weak.md", 2, None, "threshold"),
        ("docs/words.md", 3, None, "threshold"),
    ]


def test_a_score_equal_to_the_threshold_is_kept() -> None:
    # 0.5 x 0.5 = 0.25
    assert [hit.score for hit in rank(by_vector(("a.md", 0.5)), HALVES).hits] == [0.25]
    assert rank(by_vector(("a.md", 0.4999)), HALVES).hits == ()


def test_the_cap_folds_what_stands_behind_a_files_best_two_and_lets_the_next_file_up() -> None:
    ranking = rank(
        by_vector(("a.md", 0.9), ("a.md", 0.8), ("a.md", 0.7), ("b.md", 0.6)),
        dataclasses.replace(HALVES, limit=3),
    )
    assert table(ranking) == [
        ("a.md", 1, 1, "hit"),
        ("a.md", 2, 2, "hit"),
        ("a.md", 3, None, "fileCap"),
        ("b.md", 4, 3, "hit"),
    ]


def test_the_threshold_comes_before_the_cap_and_the_cap_before_the_limit() -> None:
    ranking = rank(
        by_vector(("a.md", 0.9), ("a.md", 0.8), ("a.md", 0.7), ("b.md", 0.6), ("c.md", 0.55), ("a.md", 0.4)),
        dataclasses.replace(HALVES, limit=3),
    )
    # the last chunk of a.md would fall to the cap as well, but never came that far
    assert [fate for _, _, _, fate in table(ranking)] == [
        "hit",
        "hit",
        "fileCap",
        "hit",
        "limit",
        "threshold",
    ]


def test_chunks_of_a_session_pass_the_cap() -> None:
    ranking = rank(
        by_vector(("session:s", 0.9), ("session:s", 0.8), ("session:s", 0.7)),
        dataclasses.replace(HALVES, max_per_file=1),
    )
    assert [hit.rank for hit in ranking.hits] == [1, 2, 3]


def test_equal_scores_go_by_file_before_session_then_code_point_then_ordinal() -> None:
    candidates = found(
        chunk("session:a", vector=(0.5, 1)),
        chunk("docs/é.md", vector=(0.5, 2)),
        chunk("docs/z.md", vector=(0.5, 3)),
        chunk("docs/a.md", ordinal=10, vector=(0.5, 4)),
        chunk("docs/a.md", ordinal=9, vector=(0.5, 5)),
        chunk("docs/Z.md", vector=(0.5, 6)),
    )
    ranking = rank(candidates, dataclasses.replace(HALVES, limit=6))
    # 'Z' is U+005A, 'a' U+0061, 'z' U+007A, 'é' U+00E9
    assert [entry.candidate.tie_key for entry in ranking.whole_set] == [
        (Place("file", "docs/Z.md"), 0),
        (Place("file", "docs/a.md"), 9),
        (Place("file", "docs/a.md"), 10),
        (Place("file", "docs/z.md"), 0),
        (Place("file", "docs/é.md"), 0),
        (Place("session", "a"), 0),
    ]


def test_without_vectors_the_threshold_is_suspended_so_that_words_still_find() -> None:
    words = found(chunk("a.md", lexical=(0.3, 1)), vector_available=False)
    ranking = rank(words, SEEDS.ranking)
    assert ranking.threshold is None
    assert [hit.fate for hit in ranking.hits] == [Fate.HIT]


def test_a_threshold_for_degraded_searches_applies_without_vectors_only() -> None:
    settings = dataclasses.replace(SEEDS.ranking, threshold=0.0, threshold_when_degraded=0.125)
    # 0.4 x 0.3 = 0.12 < 0.125
    degraded = found(chunk("a.md", lexical=(0.3, 1)), vector_available=False)
    assert rank(degraded, settings).hits == ()
    whole = found(chunk("a.md", lexical=(0.3, 1)), vector_available=True)
    assert len(rank(whole, settings).hits) == 1


def test_some_missing_vectors_do_not_suspend_the_threshold() -> None:
    candidates = dataclasses.replace(found(chunk("a.md", lexical=(0.3, 1))), degraded=True)
    assert rank(candidates, SEEDS.ranking).hits == ()


def test_candidates_fetched_deeper_than_the_settings_rank_are_cut_away() -> None:
    deep = found(
        chunk("a.md", vector=(0.9, 1), lexical=(0.5, 3)),
        chunk("b.md", vector=(0.8, 2)),
        chunk("c.md", vector=(0.1, 3), lexical=(0.5, 2)),
        chunk("d.md", vector=(0.0, 4)),
    )
    cut = {str(c.origin.place): c for c in cut_to_depth(deep.candidates, 2)}
    assert sorted(cut) == ["a.md", "b.md", "c.md"]
    assert (cut["a.md"].vector_rank, cut["a.md"].lexical_rank, cut["a.md"].lexical_score) == (1, None, None)
    assert (cut["c.md"].vector_rank, cut["c.md"].vector_score, cut["c.md"].lexical_rank) == (None, None, 2)
