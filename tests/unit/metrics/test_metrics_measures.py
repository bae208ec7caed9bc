"""Measures are named in one spelling, and a name that can't be meant is refused."""

import numpy as np
import pytest

from rag_core.errors import InvalidInput
from rag_core.metrics.measures import MRR, PASSED, REJECTED, Measure, MeasureKind, parse_measure


@pytest.mark.parametrize(
    ("text", "measure", "spelling"),
    [
        ("passed", PASSED, "passed"),
        ("rejected", REJECTED, "rejected"),
        ("mrr", MRR, "mrr"),
        ("hit@5", Measure(MeasureKind.HIT, 5), "hit@5"),
        ("p@1", Measure(MeasureKind.PRECISION, 1), "p@1"),
        ("recall@20", Measure(MeasureKind.RECALL, 20), "recall@20"),
        (" nDCG@010 ", Measure(MeasureKind.NDCG, 10), "ndcg@10"),
    ],
)
def test_a_name_is_read_into_a_value_that_spells_itself_the_same_way_again(
    text: str, measure: Measure, spelling: str
) -> None:
    assert parse_measure(text) == measure
    assert str(measure) == spelling
    assert parse_measure(spelling) == measure
    assert {measure: 1}[parse_measure(text)] == 1


@pytest.mark.parametrize(
    "text", ["", "hit", "passed@5", "mrr@10", "hit@0", "hit@-1", "hit@1001", "map", "p@5.0"]
)
def test_what_is_no_measure_is_refused_with_the_names_that_there_are(text: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        parse_measure(text)
    assert "hit@5" in refusal.value.hint


def test_no_answer_cases_enter_only_passed_and_rejected() -> None:
    no_answer = np.array([False, True, False])
    assert PASSED.enters(no_answer).tolist() == [True, True, True]
    assert REJECTED.enters(no_answer).tolist() == [False, True, False]
    for name in ("hit@5", "mrr", "ndcg@5", "p@5", "recall@5"):
        assert parse_measure(name).enters(no_answer).tolist() == [True, False, True]
