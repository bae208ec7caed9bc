"""The honest choice: keep unless held-out cases say otherwise, and say why in a sentence."""

import dataclasses
from random import Random

import numpy as np
import pytest

from golden_material import chunk, found
from rag_core.calibration.choice.contenders import (
    LEXICAL_ONLY,
    TODAY,
    VECTOR_ONLY,
    WEIGHTED_SUM,
    build_ballot,
)
from rag_core.calibration.choice.families import Variant, build_family, vary
from rag_core.calibration.choice.margin import choose, prepare
from rag_core.calibration.choice.verdict import Choice, Electorate, decide
from rag_core.calibration.table import build_table, judge_places
from rag_core.errors import InvalidInput
from rag_core.golden.cases import GoldenCase
from rag_core.metrics.measures import PASSED, REJECTED, parse_measure
from rag_core.model import CandidateSet, LexicalWay, Place, RankingSettings

RIGHT = Place("file", "docs/right.md")
TODAY_SETTINGS = RankingSettings(weight_vector=0.75, weight_lexical=0.25, threshold=None, limit=1)


def found_below(weight: float) -> CandidateSet:
    """The right file is first below the weight: 0.25 (1 - w) against the rival's line, which meets it there."""
    return found(
        chunk("docs/right.md", lexical=(0.25, 1)),
        chunk("docs/rival.md", vector=(0.25 * (1 - weight) / weight, 1)),
    )


def variant_of(questions: list[CandidateSet], expected: list[tuple[Place, ...]]) -> Variant:
    table = build_table(questions)
    return Variant(
        lexical=LexicalWay(),
        table=table,
        judged=judge_places(table, expected),
    )


def decide_on(
    questions: list[CandidateSet],
    *,
    expected: list[tuple[Place, ...]] | None = None,
    holdout: list[bool] | None = None,
    must_pass: list[bool] | None = None,
    today: RankingSettings = TODAY_SETTINGS,
    measure: str = "passed",
) -> Choice:
    count = len(questions)
    variant = variant_of(questions, expected or [(RIGHT,)] * count)
    parsed = parse_measure(measure)
    ground = Electorate(
        ids=tuple(f"case-{number}" for number in range(count)),
        holdout=np.array(holdout or [False] * count),
        must_pass=np.array(must_pass or [False] * count),
    )
    return decide(build_ballot((variant,), today, parsed), ground, parsed, resamples=30)


def test_a_set_whose_cases_all_pass_keeps_and_says_that_it_cannot_tell() -> None:
    choice = decide_on([found_below(0.9)] * 5)
    assert choice.verdict == "keep"
    assert choice.proposal.name == TODAY
    assert choice.reason == (
        "Keep: the set can't tell; 6 cases won and none lost are the least that chance would not explain, and "
        "only 5 are there. This set can never decide: no number that was tried does better in any of its cases; it "
        "lacks at least 6 cases that today's numbers fail and others could win."
    )
    assert (choice.detectable_cases, choice.detectable_points) == (6, 1.0)


def test_cases_that_score_their_own_choice_are_told_within_the_sentence() -> None:
    choice = decide_on([found_below(0.9)] * 8)
    assert (
        "with 8 cases (each left out of its own choice) the set can't tell a difference of fewer than 6 cases"
        in choice.reason
    )


def test_settings_that_tie_on_many_cases_keep_what_is_in_force() -> None:
    choice = decide_on([found_below(0.9)] * 40)
    assert choice.verdict == "keep"
    assert "the set can't tell a difference of fewer than 6 cases from chance" in choice.reason
    assert choice.optimism == 0


def test_a_weight_that_wins_most_held_out_cases_is_adopted() -> None:
    # today's 0.75 fails all, every weight below 0.3 passes all
    random = Random(0)
    questions = [found_below(random.uniform(0.3, 0.5)) for _ in range(38)]
    choice = decide_on(questions, holdout=[number % 2 == 0 for number in range(38)])
    assert choice.verdict == "adopt"
    assert choice.reason.startswith("Adopt: 19 won and 0 lost of 19 held-out cases, 100.0 points above")
    assert choice.proposal.name == WEIGHTED_SUM
    assert choice.n == 19
    assert choice.detectable_points == pytest.approx(6 / 19)
    assert choice.proposal.settings.weight_vector < 0.3
    margin = choice.proposal.weight_margin
    assert margin is not None
    # the widest run of weights at which nothing is lost, and its middle
    assert margin.low == 0
    assert choice.proposal.settings.weight_vector == pytest.approx(margin.high / 2)


def test_without_a_split_every_case_is_scored_by_an_election_that_did_not_see_it() -> None:
    choice = decide_on([found_below(0.4)] * 20)
    assert choice.verdict == "adopt"
    assert choice.n == 20
    assert choice.held_out.value == 1


def test_five_cases_won_are_not_enough() -> None:
    questions = [found_below(0.4)] * 5 + [found_below(0.9)] * 25
    choice = decide_on(questions * 2, holdout=[True] * 30 + [False] * 30)
    assert choice.verdict == "keep"
    assert "5 won and 0 lost of 30 held-out cases can come from chance (p = 0.062)" in choice.reason


