"""Exact functions by hand: crossings that floats hold exactly, points where ties decide, ceilings, thresholds."""

import dataclasses
from fractions import Fraction

import numpy as np
import pytest

from golden_material import chunk, found
from rag_core.calibration.exact.ceilings import ceiling_map
from rag_core.calibration.exact.exact import Exact, build_exact
from rag_core.calibration.exact.lines import crossings, level_crossings
from rag_core.calibration.exact.steps import Stretch, WeightSteps, tidy
from rag_core.calibration.exact.thresholds import threshold_tolerances
from rag_core.calibration.replay import measure_replay
from rag_core.calibration.table import build_table, judge_places
from rag_core.metrics.measures import PASSED, REJECTED, parse_measure
from rag_core.model import CandidateSet, Fusion, Place, RankingSettings

A, B, Z = (Place("file", f"docs/{letter}.md") for letter in "abz")
FREE = RankingSettings(weight_vector=0.5, weight_lexical=0.5, threshold=None, limit=1)


def rising_and_falling(rising: str, falling: str) -> CandidateSet:
    """Lines 0.75 w and 0.5 - 0.25 w, which meet at w = 0.5 and 0.375; there and around, floats hold both."""
    return found(
        chunk(rising, vector=(0.75, 1)),
        chunk(falling, vector=(0.25, 2), lexical=(0.5, 1)),
    )


def exact_of(*questions: tuple[CandidateSet, tuple[Place, ...]], settings: RankingSettings = FREE) -> Exact:
    table = build_table([candidates for candidates, _ in questions])
    judged = judge_places(table, [expected for _, expected in questions])
    return build_exact(table, judged, settings, places=True)


def pieces(exact: Exact, name: str) -> list[tuple[float, float, float]]:
    steps = exact.weights(parse_measure(name))
    assert steps is not None
    return [(piece.low, piece.high, piece.value) for piece in steps.pieces()]


def test_a_right_file_that_rises_past_its_rival_passes_from_the_crossing_on() -> None:
    exact = exact_of((rising_and_falling("docs/a.md", "docs/b.md"), (A,)))
    # at the crossing both score 0.375, and a comes before b
    assert pieces(exact, "passed") == [(0, 0, 0), (0, 0.5, 0), (0.5, 0.5, 1), (0.5, 1, 1), (1, 1, 1)]


def test_at_the_crossing_itself_a_tie_decides_by_place() -> None:
    exact = exact_of((rising_and_falling("docs/z.md", "docs/b.md"), (Z,)))
    assert pieces(exact, "passed") == [(0, 0, 0), (0, 0.5, 0), (0.5, 0.5, 0), (0.5, 1, 1), (1, 1, 1)]


def test_two_cases_that_trade_places_leave_a_single_point_where_both_or_none_pass() -> None:
    both = exact_of(
        (rising_and_falling("docs/a.md", "docs/b.md"), (A,)),
        (rising_and_falling("docs/b.md", "docs/a.md"), (A,)),
    )
    assert pieces(both, "passed") == [
        (0, 0, 0.5),
        (0, 0.5, 0.5),
        (0.5, 0.5, 1),
        (0.5, 1, 0.5),
        (1, 1, 0.5),
    ]


def test_what_changes_nothing_is_no_end() -> None:
    wide = exact_of(
        (rising_and_falling("docs/a.md", "docs/b.md"), (A,)), settings=dataclasses.replace(FREE, limit=2)
    )
    assert pieces(wide, "passed") == [(0, 0, 1), (0, 1, 1), (1, 1, 1)]
    assert [low for low, _, _ in pieces(wide, "mrr")] == [0, 0, 0.5, 0.5, 1]


def test_a_lexical_tie_makes_weight_zero_another_value_than_every_weight_above_it() -> None:
    # both score 0.25 at w = 0, where b comes first; above, z has the higher cosine
    tied = found(
        chunk("docs/b.md", vector=(0.25, 2), lexical=(0.25, 1)),
        chunk("docs/z.md", vector=(0.5, 1), lexical=(0.25, 2)),
    )
    assert pieces(exact_of((tied, (Z,))), "passed") == [(0, 0, 0), (0, 1, 1), (1, 1, 1)]


