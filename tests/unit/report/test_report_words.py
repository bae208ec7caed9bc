"""The report's sentences: its answer, its gate as a small sign, and what is said where something is missing."""

import dataclasses

import pytest
from test_report_numbers import report

from medir.pages.report import words as report_words
from rag_core.metrics.intervals import difference_of_shares
from rag_core.report.numbers import NO_SEARCHES, SPLITS, Part, Percentiles, Precision, Report
from rag_core.report.words import gate, gate_broken, headline, hits_judged, no_vote


def part(**changes: object) -> Part:
    return dataclasses.replace(NO_SEARCHES, **changes)  # type: ignore[arg-type]


def measured(*, useful: int, votes: int, searches: int, no_hit: int = 0, p95: float = 840.0) -> Report:
    precision = dict(NO_SEARCHES.precision) | {5: Precision(useful=useful, votes=votes, judged_hits=votes)}
    latency = dict(NO_SEARCHES.latency) | {"total": Percentiles.of(searches, 100.0, p95, 900.0)}
    return report(
        part(searches=searches, no_hit=no_hit, shown=5 * searches, precision=precision, latency=latency)
    )


def test_weak_numbers_are_told_as_they_are_while_the_gate_is_met():
    # Wilson, 13 of 80: 0.0973 to 0.2588
    weak = measured(useful=13, votes=80, searches=60, no_hit=31)
    assert headline(weak) == (
        "16% of 80 votes on the first five hits say useful (95 % interval 10% to 26%).",
        "52% of 60 searches showed no hit; p95 latency 840 ms (n = 60).",
    )
    assert gate(weak) == "Vector signal ✓ 60 of 60"
    assert gate_broken(weak) == ""
    assert not any("assed" in sentence for sentence in headline(weak))


def test_what_there_is_none_of_is_not_measured():
    few = measured(useful=0, votes=0, searches=19)
    assert headline(few) == (
        "Useful share of votes: not measured, no vote.",
        "0% of 19 searches showed no hit; p95 latency not measured (n = 19, and it needs 20).",
    )
    assert headline(report()) == ("Not measured: the window holds no search.",)
    assert gate(report()) == "Vector signal — not measured"


def test_a_gate_that_failed_is_a_sign_with_what_it_means():
    out = report(part(searches=3, degraded=3, vector_unavailable=3))
    assert gate(out) == "Vector signal ✗ 0 of 3"
    assert gate_broken(out).startswith("The vector signal was available in none of 3 searches")
    assert headline(out) == (
        "Useful share of votes: not measured, every search was degraded.",
        "0% of 3 searches showed no hit; p95 latency not measured, every search was degraded.",
    )


@pytest.mark.parametrize(
    ("searches", "degraded", "hits", "vote"),
    [
        (0, 0, "no search", "no vote"),
        (4, 0, "no hit was shown", "no vote"),
        (
            4,
            1,
            "the searches that were not degraded showed no hit",
            "no vote on a search that was not degraded",
        ),
        (4, 4, "every search was degraded, so their hits are left out", "every search was degraded"),
    ],
)
def test_hits_and_votes_of_degraded_searches_are_left_out_and_not_denied(
    searches: int, degraded: int, hits: str, vote: str
):
    found = part(searches=searches, degraded=degraded)
    assert (hits_judged(found), no_vote(found)) == (hits, vote)


def test_a_difference_of_two_shares_has_newcombes_interval():
    # Newcombe 1998, table II, method 10: 56 of 70 less 48 of 80
    found = difference_of_shares(56, 70, 48, 80)
    assert found is not None
    assert (found.low, found.high) == (pytest.approx(0.0524, abs=5e-5), pytest.approx(0.3339, abs=5e-5))
    assert difference_of_shares(1, 2, 0, 0) is None


def test_a_difference_is_told_only_where_chance_does_not_explain_it():
    # 6 of 100 against 0 of one search: six points that say nothing
    assert report_words.difference(6, 100, 0, 1) is None
    assert report_words.compared(100, 1, None) == "too few to compare"
    # 30 of 60 against 24 of 60 lies between -0.08 and +0.27
    assert report_words.difference(30, 60, 24, 60) is None
    assert report_words.compared(60, 60, None) == "chance explains the difference"
    # Newcombe's example again, in points
    told = report_words.difference(56, 70, 48, 80)
    assert told == "+20 points (95 %: +5 to +33)"
    assert report_words.compared(70, 80, told) == ""
    assert report_words.compared(70, 0, None) == ""


def test_a_split_whose_parts_all_have_every_search_repeats_the_whole():
    whole = part(searches=4)
    same = dict.fromkeys(SPLITS, ()) | {
        "scope": (("adr", whole), ("docs", whole)),
        "model": (("none", whole),),
        "surface": (("app", part(searches=3)), ("cli", part(searches=1))),
    }
    made = report(whole, splits=same)
    assert [name for name in SPLITS if made.is_parted(name)] == ["surface"]
