"""Figures as data: what they show, for what there is and for nothing."""

import base64
import datetime as dt
from dataclasses import replace

import pytest

from golden_material import by_vector, chunk, found
from rag_core.figures.case_flow import case_flow, count_flow
from rag_core.figures.floor_history import FloorPoint, floor_history
from rag_core.figures.palette import BAD, DARK, GOOD, LEXICAL, LIGHT, VECTOR
from rag_core.figures.rank_strip import position, rank_strip
from rag_core.figures.signal_bars import signal_bars, words_for
from rag_core.golden.cases import GoldenCase
from rag_core.golden.verdicts import expected_entries
from rag_core.model import CandidateSet, DegradedReason, Place, RankingSettings
from rag_core.ranking.ranking import rank
from rag_core.words.signals import Absent, absent, in_no_list, nothing_found

HALF = RankingSettings(weight_vector=0.5, weight_lexical=0.5, threshold=0.2, max_per_file=1, limit=1)
MORNING = dt.datetime(2026, 1, 2, 8, 0, tzinfo=dt.UTC)


def svg_of(address: str) -> str:
    kind, _, data = address.partition(",")
    assert kind == "data:image/svg+xml;base64"
    return base64.b64decode(data).decode()


def strip(*, vector_ran: bool = True, **ranks: int | None) -> str:
    given = {"vector_rank": None, "lexical_rank": None, "whole_rank": None, "rank": None} | ranks
    return svg_of(rank_strip(**given, limit=5, theme=LIGHT, vector_ran=vector_ran))


def a_point(hour: int, passed: int, floor: int, *, gate_passed: bool = True) -> FloorPoint:
    at = MORNING + dt.timedelta(hours=hour)
    return FloorPoint(at=at, passed=passed, total=10, floor=floor, gate_passed=gate_passed)


def test_ranks_stand_on_one_logarithmic_scale_and_absence_behind_its_end():
    assert position(1) < position(2) < position(200) < position(None)
    # the square root of 200 stands in the middle of a logarithmic scale
    assert position(200**0.5) == pytest.approx((position(1) + position(200)) / 2)
    assert position(5000) == position(200)


def test_a_hit_has_a_ring_and_a_removed_case_a_cross():
    hit = strip(vector_rank=3, lexical_rank=1, whole_rank=2, rank=2)
    removed = strip(vector_rank=30, whole_rank=17)
    assert f'stroke="{GOOD}"' in hit
    assert BAD not in hit
    assert f'stroke="{BAD}"' in removed
    assert f'stroke="{GOOD}"' not in removed


def test_a_strip_is_made_of_numbers_alone():
    assert "<text" not in strip(vector_rank=3, lexical_rank=1, whole_rank=2, rank=2)


def test_the_fused_place_is_drawn_in_the_ink_of_the_page():
    dark = svg_of(rank_strip(vector_rank=1, lexical_rank=1, whole_rank=1, rank=1, limit=5, theme=DARK))
    assert DARK.ink in dark
    assert LIGHT.ink not in dark


def test_a_flow_counts_every_candidate_once_at_each_side():
    # vector 0.9 x 0.5 = 0.45; the second of one file is over the cap; 0.3 x 0.5 is under 0.2
    ranking = rank(
        found(
            chunk("a.md", vector=(0.9, 1), lexical=(0.1, 1)),
            chunk("a.md", ordinal=1, vector=(0.8, 2)),
            chunk("b.md", vector=(0.6, 3)),
            chunk("c.md", lexical=(0.05, 2)),
        ),
        HALF,
    )
    counts = count_flow(ranking)
    assert counts.sources == {"vector only": 2, "both signals": 1, "lexical only": 1}
    assert counts.ends == {
        "hits": 1,
        "beyond the limit": 1,
        "over the file cap": 1,
        "under the threshold": 1,
    }


def test_the_expected_chunks_way_is_drawn_in_the_colour_of_its_end():
    candidates = by_vector(("a.md", 0.9), ("b.md", 0.8))
    for place, colour in (("a.md", GOOD), ("b.md", BAD)):
        ranking = rank(candidates, HALF)
        case = GoldenCase(id="x", question="x", expected=(Place.parse(place),))
        figure = case_flow(ranking, expected_entries(case, ranking)[0], LIGHT)
        colours = figure.data[0].link.color
        assert list(colours[-2:]) == [colour, colour]
        assert figure.layout.title.text == "From 2 candidates to 1 hit"


