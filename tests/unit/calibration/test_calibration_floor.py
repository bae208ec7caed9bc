"""What breaks the floor and what restores it, whether a set can decide, and why a point lies above a proposal."""

import dataclasses

import numpy as np
import pytest

from golden_material import chunk, found
from rag_core.calibration.choice.families import Variant
from rag_core.calibration.findings import Findings, find
from rag_core.calibration.floor_standing import standing_of
from rag_core.calibration.table import build_table, judge_table
from rag_core.golden.cases import GoldenCase
from rag_core.model import (
    CandidateSet,
    CandidateSettings,
    LexicalFunction,
    LexicalWay,
    Place,
    RankingSettings,
    SearchSettings,
)

RIGHT = Place("file", "docs/right.md")
TODAY = SearchSettings(
    candidates=CandidateSettings(),
    ranking=RankingSettings(weight_vector=0.75, weight_lexical=0.25, threshold=None, limit=1),
    source="adopted",
    preset=None,
)


def at(weight: float) -> SearchSettings:
    ranking = dataclasses.replace(TODAY.ranking, weight_vector=weight, weight_lexical=1 - weight)
    return dataclasses.replace(TODAY, preset="some").with_ranking(ranking)


def found_below(weight: float) -> CandidateSet:
    """The right file is first below the weight: 0.25 (1 - w) against the rival's line, which meets it there."""
    return found(
        chunk("docs/right.md", lexical=(0.25, 1)),
        chunk("docs/rival.md", vector=(0.25 * (1 - weight) / weight, 1)),
    )


def calibrated(
    questions: list[CandidateSet],
    *,
    floor: int = 0,
    must_pass: tuple[int, ...] = (),
    others: tuple[tuple[str, SearchSettings], ...] = (),
) -> Findings:
    cases = [
        GoldenCase(
            id=f"case-{number}",
            question=f"question {number}",
            expected=(RIGHT,),
            must_pass=number in must_pass,
        )
        for number in range(len(questions))
    ]
    table = build_table(questions)
    variant = Variant(
        lexical=LexicalWay(),
        table=table,
        judged=judge_table(table, cases),
    )
    return find((variant,), cases, TODAY, resamples=20, floor=floor, others=others)


def proposal_of(findings: Findings) -> dict[str, object]:
    proposal = findings.to_json()["proposal"]
    assert isinstance(proposal, dict)
    return proposal


def test_today_under_the_floor_is_said_first_with_what_restores_it_and_its_test() -> None:
    # today's 0.75 passes the 11 that are found below 0.9; 0.5 passes the nine below 0.6 too
    findings = calibrated(
        [found_below(0.9)] * 11 + [found_below(0.6)] * 9, floor=20, others=(("the preset some", at(0.5)),)
    )
    assert findings.reason.startswith(
        "Today's numbers break the floor: 11 of 20 cases pass, the floor is 20. What restores it: the preset some, "
        "under which 20 pass, 9 won and none lost (p = 0.0039)."
    )
    floor = proposal_of(findings)["floor"]
    assert isinstance(floor, dict)
    assert (floor["holds"], floor["passed"], floor["total"], floor["floor"]) == (False, 11, 20, 20)
    first = floor["restoredBy"][0]
    assert (first["name"], first["passed"], first["won"], first["lost"]) == ("the preset some", 20, 9, 0)
    # two of 2 ** 9 ways to toss nine coins
    assert first["pValue"] == 2 / 512
    assert proposal_of(findings)["reason"] == findings.reason


def test_a_floor_that_holds_is_no_news() -> None:
    findings = calibrated([found_below(0.9)] * 8, floor=8)
    assert findings.floor.holds
    assert findings.reason == findings.choice.reason
    assert findings.floor.restored_by == ()


def test_a_case_that_must_pass_breaks_the_gate_and_what_loses_another_does_not_restore_it() -> None:
    needs_more = found(chunk("docs/right.md", vector=(0.5, 1)), chunk("docs/a.md", lexical=(0.5, 1)))
    # case 0 passes below 0.6 only, case 1 above 0.5 only
    findings = calibrated(
        [found_below(0.6), needs_more] + [found_below(0.9)] * 6,
        must_pass=(0, 1),
        others=(("low", at(0.25)), ("between", at(0.55))),
    )
    assert "case-0 must pass and does not" in findings.reason
    names = [each.name for each in findings.floor.restored_by]
    assert "between" in names
    assert "low" not in names


def test_where_nothing_restores_the_floor_that_is_said() -> None:
    hopeless = found(chunk("docs/other.md", lexical=(0.25, 1)))
    findings = calibrated([hopeless] * 8, floor=1, others=(("the preset some", at(0.5)),))
    assert "Nothing that was tried restores it" in findings.reason


