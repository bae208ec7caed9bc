"""Golden runs for other tools: the ranking shown is the ranking that they judge."""

import itertools

import ir_measures
import numpy as np
from ir_measures import ScoredDoc

from golden_material import VECTOR_ONLY, by_vector
from rag_core.formats.junit import junit_xml
from rag_core.formats.trec import trec_qrels, trec_run
from rag_core.golden.cases import GoldenCase, GoldenSet
from rag_core.golden.verdicts import judge_all
from rag_core.model import Place, RankingSettings
from rag_core.ranking.ranking import rank

FIVE = RankingSettings(weight_vector=1.0, weight_lexical=0.0, threshold=None, max_per_file=None, limit=5)


def case(name: str, *places: str) -> GoldenCase:
    return GoldenCase(id=name, question=f"{name}?", expected=tuple(Place.parse(place) for place in places))


def measured(run: str, qrels: str, name: str) -> float:
    """Another library's value, which sorts by score and breaks ties as it likes."""
    wanted = [
        ir_measures.Qrel(q, place, int(gain)) for q, _, place, gain in map(str.split, qrels.splitlines())
    ]
    scored = [
        ScoredDoc(q, place, float(np.float32(score)))
        for q, _, place, _, score, _ in map(str.split, run.splitlines())
    ]
    return ir_measures.calc_aggregate([ir_measures.parse_measure(name)], wanted, scored)[
        ir_measures.parse_measure(name)
    ]


def test_hits_become_places_with_ranks_closed_up_and_gains_of_one() -> None:
    ranking = rank(by_vector(("a.md", 0.75), ("a.md", 0.5), ("b.md", 0.25)), FIVE)
    one = case("q", "b.md", "session:s")

    assert trec_run((one,), (ranking,)) == "q Q0 a.md 1 0.75 medir\nq Q0 b.md 2 0.25 medir\n"
    assert trec_qrels((one,)) == "q 0 b.md 1\nq 0 session:s 1\n"


def test_tied_scores_are_written_strictly_falling_so_that_no_tool_sorts_them_again() -> None:
    ties = by_vector(*((f"{name}.md", 0.5) for name in "abcde"))
    run = trec_run((case("q", "a.md"),), (rank(ties, FIVE),))
    scores = [np.float32(line.split()[4]) for line in run.splitlines()]

    assert [line.split()[2] for line in run.splitlines()] == [f"{name}.md" for name in "abcde"]
    assert all(later < earlier for earlier, later in itertools.pairwise(scores))
    assert measured(run, trec_qrels((case("q", "a.md"),)), "P@1") == 1.0
    assert measured(run, trec_qrels((case("q", "e.md"),)), "RR") == 0.2


def test_scores_that_differ_only_beyond_32_bits_keep_their_order() -> None:
    close = by_vector(("z.md", 0.5 + 1e-12), ("a.md", 0.5))
    run = trec_run((case("q", "z.md"),), (rank(close, FIVE),))

    assert measured(run, trec_qrels((case("q", "z.md"),)), "P@1") == 1.0


def test_names_with_white_space_stay_one_word_in_both_files() -> None:
    odd = case("um caso", "docs/à mão 100%.md")
    run = trec_run((odd,), (rank(by_vector(("docs/à mão 100%.md", 0.5)), FIVE),))

    assert run == "um%20caso Q0 docs/à%20mão%20100%25.md 1 0.5 medir\n"
    assert trec_qrels((odd,)) == "um%20caso 0 docs/à%20mão%20100%25.md 1\n"


def test_a_case_without_answer_is_not_judged_and_one_without_hits_has_no_line() -> None:
    silent = GoldenCase(id="nada", question="Vulcões?", no_answer=True)

    assert trec_qrels((silent,)) == ""
    assert trec_run((silent,), (rank(by_vector(), FIVE),)) == ""


def test_junit_fails_what_the_gate_fails_and_skips_what_the_floor_allows() -> None:
    lost = GoldenCase(id="perdido", question='Onde "fica"?', expected=(Place("file", "x.md"),))
    strict = GoldenCase(id="firme", question="Onde?", expected=(Place("file", "x.md"),), must_pass=True)
    golden = GoldenSet(floor=1, limit=2, cases=(case("achado", "a.md"), lost, strict))
    ranking = rank(by_vector(("a.md", 0.5)), VECTOR_ONLY)
    text = junit_xml(judge_all(golden, (ranking,) * 3), suite="golden.entrega")

    assert '<testsuite name="golden.entrega" tests="4" failures="1" skipped="1">' in text
    assert '<testcase name="achado" classname="golden.entrega"/>' in text
    assert text.count("<failure ") == 1
    assert (
        'name="perdido" classname="golden.entrega"><skipped message=\'Onde "fica"? Removed by candidates'
        in text
    )
    assert '<testcase name="floor" classname="golden.entrega"/>' in text


def test_junit_fails_the_floor_that_is_missed_or_was_lowered() -> None:
    golden = GoldenSet(floor=1, limit=2, cases=(case("q", "x.md"),))
    missed = judge_all(golden, (rank(by_vector(("a.md", 0.5)), VECTOR_ONLY),))
    met = judge_all(golden, (rank(by_vector(("x.md", 0.5)), VECTOR_ONLY),))

    assert '<failure message="0 of 1 pass, and the floor is 1"/>' in junit_xml(missed, suite="s")
    assert "<failure " not in junit_xml(met, suite="s")
    assert '<failure message="It was 2 once."/>' in junit_xml(met, suite="s", floor_fall="It was 2 once.")