def test_a_case_that_must_pass_is_not_given_up() -> None:
    # the last case is found at a weight above 0.5 only
    lost = found(chunk("docs/right.md", vector=(0.5, 1)), chunk("docs/a.md", lexical=(0.5, 1)))
    questions = [found_below(0.4)] * 19 + [lost]
    choice = decide_on(questions, must_pass=[False] * 19 + [True])
    assert choice.verdict == "keep"
    assert choice.reason.endswith("a case that must pass would be lost: case-19.")
    assert decide_on(questions).verdict == "adopt"


def test_every_rival_stands_in_the_table_with_p_values_adjusted_over_all_of_them() -> None:
    choice = decide_on([found_below(0.4)] * 20)
    names = [row.contender.name for row in choice.table]
    assert names == [TODAY, WEIGHTED_SUM, VECTOR_ONLY, LEXICAL_ONLY, "rrf", "weightedRrf", "minMax", "zScore"]
    rows = {row.contender.name: row for row in choice.table}
    assert rows[TODAY].against_today is None
    assert rows[LEXICAL_ONLY].value == 1
    assert rows[VECTOR_ONLY].value == 0
    for row in choice.table[1:]:
        assert row.against_today is not None
        assert row.adjusted_p_value is not None
        assert row.adjusted_p_value >= row.against_today.p_value
        assert row.contender.settings.threshold is None


def test_the_same_seed_gives_the_same_choice() -> None:
    random = Random(1)
    questions = [found_below(random.uniform(0.2, 0.95)) for _ in range(30)]
    assert decide_on(questions).to_json() == decide_on(questions).to_json()


def test_the_json_is_the_contracts() -> None:
    answer = decide_on([found_below(0.4)] * 20).to_json()
    assert set(answer) == {"verdict", "reason", "metric", "heldOut", "optimism", "detectable", "rivals"}
    assert answer["metric"] == "passed"
    assert answer["detectable"] == {"cases": 6, "points": 0.3}
    held_out = answer["heldOut"]
    assert isinstance(held_out, dict)
    assert held_out["n"] == 20
    assert held_out["low"] < held_out["value"] == held_out["high"]


def test_no_answer_cases_give_a_threshold_in_the_middle_of_what_separates() -> None:
    # all numbers find the right files; strangers are refused between 0.1 and 0.5
    answered = found(chunk("docs/right.md", vector=(0.5, 1), lexical=(0.5, 1)))
    stranger = found(chunk("docs/other.md", vector=(0.1, 1), lexical=(0.1, 1)))
    choice = decide_on([answered, stranger] * 20, expected=[(RIGHT,), ()] * 20)
    assert choice.verdict == "adopt"
    assert choice.proposal.settings.threshold == pytest.approx(0.3)
    margin = choice.proposal.threshold_margin
    assert margin is not None
    assert (margin.low, margin.high) == pytest.approx((0.1, 0.5))


def test_without_no_answer_cases_no_new_threshold_is_offered() -> None:
    variant = variant_of([found_below(0.4)], [(RIGHT,)])
    family = build_family(variant, TODAY_SETTINGS, PASSED, today=0.2)
    assert family.thresholds == (-np.inf, 0.2)


def test_a_widest_margin_is_preferred_to_a_better_but_narrow_one_only_when_it_is_near() -> None:
    # below 0.5 everything passes; the narrow run at the top passes one case more
    wide = [found_below(0.5)] * 99
    narrow = found(chunk("docs/right.md", vector=(0.4, 1)), chunk("docs/rival.md", lexical=(0.4, 1)))
    variant = variant_of([*wide, narrow], [(RIGHT,)] * 100)
    menu = prepare([build_family(variant, TODAY_SETTINGS, PASSED, today=None)])
    chosen = choose(menu, np.ones(100))
    assert (chosen.weight_margin.low, chosen.weight_margin.high) == (0.0, 0.5)
    assert chosen.settings.weight_vector == 0.25
    assert chosen.value == 0.99


def test_depth_and_cap_are_varied_one_at_a_time_and_each_once() -> None:
    varied = vary(TODAY_SETTINGS, depths=(20, 50), caps=(1, 2))
    assert varied == (
        TODAY_SETTINGS,
        dataclasses.replace(TODAY_SETTINGS, candidates_per_signal=50),
        dataclasses.replace(TODAY_SETTINGS, max_per_file=1),
    )


def test_the_ground_of_golden_cases_holds_out_what_they_say() -> None:
    cases = (
        GoldenCase(id="a", question="?", expected=(RIGHT,), split="holdout", must_pass=True),
        GoldenCase(id="b", question="??", no_answer=True, split="calibrate"),
        GoldenCase(id="c", question="???", expected=(RIGHT,)),
    )
    ground = Electorate.of(cases)
    assert ground.ids == ("a", "b", "c")
    assert ground.holdout.tolist() == [True, False, False]
    assert ground.must_pass.tolist() == [True, False, False]


def test_a_measure_that_judges_no_case_can_choose_nothing() -> None:
    variant = variant_of([found_below(0.4)], [(RIGHT,)])
    ground = Electorate(ids=("one",), holdout=np.array([False]), must_pass=np.array([False]))
    with pytest.raises(InvalidInput, match="no case to choose on"):
        decide(build_ballot((variant,), TODAY_SETTINGS, REJECTED), ground, REJECTED)
