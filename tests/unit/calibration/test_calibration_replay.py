"""A table of candidates, cut and replayed: the same outcome as the one ranking function."""

import dataclasses

import numpy as np
import pytest

from golden_material import VECTOR_ONLY, by_vector, chunk, found
from rag_core.calibration.replay import FATES, FateCode, carry_over, measure_replay, prepare_fusion, replay
from rag_core.calibration.table import NOWHERE, build_table, judge_places, judge_table
from rag_core.golden.cases import GoldenCase
from rag_core.metrics.measures import PASSED, REJECTED, parse_measure
from rag_core.model import Fate, Fusion, Place, RankingSettings
from rag_core.ranking.fusion import SCALES
from rag_core.ranking.ranking import rank

A, B, Z = (Place("file", f"docs/{letter}.md") for letter in "abz")
SESSION = Place("session", "s1")


def test_columns_are_in_the_order_of_ties_whatever_order_the_candidates_came_in() -> None:
    table = build_table(
        [
            found(
                chunk("session:s1", vector=(0.5, 1)),
                chunk("docs/b.md", ordinal=1, vector=(0.4, 2)),
                chunk("docs/b.md", ordinal=0, lexical=(0.1, 1)),
                chunk("docs/a.md", vector=(0.3, 3)),
            ),
            found(),
        ]
    )
    assert [table.candidate(0, column).tie_key for column in range(4)] == [
        (A, 0),
        (B, 0),
        (B, 1),
        (SESSION, 0),
    ]
    assert table.place.tolist() == [[0, 1, 1, 2], [NOWHERE] * 4]
    assert table.group_start[0].tolist() == [0, 1, 1, 3]
    assert table.capped[0].tolist() == [True, True, True, False]
    assert table.present[1].tolist() == [False] * 4
    with pytest.raises(IndexError):
        table.candidate(1, 0)


def test_a_cut_drops_scores_beyond_the_depth_and_candidates_that_no_signal_still_holds() -> None:
    table = build_table(
        [
            found(
                chunk("docs/a.md", vector=(0.9, 1), lexical=(0.01, 3)),
                chunk("docs/b.md", vector=(0.1, 3), lexical=(0.02, 2)),
                chunk("docs/z.md", vector=(0.2, 2), lexical=(0.03, 1)),
            )
        ]
    )
    cut = table.cut(1)
    assert [cut.candidate(0, column).origin.place for column in range(cut.columns)] == [A, Z]
    assert cut.vector.tolist() == [[0.9, 0.0]]
    assert cut.lexical.tolist() == [[0.0, 0.03]]
    assert table.cut(3) is table


def test_judgements_mark_every_chunk_of_an_expected_place_and_count_places_that_were_not_found() -> None:
    table = build_table([by_vector(("docs/a.md", 0.9), ("docs/b.md", 0.8), ("docs/a.md", 0.7))])
    case = GoldenCase(id="one", question="?", expected=(A, Z, A))
    judged = judge_table(table, [case])
    assert judged.relevant.tolist() == [[True, True, False]]
    assert judged.expected.tolist() == [2]
    with pytest.raises(ValueError, match="1 questions, but 2 judgements"):
        judge_table(table, [case, case])


def test_judgements_follow_a_cut() -> None:
    table = build_table([found(chunk("docs/a.md", vector=(0.9, 2)), chunk("docs/b.md", vector=(0.95, 1)))])
    judged = judge_places(table, [[A, B]])
    assert carry_over(judged, table, table.cut(1)).relevant.tolist() == [[True]]


def test_a_replay_gives_every_candidate_the_fate_that_ranking_gives_it() -> None:
    # limit 2, cap 2, threshold 0.2: two of a, the third folded, b beyond the limit, z below the threshold
    candidates = by_vector(
        ("docs/a.md", 0.9), ("docs/a.md", 0.8), ("docs/a.md", 0.7), ("docs/b.md", 0.6), ("docs/z.md", 0.1)
    )
    replayed = replay(build_table([candidates]), VECTOR_ONLY)
    fates = [FATES[FateCode(code)] for code in replayed.fates[0].tolist()]
    assert fates == [Fate.HIT, Fate.HIT, Fate.FILE_CAP, Fate.LIMIT, Fate.THRESHOLD]
    assert fates == [entry.fate for entry in rank(candidates, VECTOR_ONLY).whole_set]
    assert replayed.ranks[0].tolist() == [1, 2, 0, 0, 0]
    judged = judge_places(replayed.table, [[B]])
    assert judged.relevant[0, replayed.order[0]].tolist() == [False, False, False, True, False]


def test_the_threshold_for_outages_applies_where_the_vector_signal_was_not_available() -> None:
    settings = RankingSettings(
        weight_vector=0.5, weight_lexical=0.5, threshold=0.2, threshold_when_degraded=0.04
    )
    lexical_only = (chunk("docs/a.md", lexical=(0.1, 1)), chunk("docs/b.md", lexical=(0.06, 2)))
    table = build_table([found(*lexical_only, vector_available=False), found(*lexical_only)])
    judged = judge_places(table, [[A], [A]])
    assert measure_replay(table, judged, settings, PASSED).tolist() == [1, 0]


def test_measures_of_a_replay_are_of_the_hits_as_shown() -> None:
    # cap 1 folds the second chunk of a, so b is the second hit
    candidates = by_vector(("docs/a.md", 0.9), ("docs/a.md", 0.8), ("docs/b.md", 0.7))
    table = build_table([candidates, found()])
    judged = judge_places(table, [[B], []])
    settings = RankingSettings(weight_vector=1.0, weight_lexical=0.0, threshold=None, max_per_file=1)
    assert measure_replay(table, judged, settings, parse_measure("mrr"))[0] == 0.5
    assert measure_replay(table, judged, settings, PASSED).tolist() == [1, 1]
    assert measure_replay(table, judged, settings, REJECTED)[1] == 1


def test_a_table_prepared_for_a_fusion_is_replayed_the_same_under_any_weight() -> None:
    table = build_table([by_vector(("docs/a.md", 0.9), ("docs/b.md", 0.4)), found()])
    for fusion in Fusion:
        settings = RankingSettings(weight_vector=0.3, weight_lexical=0.7, threshold=None, fusion=fusion)
        prepared = prepare_fusion(table, settings)
        assert (settings.scale in prepared.scaled) == (SCALES[fusion] is not None)
        assert prepare_fusion(prepared, settings) is prepared
        assert replay(prepared, settings).scores.tolist() == replay(table, settings).scores.tolist()
        assert not prepared.cut(1).scaled


def test_a_table_prepared_for_one_k_is_not_taken_for_that_of_another() -> None:
    table = build_table([by_vector(("docs/a.md", 0.9), ("docs/b.md", 0.4))])
    settings = RankingSettings(
        weight_vector=0.5, weight_lexical=0.5, threshold=None, fusion=Fusion.WEIGHTED_RRF, rrf_k=1
    )
    prepared = prepare_fusion(table, settings)
    assert replay(prepared, settings).scores.tolist() == [[0.25, pytest.approx(1 / 6)]]
    deeper = dataclasses.replace(settings, rrf_k=2)
    assert replay(prepared, deeper).scores.tolist() == [[pytest.approx(1 / 6), 0.125]]


def test_no_question_at_all_is_an_empty_replay() -> None:
    table = build_table([])
    settings = RankingSettings(weight_vector=0.5, weight_lexical=0.5, threshold=None)
    assert measure_replay(table, judge_places(table, []), settings, PASSED).shape == (0,)
    assert np.shape(replay(table, settings).order) == (0, 0)
