"""How a ranking is judged by a golden case, and a set by its floor."""

import dataclasses

import pytest

from golden_material import VECTOR_ONLY, by_vector, chunk, found
from rag_core.golden.cases import GoldenCase, GoldenSet
from rag_core.golden.verdicts import CaseVerdict, VerdictShape, judge, judge_all
from rag_core.model import CandidateSet, Fate, Place, RankingSettings
from rag_core.ranking.ranking import rank


def expecting(*places: str, case_id: str = "a", must_pass: bool = False) -> GoldenCase:
    return GoldenCase(
        id=case_id,
        question=f"question {case_id}",
        expected=tuple(Place.parse(place) for place in places),
        must_pass=must_pass,
    )


NO_ANSWER = GoldenCase(id="none", question="question none", no_answer=True)


def verdict_of(
    case: GoldenCase, candidates: CandidateSet, settings: RankingSettings = VECTOR_ONLY
) -> CaseVerdict:
    return judge(case, rank(candidates, settings))


def test_a_case_passes_when_any_expected_place_is_among_the_hits() -> None:
    verdict = verdict_of(expecting("x.md", "b.md"), by_vector(("a.md", 0.9), ("b.md", 0.8), ("c.md", 0.7)))
    assert (verdict.passed, verdict.rank, verdict.whole_rank, verdict.vector_rank) == (True, 2, 2, 2)
    assert (verdict.lexical_rank, verdict.removed_by) == (None, None)


def test_each_rank_is_the_best_of_any_expected_chunk_taken_by_itself() -> None:
    # fused by the vector alone: b#0 (0.5) stands before b#1 (0.4), yet b#1 leads the lexical signal
    candidates = found(
        chunk("a.md", vector=(0.9, 1)),
        chunk("b.md", ordinal=0, vector=(0.5, 2), lexical=(0.1, 4)),
        chunk("b.md", ordinal=1, vector=(0.4, 3), lexical=(0.3, 1)),
    )
    verdict = verdict_of(expecting("b.md"), candidates)
    assert (verdict.rank, verdict.whole_rank, verdict.vector_rank, verdict.lexical_rank) == (2, 2, 2, 1)


def test_a_place_that_no_signal_found_was_removed_with_the_candidates() -> None:
    verdict = verdict_of(expecting("x.md"), by_vector(("a.md", 0.9)))
    assert (verdict.passed, verdict.whole_rank, verdict.removed_by) == (False, None, Fate.CANDIDATES)
    assert verdict_of(expecting("x.md"), found()).removed_by is Fate.CANDIDATES


def test_a_place_below_the_threshold_was_removed_by_it() -> None:
    verdict = verdict_of(expecting("b.md"), by_vector(("a.md", 0.9), ("b.md", 0.19)))
    assert (verdict.rank, verdict.whole_rank, verdict.removed_by) == (None, 2, Fate.THRESHOLD)


def test_a_place_behind_the_limit_was_removed_by_it() -> None:
    verdict = verdict_of(expecting("c.md"), by_vector(("a.md", 0.9), ("b.md", 0.8), ("c.md", 0.7)))
    assert (verdict.rank, verdict.whole_rank, verdict.removed_by) == (None, 3, Fate.LIMIT)


def test_what_removed_a_case_is_what_removed_its_best_chunk() -> None:
    # the best chunk of d.md is cut by the limit; its third one falls to the cap, its last to the threshold
    candidates = by_vector(
        ("a.md", 0.9), ("b.md", 0.8), ("d.md", 0.7), ("d.md", 0.6), ("d.md", 0.5), ("d.md", 0.1)
    )
    assert [entry.fate for entry in rank(candidates, VECTOR_ONLY).whole_set][2:] == [
        Fate.LIMIT,
        Fate.LIMIT,
        Fate.FILE_CAP,
        Fate.THRESHOLD,
    ]
    assert verdict_of(expecting("d.md"), candidates).removed_by is Fate.LIMIT


def test_a_case_without_answer_passes_without_hits_and_has_no_ranks() -> None:
    passed = verdict_of(NO_ANSWER, by_vector(("a.md", 0.1)))
    failed = verdict_of(NO_ANSWER, by_vector(("a.md", 0.9)))
    assert (passed.passed, failed.passed) == (True, False)
    for verdict in (passed, failed):
        ranks = (verdict.rank, verdict.whole_rank, verdict.vector_rank, verdict.lexical_rank)
        assert ranks == (None, None, None, None)
        assert (verdict.removed_by, verdict.decided_by_tie) == (None, False)