def test_a_threshold_is_one_more_crossing() -> None:
    # 0.75 w reaches 0.375 at w = 0.5; the rival is elsewhere, so only the threshold counts
    alone = found(chunk("docs/a.md", vector=(0.75, 1)))
    exact = exact_of((alone, (A,)), settings=dataclasses.replace(FREE, threshold=0.375))
    assert pieces(exact, "passed") == [(0, 0, 0), (0, 0.5, 0), (0.5, 0.5, 1), (0.5, 1, 1), (1, 1, 1)]


def test_a_no_answer_case_passes_where_no_line_reaches_the_threshold() -> None:
    # the higher of 0.75 w and 0.5 - 0.25 w is below 0.4375 between w = 0.25 and 7/12
    exact = exact_of(
        (rising_and_falling("docs/a.md", "docs/b.md"), ()),
        settings=dataclasses.replace(FREE, threshold=0.4375),
    )
    steps = exact.weights(REJECTED)
    assert steps is not None
    assert steps.ends.tolist() == [0, 0.25, float(Fraction(7, 12)), 1]
    assert steps.inside.tolist() == [0, 1, 0]
    assert steps.at[1] == 0
    assert exact.weights(parse_measure("hit@1")) is None


def test_a_no_answer_case_without_candidates_always_counts() -> None:
    exact = exact_of((found(), ()))
    assert pieces(exact, "rejected") == [(0, 0, 1), (0, 1, 1), (1, 1, 1)]
    assert ceiling_map(exact, REJECTED).to_json(("silent",)) == [
        {
            "id": "silent",
            "below": True,
            "pieces": [{"from": 0.0, "to": 1.0, "threshold": [None, None], "value": 1.0}],
        }
    ]


def test_a_file_has_no_more_places_above_the_right_one_than_the_cap() -> None:
    crowd = [chunk("docs/b.md", ordinal=ordinal, vector=(0.75, ordinal + 1)) for ordinal in range(3)]
    right = chunk("docs/z.md", vector=(0.5, 4))
    question = (found(*crowd, right), (Z,))
    capped = exact_of(question, settings=dataclasses.replace(FREE, limit=3, max_per_file=2))
    free = exact_of(question, settings=dataclasses.replace(FREE, limit=3, max_per_file=None))
    assert pieces(capped, "mrr")[1] == (0, 1, pytest.approx(1 / 3))
    assert pieces(free, "mrr")[1] == (0, 1, 0)


def test_crossings_a_ten_millionth_apart_are_all_found() -> None:
    # rival i crosses the right file's level line 0.5 at 0.5 + i * 1e-7 and is above from there on
    met = [0.5 + number * 1e-7 for number in range(20)]
    rivals = [
        chunk(
            f"docs/r{number:02}.md", vector=(0.5 + 0.25 * (1 - w), 1 + number), lexical=(0.5 - 0.25 * w, 21)
        )
        for number, w in enumerate(met)
    ]
    right = chunk("docs/a.md", vector=(0.5, 21), lexical=(0.5, 1))
    exact = exact_of(
        (found(right, *rivals), (A,)), settings=dataclasses.replace(FREE, limit=50, candidates_per_signal=30)
    )
    steps = exact.weights(parse_measure("mrr"))
    assert steps is not None
    assert steps.ends[1:-1] == pytest.approx(met, abs=1e-15)
    assert steps.inside == pytest.approx([1 / (rank + 1) for rank in range(21)])


def test_crossings_that_only_rounding_parts_are_one_end() -> None:
    # the same crossing from inputs that binary can't hold: 0.3 w against 0.1 - 0.1 w, twice over
    lines = (("docs/b.md", 0.0, 0.1), ("docs/c.md", 0.1, 0.075), ("docs/d.md", 0.2, 0.05))
    rivals = [chunk(p, vector=(v, 2 + n), lexical=(x, 1 + n)) for n, (p, v, x) in enumerate(lines)]
    exact = exact_of(
        (found(chunk("docs/a.md", vector=(0.4, 1)), *rivals), (A,)),
        settings=dataclasses.replace(FREE, limit=1),
    )
    steps = exact.weights(PASSED)
    assert steps is not None
    assert steps.ends.tolist() == pytest.approx([0, 0.2, 1])
    assert steps.inside.tolist() == [0, 1]


