"""What a calibration says as a whole: every fusion has functions, and the JSON can be read anywhere."""

import dataclasses
import json

import numpy as np
import pytest

from golden_material import by_vector, chunk, found
from medir.cli.calibrate import told_of_proposal
from rag_core.calibration.choice.families import Variant
from rag_core.calibration.findings import Findings, find, measures_shown
from rag_core.calibration.table import build_table, judge_table
from rag_core.golden.cases import GoldenCase
from rag_core.golden.verdicts import judge
from rag_core.metrics.intervals import Interval
from rag_core.metrics.measures import PASSED, parse_measure
from rag_core.model import (
    CandidateSettings,
    Fusion,
    LexicalWay,
    Place,
    RankingSettings,
    SearchSettings,
)
from rag_core.ranking.ranking import rank

CASES = (
    GoldenCase(id="a", question="a?", expected=(Place("file", "a.md"),)),
    GoldenCase(id="b", question="b?", expected=(Place("file", "b.md"),)),
    GoldenCase(id="nada", question="c?", no_answer=True),
    GoldenCase(id="vazio", question="d?", no_answer=True),
)
FOUND = (
    by_vector(("x.md", 0.75), ("a.md", 0.5)),
    found(
        chunk("b.md", vector=(0.25, 2), lexical=(0.5, 1)),
        chunk("y.md", vector=(0.5, 1)),
        chunk("z.md", lexical=(0.25, 2)),
    ),
    by_vector(("x.md", 0.125)),
    found(),
)
RANKING = RankingSettings(weight_vector=0.5, weight_lexical=0.5, threshold=0.1, limit=1)


def findings(fusion: Fusion = Fusion.WEIGHTED_SUM, *, kept: list[bool] | None = None) -> Findings:
    table = build_table(FOUND)
    variant = Variant(
        lexical=LexicalWay(),
        table=table,
        judged=judge_table(table, CASES),
    )
    settings = SearchSettings(
        candidates=CandidateSettings(),
        ranking=dataclasses.replace(RANKING, fusion=fusion),
        source="preset",
        preset="seeds",
    )
    baseline = None if kept is None else ("antes", np.array(kept))
    return find((variant,), CASES, settings, resamples=3, depths=(1, 20), baseline=baseline)


@pytest.mark.parametrize("fusion", list(Fusion))
def test_every_fusion_has_the_value_that_ranking_gives_in_all_three_functions(fusion: Fusion) -> None:
    told = findings(fusion)
    ranking = told.settings.ranking
    live = np.mean([judge(case, rank(each, ranking)).passed for case, each in zip(CASES, FOUND, strict=True)])
    functions = told.functions[PASSED]

    assert functions.weights.values(np.array([0.5]))[0] == live
    assert functions.thresholds.values(np.array([0.1]))[0] == live
    assert [case["id"] for case in functions.ceilings] == ["a", "b", "nada", "vazio"]
    assert _value_of_map(functions.ceilings, 0.5, 0.1) == live


@pytest.mark.parametrize("fusion", list(Fusion))
def test_the_json_holds_finite_numbers_and_nulls_only(fusion: Fusion) -> None:
    text = json.dumps(findings(fusion).to_json(), allow_nan=False)

    assert json.loads(text)["cases"] == 4


def test_the_file_b_passes_today_and_a_does_not_so_only_b_bounds_what_is_safe() -> None:
    # b.md scores 0.25 w + 0.5 (1 - w), y.md 0.5 w: they cross at w = 2/3
    (safe,) = findings(kept=[False, True, False, False]).safe_weights

    assert safe.low == 0
    assert safe.high == pytest.approx(2 / 3)


def test_what_no_weight_wins_back_leaves_no_safe_weight() -> None:
    assert findings(kept=[True, False, False, False]).safe_weights == ()
    assert findings(Fusion.RRF, kept=[True, False, False, False]).safe_weights == ()


def test_a_proposal_that_is_todays_is_todays_settings_to_the_letter() -> None:
    told = findings()

    assert told.choice.verdict == "keep"
    if told.choice.proposal.name == "today":
        assert told.proposal == told.settings
    else:
        assert (told.proposal.source, told.proposal.preset) == ("proposal", None)


def test_the_measures_follow_the_limit_and_the_chosen_one_is_among_them_once() -> None:
    assert [str(each) for each in measures_shown(5, PASSED)] == [
        "passed",
        "rejected",
        "hit@1",
        "hit@3",
        "hit@5",
        "mrr",
        "p@5",
        "recall@5",
        "ndcg@5",
    ]
    assert [str(each) for each in measures_shown(1, parse_measure("hit@10"))] == [
        "passed",
        "rejected",
        "hit@1",
        "mrr",
        "p@1",
        "recall@1",
        "ndcg@1",
        "hit@10",
    ]


def _value_of_map(ceilings: list[dict], weight: float, threshold: float) -> float:
    total = 0.0
    for case in ceilings:
        for piece in case["pieces"]:
            low, high = piece["from"], piece["to"]
            if low == high == weight or low < weight < high:
                t0, t1 = piece["threshold"]
                line = (
                    None
                    if t0 is None
                    else t0
                    if low == high
                    else t0 + (weight - low) / (high - low) * (t1 - t0)
                )
                counts = line is None or ((line < threshold) if case.get("below") else (line >= threshold))
                total += piece["value"] * counts
    return total / len(ceilings)


def test_the_terminal_names_the_best_found_as_the_evidence_allows_and_warns_off_unsafe_weights() -> None:
    told = findings()
    assert told.choice.verdict == "keep"
    assert told_of_proposal(dataclasses.replace(told, proposal=told.settings)) == [
        "Best found: today's numbers."
    ]
    ranking = dataclasses.replace(RANKING, weight_vector=0.875, weight_lexical=0.125, threshold=None)
    other = dataclasses.replace(told.settings, source="proposal", preset=None).with_ranking(ranking)
    unsafe = dataclasses.replace(told, proposal=other, safe_weights=(Interval(0.25, 0.75),))
    label, warning = told_of_proposal(unsafe)
    assert label.startswith(
        f"Best found by {told.choice.measure} (not adopted; evidence too weak): weightedSum, vector 0.875"
    )
    assert "threshold none" in label
    assert warning.startswith("Careful: its vector weight 0.875 lies outside the safe weights (0.25 to 0.75)")
    safe = dataclasses.replace(unsafe, safe_weights=(Interval(0.25, 1.0),))
    assert len(told_of_proposal(safe)) == 1
    adopted = dataclasses.replace(safe, choice=dataclasses.replace(told.choice, verdict="adopt"))
    assert told_of_proposal(adopted)[0].startswith("Proposal: ")
