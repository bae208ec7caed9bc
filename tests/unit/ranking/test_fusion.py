"""Each fusion by hand, on scores that can be checked with a pencil."""

import dataclasses
from fractions import Fraction

import pytest

from golden_material import chunk
from rag_core.model import Candidate, Fusion, RankingSettings
from rag_core.ranking.fusion import (
    fuse,
    min_max,
    reciprocal_rank,
    weighted_reciprocal_rank,
    weighted_sum,
    z_score,
)

SETTINGS = RankingSettings(weight_vector=0.75, weight_lexical=0.25, threshold=None)
BOTH = chunk("both.md", vector=(0.5, 1), lexical=(0.25, 3))
VECTOR_ONLY = chunk("vector.md", vector=(0.25, 2))
LEXICAL_ONLY = chunk("lexical.md", lexical=(0.75, 1))
CANDIDATES = (BOTH, VECTOR_ONLY, LEXICAL_ONLY)


@pytest.mark.parametrize("fusion", list(Fusion))
def test_no_candidates_have_no_scores(fusion: Fusion) -> None:
    settings = RankingSettings(weight_vector=0.5, weight_lexical=0.5, threshold=None, fusion=fusion)
    assert fuse((), settings) == []


def test_the_weighted_sum_adds_what_each_signal_found() -> None:
    # 0.75 x 0.5 + 0.25 x 0.25; 0.75 x 0.25; 0.25 x 0.75
    assert weighted_sum(CANDIDATES, SETTINGS) == [0.4375, 0.1875, 0.1875]


def test_a_negative_cosine_pulls_a_score_down_and_an_absent_one_does_not() -> None:
    opposite = chunk("a.md", vector=(-0.5, 1), lexical=(0.5, 1))
    absent = chunk("b.md", lexical=(0.5, 2))
    assert weighted_sum((opposite, absent), SETTINGS) == [-0.25, 0.125]


@pytest.mark.parametrize("k", [1, 2, 10, 60])
def test_reciprocal_rank_fusion_is_one_over_k_plus_rank_over_both_lists_and_knows_no_weights(k: int) -> None:
    expected = [Fraction(1, k + 1) + Fraction(1, k + 3), Fraction(1, k + 2), Fraction(1, k + 1)]
    settings = dataclasses.replace(SETTINGS, fusion=Fusion.RRF, rrf_k=k)
    assert reciprocal_rank(CANDIDATES, settings) == pytest.approx([float(score) for score in expected])


@pytest.mark.parametrize("k", [1, 2, 10, 60])
def test_weighted_reciprocal_rank_fusion_weighs_each_lists_part(k: int) -> None:
    settings = dataclasses.replace(SETTINGS, fusion=Fusion.WEIGHTED_RRF, rrf_k=k)
    three, one = Fraction(3, 4), Fraction(1, 4)
    expected = [three / (k + 1) + one / (k + 3), three / (k + 2), one / (k + 1)]
    assert fuse(CANDIDATES, settings) == pytest.approx([float(score) for score in expected], rel=1e-15)


def test_weighted_reciprocal_rank_fusion_by_hand() -> None:
    first = dataclasses.replace(SETTINGS, fusion=Fusion.WEIGHTED_RRF, rrf_k=1)
    # 0.75 / 2 + 0.25 / 4; 0.75 / 3; 0.25 / 2
    assert weighted_reciprocal_rank(CANDIDATES, first) == [0.4375, 0.25, 0.125]
    # at equal weights half of what the plain one gives, whatever the scores
    halves = dataclasses.replace(first, weight_vector=0.5, weight_lexical=0.5)
    plain = [score / 2 for score in reciprocal_rank(CANDIDATES, first)]
    assert weighted_reciprocal_rank(CANDIDATES, halves) == plain
    louder = [chunk("both.md", vector=(0.9, 1), lexical=(0.01, 3)), *CANDIDATES[1:]]
    assert weighted_reciprocal_rank(louder, first) == [0.4375, 0.25, 0.125]


def test_min_max_stretches_each_list_from_0_to_1() -> None:
    third = chunk("c.md", vector=(0.375, 3))
    # vector list 0.5, 0.25, 0.375 becomes 1, 0, 0.5; lexical list 0.25, 0.75 becomes 0, 1
    assert min_max((*CANDIDATES, third), SETTINGS) == [0.75, 0.0, 0.25, 0.375]


def test_min_max_does_not_erase_a_lone_find() -> None:
    assert min_max((VECTOR_ONLY,), SETTINGS) == [0.75]
    assert min_max((VECTOR_ONLY, LEXICAL_ONLY), SETTINGS) == [0.75, 0.25]


def test_z_score_measures_in_deviations_and_gives_what_was_not_found_the_lists_lowest() -> None:
    # vector list 0.5, 0.25: mean 0.375, deviation 0.125, so 1, -1, absent -1; lexical list 0.25, 0.75: -1, 1
    expected = [0.75 * 1 + 0.25 * -1, 0.75 * -1 + 0.25 * -1, 0.75 * -1 + 0.25 * 1]
    assert z_score(CANDIDATES, SETTINGS) == pytest.approx(expected)


def test_z_score_of_a_list_without_spread_is_0_for_all() -> None:
    same = [chunk(f"{name}.md", vector=(0.5, position)) for position, name in enumerate("abc", start=1)]
    assert z_score(same, SETTINGS) == [0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("fusion", "function"),
    [
        (Fusion.WEIGHTED_SUM, weighted_sum),
        (Fusion.RRF, reciprocal_rank),
        (Fusion.WEIGHTED_RRF, weighted_reciprocal_rank),
        (Fusion.MIN_MAX, min_max),
        (Fusion.Z_SCORE, z_score),
    ],
)
def test_the_setting_chooses_the_fusion(fusion: Fusion, function: object) -> None:
    settings = RankingSettings(weight_vector=0.75, weight_lexical=0.25, threshold=None, fusion=fusion)
    candidates: tuple[Candidate, ...] = CANDIDATES
    assert callable(function)
    assert fuse(candidates, settings) == function(candidates, settings)