def test_a_crossing_is_the_float_nearest_to_where_the_lines_meet() -> None:
    vector, lexical, other_vector, other_lexical = 0.7123, 0.0101, 0.3345, 0.0607
    rise = Fraction(other_lexical) - Fraction(lexical)
    exactly = rise / (rise + Fraction(vector) - Fraction(other_vector))
    lines = [np.array([number]) for number in (vector, lexical, other_vector, other_lexical)]
    assert crossings(*lines)[0] == float(exactly)
    level = (Fraction(0.2) - Fraction(lexical)) / (Fraction(vector) - Fraction(lexical))
    assert level_crossings(lines[0], lines[1], np.array([0.2]))[0] == float(level)


def test_the_threshold_function_is_closed_above_and_starts_without_a_threshold() -> None:
    table = build_table(
        [found(chunk("docs/a.md", vector=(0.5, 1))), found(chunk("docs/b.md", vector=(0.25, 1)))]
    )
    judged = judge_places(table, [[A], []])
    settings = dataclasses.replace(FREE, weight_vector=1.0, weight_lexical=0.0)
    steps = threshold_tolerances(table, judged, settings, PASSED).steps()
    assert steps is not None
    # the answer scores 0.5 and is kept up to there; what is cited for the other scores 0.25 and is refused above
    assert steps.to_json() == [
        {"from": None, "to": 0.25, "value": 0.5},
        {"from": 0.25, "to": 0.5, "value": 1.0},
        {"from": 0.5, "to": None, "value": 0.5},
    ]
    assert steps.values(np.array([0.25, 0.5, np.nextafter(0.5, 1)])).tolist() == [0.5, 1, 0.5]


def test_ceilings_say_up_to_which_threshold_a_case_counts() -> None:
    exact = exact_of((rising_and_falling("docs/a.md", "docs/b.md"), (A,)), (found(), (B,)))
    found_map = ceiling_map(exact, PASSED)
    # a passes from w = 0.5 on, along its line 0.75 w; the second case never counts, and is listed
    assert found_map.to_json(("one", "two")) == [
        {
            "id": "one",
            "pieces": [
                {"from": 0.5, "to": 0.5, "threshold": [0.375, 0.375], "value": 1.0},
                {"from": 0.5, "to": 1.0, "threshold": [0.375, 0.75], "value": 1.0},
                {"from": 1.0, "to": 1.0, "threshold": [0.75, 0.75], "value": 1.0},
            ],
        },
        {"id": "two", "pieces": []},
    ]
    assert found_map.value_at(0.75, 0.5625) == 0.5
    assert found_map.value_at(0.75, 0.5626) == 0
    assert found_map.value_at(0.25, None) == 0


def test_the_ceiling_of_several_right_files_of_a_graded_measure_is_made_of_increments() -> None:
    two = found(chunk("docs/a.md", vector=(0.75, 1)), chunk("docs/b.md", vector=(0.5, 2)))
    exact = exact_of((two, (A, B)), settings=dataclasses.replace(FREE, limit=2))
    found_map = ceiling_map(exact, parse_measure("recall@2"))
    # at w = 1, a (0.75) and b (0.5) each add a half
    assert [found_map.value_at(1.0, threshold) for threshold in (0.5, 0.6, 0.8)] == [1, 0.5, 0]


def test_where_the_vector_signal_is_out_the_threshold_of_outages_decides_at_every_threshold() -> None:
    out = found(chunk("docs/a.md", lexical=(0.5, 1)), vector_available=False)
    settings = dataclasses.replace(FREE, threshold=0.9, threshold_when_degraded=0.25)
    exact = exact_of((out, (A,)), settings=settings)
    # 0.5 (1 - w) is at least 0.25 up to w = 0.5
    assert pieces(exact, "passed") == [(0, 0, 1), (0, 0.5, 1), (0.5, 0.5, 1), (0.5, 1, 0), (1, 1, 0)]
    found_map = ceiling_map(exact, PASSED)
    assert [found_map.value_at(0.25, threshold) for threshold in (None, 0.9)] == [1, 1]
    assert found_map.value_at(0.75, None) == 0


