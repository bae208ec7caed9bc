"""How much of each scope is in the index: a bar of its sources, and under it a bar of its chunks."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from rag_core.figures.layout import lay_out, say_empty
from rag_core.figures.palette import BAD, BASELINE, GOOD, VECTOR, Theme
from rag_core.words.numbers import NOT_MEASURED
from rag_core.words.plurals import counted

TITLE = "How much of each scope is in the index"
_BAR = 13
_LINE = 16
_BETWEEN_BARS = 12
_BETWEEN_SCOPES = 14


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeBar:
    """One scope in counts. The four of its sources are None together, where the repository can't be read.

    `unit` names the sources, in the plural. `covered` have their text in the index, `without_text` hold none,
    `faulty` could not be indexed, `pointers` hold their text elsewhere, `waiting` were not read yet; together they
    are all sources.
    """

    name: str
    unit: str
    covered: int | None
    without_text: int | None
    faulty: int | None
    pointers: int | None
    waiting: int | None
    chunks: int
    without_vector: int

    @property
    def sources(self) -> int | None:
        """All of them, None where that is not measured."""
        parts = (self.covered, self.without_text, self.faulty, self.pointers, self.waiting)
        return None if None in parts else sum(part or 0 for part in parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    name: str
    count: int
    colour: str
    pattern: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    told: tuple[str, ...]
    parts: tuple[_Part, ...]
    opens_scope: bool

    @property
    def height(self) -> int:
        return len(self.told) * _LINE + _BAR + (_BETWEEN_SCOPES if self.opens_scope else 0) + _BETWEEN_BARS


def coverage_bars(scopes: Sequence[ScopeBar], theme: Theme) -> go.Figure:
    """Two bars a scope from 0 to 100 %: its sources, and its chunks. Each is told in words above it.

    Green is in the index, vermilion crosses could not be indexed, slanted lines wait or lack a vector, grey has no
    text, or with dots an LFS pointer in its place.
    A scope without sources has an empty bar; without scopes the figure says that nothing is there.
    """
    figure = go.Figure()
    rows = [row for scope in scopes for row in _rows(scope, theme)]
    height = sum(row.height for row in rows) + _BETWEEN_BARS
    lay_out(figure, title=TITLE, theme=theme, height=height + 96 if rows else 160)
    figure.update_layout(barmode="stack", showlegend=False, margin={"l": 16, "r": 20})
    figure.update_xaxes(
        title="share of the sources, and of the chunks",
        range=[0, 1],
        tickvals=[0, 0.25, 0.5, 0.75, 1],
        tickformat=".0%",
        ticklabeloverflow="allow",
        fixedrange=True,
        showgrid=False,
    )
    # one unit is one pixel, so that words and bars keep their distance whatever the number of lines
    figure.update_yaxes(range=[0, max(height, 1)], visible=False, fixedrange=True)
    top = height
    for row in rows:
        _draw_row(figure, row, top=top, theme=theme)
        top -= row.height
    return figure if rows else say_empty(figure, "No scope yet", theme)


def told_of_sources(scope: ScopeBar) -> tuple[str, ...]:
    """The sources in words: what is in the index, then, where there is any, what is not."""
    if scope.sources is None or scope.covered is None:
        return (f"{scope.name}: {scope.unit} {NOT_MEASURED}",)
    if scope.sources == 0:
        return (f"{scope.name}: no {scope.unit}",)
    first = f"{scope.name}: {scope.covered:,} of {scope.sources:,} {scope.unit} in the index"
    rest = [
        told
        for count, told in (
            (scope.faulty, f"✗ {scope.faulty or 0:,} could not be indexed"),
            (scope.waiting, f"○ {scope.waiting or 0:,} not read yet"),
            (scope.pointers, counted(scope.pointers or 0, "LFS pointer")),
            (scope.without_text, f"{scope.without_text or 0:,} without text"),
        )
        if count
    ]
    return (first, " · ".join(rest)) if rest else (first,)


def told_of_chunks(scope: ScopeBar) -> str:
    """The chunks in words."""
    if scope.chunks == 0:
        return "no chunks"
    chunks = "1 chunk" if scope.chunks == 1 else f"{scope.chunks:,} chunks"
    if scope.without_vector == 0:
        return f"{chunks}, each with a vector"
    return f"{chunks}, ✗ {scope.without_vector:,} without a vector"


def _rows(scope: ScopeBar, theme: Theme) -> Iterator[_Row]:
    yield _Row(
        told=told_of_sources(scope),
        opens_scope=True,
        parts=(
            _Part(name="in the index", count=scope.covered or 0, colour=GOOD),
            _Part(name="without text", count=scope.without_text or 0, colour=BASELINE),
            _Part(name="LFS pointers", count=scope.pointers or 0, colour=BASELINE, pattern="."),
            _Part(name="could not be indexed", count=scope.faulty or 0, colour=BAD, pattern="x"),
            _Part(name="not read yet", count=scope.waiting or 0, colour=theme.ink, pattern="/"),
        ),
    )
    yield _Row(
        told=(told_of_chunks(scope),),
        opens_scope=False,
        parts=(
            _Part(name="with a vector", count=scope.chunks - scope.without_vector, colour=VECTOR),
            _Part(name="without a vector", count=scope.without_vector, colour=BAD, pattern="/"),
        ),
    )


def _draw_row(figure: go.Figure, row: _Row, *, top: int, theme: Theme) -> None:
    if row.opens_scope:
        top -= _BETWEEN_SCOPES
    for line, words in enumerate(row.told):
        figure.add_annotation(
            x=0,
            y=top - line * _LINE,
            text=f"<b>{words}</b>" if row.opens_scope and line == 0 else words,
            showarrow=False,
            xanchor="left",
            yanchor="top",
            align="left",
            borderpad=0,
            font={"size": 12, "color": theme.ink},
        )
    middle = top - len(row.told) * _LINE - 4 - _BAR / 2
    figure.add_shape(
        type="rect",
        x0=0,
        x1=1,
        y0=middle - _BAR / 2,
        y1=middle + _BAR / 2,
        line={"width": 0},
        fillcolor=theme.grid,
        layer="below",
    )
    total = sum(part.count for part in row.parts)
    for part in row.parts:
        if part.count:
            figure.add_bar(
                orientation="h",
                y=[middle],
                x=[part.count / total],
                width=_BAR,
                name=part.name,
                marker={
                    "color": part.colour,
                    "line": {"width": 0},
                    "pattern": {"shape": part.pattern, "fillmode": "replace", "size": 6, "solidity": 0.45},
                },
                customdata=[[part.count, total]],
                hovertemplate=f"%{{customdata[0]:,}} of %{{customdata[1]:,}} {part.name}<extra></extra>",
            )