@pytest.mark.parametrize(("expected", "passes"), [("b.md", True), ("c.md", False)])
def test_a_tie_across_the_limit_decides_and_is_said(expected: str, passes: bool) -> None:
    # two hits are shown; b.md and c.md share the second place, and only their names part them
    verdict = verdict_of(expecting(expected), by_vector(("a.md", 0.9), ("b.md", 0.5), ("c.md", 0.5)))
    assert (verdict.passed, verdict.decided_by_tie) == (passes, True)


@pytest.mark.parametrize(
    ("expected", "scored"),
    [
        (("b.md",), [("a.md", 0.5), ("b.md", 0.5)]),  # both equals are shown
        (("a.md",), [("a.md", 0.9), ("b.md", 0.5), ("c.md", 0.5)]),  # the tie is below
        (("d.md",), [("a.md", 0.9), ("b.md", 0.8), ("c.md", 0.5), ("d.md", 0.5)]),  # the tie is all beyond
        (("b.md", "c.md"), [("a.md", 0.9), ("b.md", 0.5), ("c.md", 0.5)]),  # either of the equals will do
        (("b.md",), [("a.md", 0.9), ("b.md", 0.5), ("b.md", 0.5)]),  # the equal is of the same file
        (("b.md",), [("a.md", 0.1), ("b.md", 0.1), ("c.md", 0.1)]),  # the threshold decides, not the order
    ],
)
def test_a_tie_that_could_not_turn_the_verdict_is_not_said_to_decide(
    expected: tuple[str, ...], scored: list[tuple[str, float]]
) -> None:
    assert not verdict_of(expecting(*expected), by_vector(*scored)).decided_by_tie


def test_equals_that_the_cap_removes_take_no_place_in_the_tie() -> None:
    # a.md keeps one chunk whatever the order, so b.md is second in any
    settings = dataclasses.replace(VECTOR_ONLY, max_per_file=1)
    candidates = by_vector(("a.md", 0.5), ("a.md", 0.5), ("a.md", 0.5), ("b.md", 0.5), ("c.md", 0.3))
    assert not verdict_of(expecting("b.md"), candidates, settings).decided_by_tie


def outcome_of(*passing: bool, floor: int = 0, must_pass: tuple[int, ...] = ()):
    golden = GoldenSet(
        floor=floor,
        limit=None,
        cases=tuple(
            expecting("a.md", case_id=str(number), must_pass=number in must_pass)
            for number in range(len(passing))
        ),
    )
    ranked = {
        passes: rank(by_vector(("a.md" if passes else "b.md", 0.9)), VECTOR_ONLY) for passes in (True, False)
    }
    return judge_all(golden, [ranked[passes] for passes in passing])


def test_a_gate_passes_at_its_floor_and_fails_one_below() -> None:
    at, below = outcome_of(True, True, False, floor=2), outcome_of(True, False, False, floor=2)
    assert (at.passed, at.total, at.floor, at.gate_passed) == (2, 3, 2, True)
    assert (below.passed, below.floor, below.gate_passed) == (1, 2, False)
    assert at.share == 2 / 3


def test_a_lost_case_that_must_pass_fails_the_gate_whatever_the_floor() -> None:
    outcome = outcome_of(True, False, True, floor=1, must_pass=(0, 1))
    assert (outcome.passed, outcome.floor) == (2, 1)
    assert (outcome.lost_must_pass, outcome.gate_passed) == (("1",), False)


def test_a_run_that_left_a_case_out_is_no_outcome() -> None:
    golden = GoldenSet(floor=0, limit=None, cases=(expecting("a.md"), NO_ANSWER))
    with pytest.raises(ValueError, match="zip"):
        judge_all(golden, [rank(found(), VECTOR_ONLY)])


def test_a_verdict_has_the_contracts_keys() -> None:
    case = dataclasses.replace(expecting("b.md", "session:s-1"), tags=("t",), must_pass=True)
    verdict = verdict_of(case, by_vector(("a.md", 0.9), ("b.md", 0.1)))
    assert VerdictShape.of(verdict).to_json() == {
        "id": "a",
        "question": "question a",
        "expected": ["b.md", "session:s-1"],
        "tags": ["t"],
        "mustPass": True,
        "passed": False,
        "rank": None,
        "wholeRank": 2,
        "vectorRank": 2,
        "lexicalRank": None,
        "removedBy": "threshold",
        "decidedByTie": False,
    }