@pytest.mark.parametrize(
    ("k", "ranks"),
    [
        (1, (((2, 1), (1, 2)), ((2, 2), (1, 5)))),
        (2, (((1, 3), (3, 1)), ((1, 4), (2, 2)))),
        (10, (((1, 3), (3, 2)), ((1, 6), (4, 4)))),
        (60, (((1, 3), (7, 1)), ((4, 4), (7, 3)))),
    ],
)
def test_cases_whose_ranks_cross_at_one_weight_but_for_its_last_bits_are_told_as_ranking_gives_them_there(
    k: int, ranks: tuple[tuple[tuple[int, int], tuple[int, int]], ...]
) -> None:
    # of each case the ranks of the right file and of its rival
    settings = dataclasses.replace(FREE, fusion=Fusion.WEIGHTED_RRF, rrf_k=k)
    questions = [
        found(
            chunk("docs/m.md", vector=(0.5, right[0]), lexical=(0.5, right[1])),
            chunk("docs/a.md", vector=(0.5, rival[0]), lexical=(0.5, rival[1])),
        )
        for right, rival in ranks
    ]
    table = build_table(questions)
    judged = judge_places(table, [[Place("file", "docs/m.md")]] * 2)
    measure = parse_measure("mrr")
    steps = build_exact(table, judged, settings, places=False).weights(measure)
    assert steps is not None
    assert len(steps.ends) == 3
    for weight in steps.ends.tolist():
        there = dataclasses.replace(settings, weight_vector=weight, weight_lexical=1 - weight)
        live = measure_replay(table, judged, there, measure).mean()
        assert steps.values(np.array([weight]))[0] == pytest.approx(live, abs=1e-11)


def test_rrf_weighs_nothing_and_has_no_function_of_the_weight() -> None:
    with pytest.raises(ValueError, match="RRF"):
        exact_of(
            (rising_and_falling("docs/a.md", "docs/b.md"), (A,)),
            settings=dataclasses.replace(FREE, fusion=Fusion.RRF),
        )


def test_measures_of_places_are_refused_where_places_were_not_followed() -> None:
    table = build_table([rising_and_falling("docs/a.md", "docs/b.md")])
    exact = build_exact(table, judge_places(table, [[A]]), FREE, places=False)
    with pytest.raises(ValueError, match="places"):
        exact.weights(parse_measure("ndcg@5"))


def test_a_step_function_refuses_weights_outside_its_range_and_ends_out_of_order() -> None:
    steps = WeightSteps(ends=np.array([0.0, 1.0]), at=np.zeros(2), inside=np.zeros(1))
    with pytest.raises(ValueError, match="between 0 and 1"):
        steps.values(np.array([1.5]))
    with pytest.raises(ValueError, match="rise"):
        WeightSteps(ends=np.array([0.0, 0.5, 0.5, 1.0]), at=np.zeros(4), inside=np.zeros(3))


def test_of_ends_that_rounding_parts_the_one_with_a_value_of_its_own_stays() -> None:
    ends = np.array([0.0, 0.5, 0.5 + 1e-14, 1.0])
    steps = tidy(ends, at=np.array([0.0, 0.0, 1.0, 0.0]), inside=np.array([0.0, 0.5, 0.0]))
    assert steps.pieces() == (
        Stretch(low=0.0, high=0.0, value=0.0),
        Stretch(low=0.0, high=0.5 + 1e-14, value=0.0),
        Stretch(low=0.5 + 1e-14, high=0.5 + 1e-14, value=1.0),
        Stretch(low=0.5 + 1e-14, high=1.0, value=0.0),
        Stretch(low=1.0, high=1.0, value=0.0),
    )
