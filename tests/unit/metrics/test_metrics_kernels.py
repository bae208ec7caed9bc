"""Every measure by hand. A row of hits is written as letters, expected places in capitals."""

import math

import numpy as np
import pytest

from rag_core.metrics.kernels import JudgedHits, ceilings, mean, measure_hits
from rag_core.metrics.measures import parse_measure


def judged(*rows: str, expected: tuple[int, ...], limit: int = 5) -> JudgedHits:
    """`"aBb"` is three hits, the second and third of one place each; a capital is an expected place."""
    width = max(map(len, rows), default=0)
    return JudgedHits(
        relevant=np.array([[letter.isupper() for letter in row.ljust(width)] for row in rows], dtype=bool),
        places=np.array(
            [[ord(letter) if letter != " " else -1 for letter in row.ljust(width)] for row in rows]
        ),
        expected=np.array(expected),
        limit=limit,
    )


def value(name: str, row: str, *, expected: int = 1, limit: int = 5) -> float:
    return float(measure_hits(judged(row, expected=(expected,), limit=limit), parse_measure(name))[0])


@pytest.mark.parametrize(
    ("name", "row", "expected", "worth"),
    [
        ("passed", "abcdE", 1, 1),
        ("passed", "abcde", 1, 0),
        # the example of docs/metrics.md: B, D and E expected, E not found
        ("passed", "aaBcD", 3, 1),
        ("hit@2", "aaBcD", 3, 0),
        ("hit@3", "aaBcD", 3, 1),
        ("mrr", "aaBcD", 3, 1 / 3),
        ("p@2", "aaBcD", 3, 1 / 2),
        ("p@5", "aaBcD", 3, 2 / 5),
        ("recall@5", "aaBcD", 3, 2 / 3),
        ("ndcg@5", "aaBcD", 3, (1 / math.log2(3) + 1 / math.log2(5)) / (1 + 1 / math.log2(3) + 1 / 2)),
        ("hit@3", "abCde", 1, 1),
        ("hit@2", "abCde", 1, 0),
        ("mrr", "abCde", 1, 1 / 3),
        ("mrr", "aBBCC", 2, 1 / 2),
        ("mrr", "", 1, 0),
        # two hits of one place count once, and those behind them move up: B is the second place
        ("p@5", "aaB", 1, 1 / 5),
        ("p@2", "aaB", 1, 1 / 2),
        ("p@1", "aaB", 1, 0),
        ("p@2", "AAb", 1, 1 / 2),
        # hit@2 looks at chunks, p@2 at places
        ("hit@2", "aaB", 1, 0),
        ("recall@5", "aBcD", 4, 2 / 4),
        ("recall@2", "aBcD", 4, 1 / 4),
        ("ndcg@5", "aB", 1, 1 / math.log2(3)),
        ("ndcg@5", "aaB", 1, 1 / math.log2(3)),
        ("ndcg@1", "aB", 1, 0),
        ("ndcg@5", "AbC", 2, (1 + 1 / math.log2(4)) / (1 + 1 / math.log2(3))),
    ],
)
def test_each_measure_by_hand(name: str, row: str, expected: int, worth: float) -> None:
    assert value(name, row, expected=expected) == pytest.approx(worth, abs=1e-15)


def test_precision_is_divided_by_k_however_few_hits_were_shown() -> None:
    assert value("p@5", "Ab") == pytest.approx(0.2)


def test_the_ideal_order_holds_every_expected_place_whether_it_was_found_or_not() -> None:
    # one of two expected places, at rank 1 of 10: 1 / (1 + 1 / log2(3)) = 0.613, not 1
    assert value("ndcg@10", "A", expected=2, limit=10) == pytest.approx(0.6131471927654584)


def test_the_ideal_order_is_cut_at_k() -> None:
    assert value("ndcg@1", "A", expected=3) == 1


def test_a_question_without_hits_counts_as_nothing_and_stays_in_the_mean() -> None:
    hits = judged("A", "", expected=(1, 1))
    for name in ("passed", "hit@5", "mrr", "recall@5", "ndcg@5"):
        assert mean(measure_hits(hits, parse_measure(name))) == 0.5


def test_no_answer_cases_pass_and_are_rejected_without_hits_and_leave_every_other_mean_alone() -> None:
    hits = judged("A", "a", "", expected=(1, 0, 0))
    assert measure_hits(hits, parse_measure("passed")).tolist() == [1, 0, 1]
    rejected = measure_hits(hits, parse_measure("rejected"))
    assert np.isnan(rejected[0])
    assert rejected[1:].tolist() == [0, 1]
    assert mean(measure_hits(hits, parse_measure("mrr"))) == 1


def test_a_mean_over_no_judged_case_is_none_and_not_zero() -> None:
    assert mean(measure_hits(judged("A", expected=(1,)), parse_measure("rejected"))) is None


@pytest.mark.parametrize(
    ("name", "expected", "limit", "best"),
    [
        ("passed", 1, 5, 1),
        ("mrr", 3, 5, 1),
        ("p@5", 1, 5, 0.2),
        ("p@10", 30, 5, 0.5),
        ("recall@2", 3, 5, 2 / 3),
        ("recall@10", 10, 5, 0.5),
        ("ndcg@10", 1, 5, 1),
        ("ndcg@2", 2, 1, 1 / (1 + 1 / math.log2(3))),
        ("rejected", 0, 5, 1),
        ("passed", 0, 5, 1),
    ],
)
def test_a_measure_has_a_ceiling_that_limit_and_judgements_set(
    name: str, expected: int, limit: int, best: float
) -> None:
    assert float(ceilings(parse_measure(name), np.array([expected]), limit)[0]) == pytest.approx(best)


def test_more_hits_than_the_limit_are_refused() -> None:
    with pytest.raises(ValueError, match="limit"):
        judged("abc", expected=(1,), limit=2)
