"""The coverage figure: what each bar is made of, what is told above it, and that nothing is left out."""

import itertools

import plotly.graph_objects as go
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_core.figures.coverage import TITLE, ScopeBar, coverage_bars, told_of_chunks, told_of_sources
from rag_core.figures.palette import DARK, LIGHT

DOCUMENTS = ScopeBar(
    name="documents",
    unit="files",
    covered=6,
    without_text=1,
    faulty=1,
    pointers=1,
    waiting=1,
    chunks=40,
    without_vector=10,
)
WHOLE = ScopeBar(
    name="decisions",
    unit="files",
    covered=3,
    without_text=0,
    faulty=0,
    pointers=0,
    waiting=0,
    chunks=12,
    without_vector=0,
)
UNREADABLE = ScopeBar(
    name="documents",
    unit="files",
    covered=None,
    without_text=None,
    faulty=None,
    pointers=None,
    waiting=None,
    chunks=1,
    without_vector=0,
)
NOTHING = ScopeBar(
    name="sessions",
    unit="sessions",
    covered=0,
    without_text=0,
    faulty=0,
    pointers=0,
    waiting=0,
    chunks=0,
    without_vector=0,
)

counts = st.integers(min_value=0, max_value=10_000)


@st.composite
def scope_bars(draw: st.DrawFn) -> ScopeBar:
    chunks = draw(counts)
    return ScopeBar(
        name="documents",
        unit="files",
        covered=draw(counts),
        without_text=draw(counts),
        faulty=draw(counts),
        pointers=draw(counts),
        waiting=draw(counts),
        chunks=chunks,
        without_vector=draw(st.integers(min_value=0, max_value=chunks)),
    )


def shares(figure: go.Figure) -> dict[str, float]:
    return {bar.name: bar.x[0] for bar in figure.data}


def words(figure: go.Figure) -> list[str]:
    return [annotation.text for annotation in figure.layout.annotations]


def test_ten_files_and_forty_chunks_are_drawn_by_their_shares() -> None:
    assert shares(coverage_bars([DOCUMENTS], LIGHT)) == {
        "in the index": 0.6,
        "without text": 0.1,
        "could not be indexed": 0.1,
        "LFS pointers": 0.1,
        "not read yet": 0.1,
        "with a vector": 0.75,
        "without a vector": 0.25,
    }


def test_what_is_missing_is_told_in_words_above_the_bar() -> None:
    assert words(coverage_bars([DOCUMENTS], LIGHT)) == [
        "<b>documents: 6 of 10 files in the index</b>",
        "✗ 1 could not be indexed · ○ 1 not read yet · 1 LFS pointer · 1 without text",
        "40 chunks, ✗ 10 without a vector",
    ]


def test_a_whole_scope_has_no_line_of_what_is_missing() -> None:
    assert told_of_sources(WHOLE) == ("decisions: 3 of 3 files in the index",)
    assert told_of_chunks(WHOLE) == "12 chunks, each with a vector"


def test_sources_that_can_not_be_read_are_not_measured_and_never_zero() -> None:
    assert told_of_sources(UNREADABLE) == ("documents: files — not measured",)
    assert told_of_chunks(UNREADABLE) == "1 chunk, each with a vector"
    assert shares(coverage_bars([UNREADABLE], LIGHT)) == {"with a vector": 1.0}


def test_a_scope_without_sources_has_an_empty_bar_and_says_so() -> None:
    figure = coverage_bars([NOTHING], LIGHT)
    assert shares(figure) == {}
    assert words(figure) == ["<b>sessions: no sessions</b>", "no chunks"]
    assert len(figure.layout.shapes) == 2


def test_without_scopes_the_figure_says_that_there_is_none() -> None:
    assert words(coverage_bars([], LIGHT)) == ["No scope yet"]


def test_the_figure_has_a_title_and_a_named_axis_that_runs_to_100_percent() -> None:
    figure = coverage_bars([DOCUMENTS, WHOLE], LIGHT)
    assert figure.layout.title.text == TITLE
    assert figure.layout.xaxis.title.text == "share of the sources, and of the chunks"
    assert tuple(figure.layout.xaxis.range) == (0, 1)


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_words_take_the_ink_of_the_theme(theme) -> None:
    annotations = coverage_bars([DOCUMENTS], theme).layout.annotations
    assert {annotation.font.color for annotation in annotations} == {theme.ink}


def test_the_same_sign_never_stands_for_two_things_in_one_bar() -> None:
    files = [bar for bar in coverage_bars([DOCUMENTS], LIGHT).data if "vector" not in bar.name]
    signs = [(bar.marker.color, bar.marker.pattern.shape) for bar in files]
    assert len(set(signs)) == len(files) == 5


@given(scope_bars())
def test_the_parts_of_a_bar_fill_it_exactly_or_are_not_there(scope: ScopeBar) -> None:
    drawn = shares(coverage_bars([scope], LIGHT))
    of_chunks = [share for name, share in drawn.items() if "vector" in name]
    of_sources = [share for name, share in drawn.items() if "vector" not in name]
    assert sum(of_chunks) == pytest.approx(1) if scope.chunks else of_chunks == []
    assert sum(of_sources) == pytest.approx(1) if scope.sources else of_sources == []


@given(st.lists(scope_bars(), min_size=1, max_size=3))
def test_no_word_and_no_bar_overlaps_another(scopes: list[ScopeBar]) -> None:
    figure = coverage_bars(scopes, LIGHT)
    tops = [annotation.y for annotation in figure.layout.annotations]
    tracks = [(shape.y1, shape.y0) for shape in figure.layout.shapes]
    spans = sorted([(top, top - 16) for top in tops] + tracks, reverse=True)
    assert all(above[1] >= below[0] for above, below in itertools.pairwise(spans))
    assert spans[-1][1] >= 0
