"""The gates of a golden run: which were not met, in which order, and the exit code of them together."""

from xml.etree import ElementTree as ET

import pytest

from medir.cli.gates import UnmetGate, error_of, exit_code, lost_gate
from rag_core.evaluation.comparison import BaselineComparison
from rag_core.evaluation.interaction import Turned
from rag_core.formats.junit import junit_error_xml, junit_xml
from rag_core.golden.cases import parse_cases
from rag_core.golden.verdicts import judge_all
from rag_core.model import Ranking


def unmet(name: str, code: int) -> UnmetGate:
    return UnmetGate(name=name, code=code, sentence=f"{name} is not met.", hint="Look.")


@pytest.mark.parametrize(
    ("codes", "together"), [([], 0), ([1], 1), ([2], 2), ([1, 2], 1), ([2, 1], 1), ([2, 2], 2)]
)
def test_a_gate_that_is_not_met_is_never_hidden_by_one_that_can_not_be_judged(
    codes: list[int], together: int
) -> None:
    gates = [unmet(str(number), code) for number, code in enumerate(codes)]
    assert exit_code(gates) == together


def test_the_error_holds_every_sentence_and_each_hint_once() -> None:
    assert error_of([]) == {}
    assert error_of([unmet("floor", 1), unmet("lost", 2)]) == {
        "error": {
            "code": "gateNotMet",
            "message": "floor is not met. lost is not met.",
            "hint": "Look.",
        }
    }
    unjudged = lost_gate(comparison(None, obstacle="not one case is the same in v1"))
    assert unjudged is not None
    assert error_of([unjudged])["error"]["code"] == "notComparable"


def comparison(outcome: Turned | None, **changes: object) -> BaselineComparison:
    values = {
        "name": "v1",
        "differs": (),
        "shared": (),
        "new": (),
        "gone": (),
        "changed": (),
        "passed_before": (),
        "outcome": outcome,
        "obstacle": None,
        "by_settings": None,
        "by_index": None,
    }
    return BaselineComparison(**(values | changes))


def test_lost_cases_are_named_those_that_must_pass_first() -> None:
    gate = lost_gate(comparison(Turned(won=(), lost=("a", "b", "c")), must_pass=frozenset({"c", "x"})))
    assert gate is not None
    assert (gate.code, gate.sentence) == (1, "Lost since the baseline v1: c (must pass), a, b.")
    assert lost_gate(comparison(Turned(won=("a",), lost=()))) is None


def test_what_can_not_be_compared_is_2_with_its_reason() -> None:
    gate = lost_gate(comparison(None, obstacle="the limit is 3, and was 5 in v1"))
    assert gate is not None
    assert gate.code == 2
    assert gate.sentence == (
        "What was lost since the baseline v1 can't be said: the limit is 3, and was 5 in v1."
    )


def test_junit_of_a_run_that_judged_nothing_is_one_test_in_error() -> None:
    told = junit_error_xml("“a” is <gone>.", suite="golden", details="line 2: a & b\x00")
    suite = ET.fromstring(told).find("testsuite")
    assert suite is not None
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("1", "0", "1")
    assert [(error.get("message"), error.text) for error in suite.iter("error")] == [
        ("“a” is <gone>.", "line 2: a & b")
    ]


def test_junit_fails_a_lost_case_and_each_further_gate_that_was_not_met() -> None:
    golden = parse_cases(
        "cases: [{id: a, question: q, expected: a.md}, {id: b, question: r, expected: b.md}]", file="c.yaml"
    )
    empty = Ranking(whole_set=(), threshold=None)
    told = junit_xml(
        judge_all(golden, [empty, empty]),
        suite="s",
        lost=["b"],
        causes={"b": "Its text was removed."},
        gates={"lost": "Lost: b.", "stale": None},
    )
    suite = ET.fromstring(told).find("testsuite")
    assert suite is not None
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("5", "2", "1")
    kinds = {test.get("name"): [inner.tag for inner in test] for test in suite}
    assert kinds == {"a": ["skipped"], "b": ["failure"], "floor": [], "lost": ["failure"], "stale": []}
    assert [inner.get("message") for test in suite for inner in test if test.get("name") == "b"] == [
        "r Its text was removed."
    ]