def test_numbers_that_need_candidates_of_another_way_are_not_replayed() -> None:
    other_way = dataclasses.replace(
        at(0.5),
        candidates=dataclasses.replace(
            TODAY.candidates, lexical=LexicalWay(function=LexicalFunction.COVERAGE)
        ),
    )
    findings = calibrated([found_below(0.6)] * 8, floor=8, others=(("elsewhere", other_way),))
    assert "elsewhere" not in [each.name for each in findings.floor.restored_by]


ONE = "only 5 of 8 could still be won; it lacks at least 1 case that today's numbers fail and others could win, "
NONE = "no number that was tried does better in any of its cases; it lacks at least 6 cases"
FOUR = "only 2 of 40 could still be won; it lacks at least 4 cases that today's numbers fail and others could win, "


@pytest.mark.parametrize(
    ("failing", "passing", "winnable", "more", "told"),
    [
        # six such as 5 of 8 take ceil(6 * 8 / 5) = 10 cases, two more
        (5, 3, 5, 1, f"{ONE}about 2 more if new cases are like these."),
        (0, 8, 0, 6, NONE),
        (2, 38, 2, 4, f"{FOUR}about 80 more if new cases are like these."),
    ],
)
def test_a_set_that_can_never_decide_says_so_and_how_many_cases_more_could(
    failing: int, passing: int, winnable: int, more: int, told: str
) -> None:
    findings = calibrated([found_below(0.4)] * failing + [found_below(0.9)] * passing)
    proposal = proposal_of(findings)
    assert (proposal["decidable"], proposal["winnable"], proposal["moreCases"]) == (False, winnable, more)
    assert f"This set can never decide: {told}" in findings.reason


def test_a_case_whose_file_is_in_no_list_can_not_be_won_by_any_number() -> None:
    hopeless = found(chunk("docs/other.md", lexical=(0.25, 1)))
    findings = calibrated([hopeless] * 20 + [found_below(0.4)] * 5)
    assert findings.choice.winnable == 5
    assert not findings.choice.decidable


def test_six_cases_that_can_be_won_are_enough() -> None:
    findings = calibrated([found_below(0.4)] * 6 + [found_below(0.9)] * 2)
    assert findings.choice.decidable
    assert findings.choice.more_cases == 0
    assert "can never decide" not in findings.reason


def test_cases_left_out_in_turn_are_not_called_held_out() -> None:
    findings = calibrated([found_below(0.4)] * 8)
    assert proposal_of(findings)["scoredOn"] == "leftOutInTurn"
    assert findings.choice.cases_told == "8 cases (each left out of its own choice)"
    assert "held" not in findings.reason


def test_a_point_above_the_proposal_is_named_with_the_reason() -> None:
    def beaten_above(weight: float) -> CandidateSet:
        # as `found_below`, but with a rival that comes first where scores tie, so that RRF wins nothing
        return found(
            chunk("docs/right.md", lexical=(0.25, 1)),
            chunk("docs/a.md", vector=(0.25 * (1 - weight) / weight, 1)),
        )

    # 35 pass below 0.3, 30 up to 0.62, the six of `late` above 0.6: 36 of 41 between 0.6 and 0.62
    late = found(chunk("docs/right.md", vector=(0.4, 1)), chunk("docs/a.md", lexical=(0.6, 1)))
    findings = calibrated([beaten_above(0.62)] * 30 + [beaten_above(0.3)] * 5 + [late] * 6)
    shortfall = findings.shortfall
    assert shortfall is not None
    # half a standard error of 36/41 is 1.05 cases, so 35 is near, and its run of weights is the widest
    assert (shortfall.value * 41, shortfall.best * 41) == pytest.approx((35, 36))
    assert (shortfall.weights.low, shortfall.weights.high) == pytest.approx((0.6, 0.62))
    assert findings.choice.slack * 41 == pytest.approx(0.5 * (36 * 5 / 41) ** 0.5)
    assert shortfall.reason == (
        "On all 41 cases the curve reaches 36 at weights 0.6 to 0.62, the best found reaches 35. On the 41 cases "
        "of the choice everything within 2.6 points of the best counts as no worse, and among those the widest run "
        "of weights was taken, not the highest point."
    )
    told = proposal_of(findings)["shortfall"]
    assert isinstance(told, dict)
    assert set(told) == {"value", "best", "from", "to", "reason"}


def test_numbers_that_are_no_ones_yet_are_held_against_the_gate_by_who_passes() -> None:
    cases = [
        GoldenCase(id=name, question=name, expected=(RIGHT,), must_pass=name != "b")
        for name in ("a", "b", "c")
    ]
    standing = standing_of(np.array([True, False, False]), cases, floor=2)
    assert not standing.holds
    assert standing.faults == ("1 of 3 cases passes, the floor is 2", "c must pass and does not")
    assert standing_of(np.array([True, False, True]), cases, floor=2).holds