def test_a_flow_of_nothing_says_so():
    figure = case_flow(rank(found(), HALF), None, LIGHT)
    assert not figure.data
    assert figure.layout.annotations[0].text == "No candidate"


def test_the_history_draws_what_passed_over_a_named_dashed_floor():
    figure = floor_history([a_point(0, 8, 7), a_point(5, 6, 7, gate_passed=False)], LIGHT)
    floor, passed = figure.data
    assert (floor.name, floor.line.dash, list(floor.y)) == ("floor", "dash", [7, 7])
    assert (passed.name, list(passed.y)) == ("passed", [8, 6])
    # a fallen run differs by form as well as by colour
    assert list(passed.marker.symbol) == ["circle", "x"]
    assert list(passed.marker.color) == [GOOD, BAD]
    assert figure.layout.xaxis.title.text == "time of the run (UTC)"
    assert figure.layout.yaxis.title.text == "cases"
    assert figure.layout.title.text == "Cases passed in each run, over the floor"


def test_a_lone_run_stands_on_an_hour():
    figure = floor_history([a_point(0, 8, 7)], LIGHT)
    start, end = figure.layout.xaxis.range
    assert end - start == dt.timedelta(hours=1)


def test_a_history_of_nothing_says_so():
    assert floor_history([], LIGHT).layout.annotations[0].text == "No run yet"


BOTH_RAN = Absent(vector="not found", lexical="not found")


def test_a_signal_that_was_not_run_is_not_said_to_have_found_nothing():
    found = CandidateSet(
        candidates=(chunk("a.md", lexical=(0.9, 1)),),
        vector_available=False,
        degraded=True,
        degraded_reason=DegradedReason.PROVIDER,
        searchable_terms=2,
    )
    ranking = rank(found, HALF)
    assert absent(ranking) == Absent(vector="not run", lexical="not found")
    figure = signal_bars(found.candidates[0], HALF, LIGHT, absent(ranking))
    assert {note.text for note in figure.layout.annotations} == {"vector — not run", "lexical 0.900, rank 1"}
    assert in_no_list(ranking) == "not in the lexical list, and the vector signal was not run"
    assert (
        nothing_found(ranking) == "the lexical signal found no candidate, and the vector signal was not run"
    )
    # a question without any word to search for: the other way round
    of_signs = replace(found, vector_available=True, degraded=False, degraded_reason=None, searchable_terms=0)
    assert absent(rank(of_signs, HALF)) == Absent(vector="not found", lexical="not run")
    both = rank(replace(of_signs, searchable_terms=1), HALF)
    assert (in_no_list(both), nothing_found(both)) == (
        "in neither signal's list",
        "neither signal found a candidate",
    )


def test_the_strip_of_a_case_has_no_disc_for_a_vector_signal_that_was_not_run():
    given = {"vector_rank": None, "lexical_rank": 2, "whole_rank": 2, "rank": 2}
    assert VECTOR in strip(**given)
    assert VECTOR not in strip(**given, vector_ran=False)


def test_a_signal_that_did_not_find_the_chunk_is_a_dash_and_no_score():
    figure = signal_bars(chunk("a.md", vector=(0.42, 3)), HALF, LIGHT, BOTH_RAN)
    assert list(figure.data[0].marker.color) == [LEXICAL, VECTOR]
    assert list(figure.data[0].x) == [0.0, 0.42]
    assert {note.text for note in figure.layout.annotations} == {
        "lexical — not found",
        "vector 0.420, rank 3",
    }


def test_a_negative_cosine_is_told_and_draws_no_bar():
    figure = signal_bars(chunk("a.md", vector=(-0.1, 9)), HALF, LIGHT, BOTH_RAN)
    assert list(figure.data[0].x) == [0.0, 0.0]
    assert words_for(-0.1, 9, BOTH_RAN.vector) == "-0.100, rank 9"
