"""A measure over the weight as exact steps, with the settings that are compared as marks."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import plotly.graph_objects as go

from rag_core.calibration.landscape import Outline
from rag_core.figures.layout import lay_out, say_empty, unseen_points
from rag_core.figures.palette import BASELINE, GOOD, Theme
from rag_core.figures.setting_marks import LEGEND, SettingMark, marker_of
from rag_core.metrics.intervals import Interval
from rag_core.metrics.measures import Measure

HEIGHT = 400
_PLACES = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedCurve:
    """The steps over some cases; `name` says which and may be anybody's text, `cases` how many are judged."""

    name: str
    steps: Outline
    cases: int


def weight_curve(
    measure: Measure,
    whole: NamedCurve | None,
    others: Sequence[NamedCurve],
    *,
    safe: Sequence[Interval],
    marks: Sequence[SettingMark],
    theme: Theme,
) -> go.Figure:
    """The curve of all cases in ink, others as thin lines, safe weights as a green band, settings as marks.

    `whole` is None where the measure judges no case, which the figure then says; `others` are held-out cases
    and those with a tag, at most two. Marks are drawn in their order, the last on top; the baseline has a
    dashed grey line of its value too.
    """
    figure = go.Figure()
    for number, curve in enumerate(others):
        _draw_steps(figure, curve, ink=theme.ink, width=1.2, dash=("solid", "dot")[number % 2])
    if whole is not None:
        _draw_steps(figure, whole, ink=theme.ink, width=2.6, dash="solid")
        _draw_places(figure, whole)
    for mark in marks:
        _draw_mark(figure, mark, theme)
    for number, run in enumerate(safe):
        figure.add_vrect(x0=run.low, x1=run.high, fillcolor=GOOD, opacity=0.13, line_width=0, layer="below")
        if number == 0:
            figure.add_scatter(
                x=[None],
                y=[None],
                mode="markers",
                name="safe weights",
                marker={"symbol": "square", "size": 13, "color": GOOD, "opacity": 0.3},
            )
    lay_out(
        figure,
        title=f"{measure} over the weight of the vector signal",
        theme=theme,
        height=HEIGHT,
        legend=True,
    )
    figure.update_layout(margin_t=40, legend=LEGEND, clickmode="event+select", dragmode=False)
    figure.update_xaxes(title="weight of the vector signal (the lexical has the rest)", range=[-0.015, 1.015])
    figure.update_yaxes(title=_unit(measure), tickformat=".0%" if measure.is_share_of_cases else ".2f")
    return figure if whole is not None else say_empty(figure, f"Not measured: no case for {measure}", theme)


def _unit(measure: Measure) -> str:
    return f"{measure}, share of cases" if measure.is_share_of_cases else f"{measure}, mean over cases"


def _draw_steps(figure: go.Figure, curve: NamedCurve, *, ink: str, width: float, dash: str) -> None:
    ends, inside = curve.steps.ends.tolist(), curve.steps.inside.tolist()
    figure.add_scatter(
        x=ends,
        y=[*inside, inside[-1]],
        mode="lines",
        name=f"{escape(curve.name)} (n = {curve.cases:,})",
        line={"color": ink, "width": width, "dash": dash, "shape": "hv"},
        hoverinfo="skip",
    )


def _draw_places(figure: go.Figure, curve: NamedCurve) -> None:
    """Invisible points along the curve: what can be hovered over and clicked on."""
    weights = [place / _PLACES for place in range(_PLACES + 1)]
    values = [curve.steps.value_at(weight) for weight in weights]
    figure.add_scatter(
        x=weights,
        y=values,
        **unseen_points(size=10),
        name="curve",
        hovertemplate="weight %{x:.2f}: %{y:.3f}<extra></extra>",
    )


def _draw_mark(figure: go.Figure, mark: SettingMark, theme: Theme) -> None:
    if mark.value is None:
        return
    if mark.role == "baseline":
        figure.add_hline(y=mark.value, line={"color": BASELINE, "dash": "dash", "width": 1.5})
    if mark.role == "at hand":
        figure.add_vline(x=mark.weight, line={"color": theme.ink, "width": 1})
    threshold = "none" if mark.threshold is None else f"{mark.threshold:.4g}"
    figure.add_scatter(
        x=[mark.weight],
        y=[mark.value],
        mode="markers",
        name=mark.name,
        marker=marker_of(mark.role, theme),
        unselected={"marker": {"opacity": 1}},
        hovertemplate=f"{mark.role}: weight %{{x:.4g}}, threshold {threshold}: %{{y:.3f}}<extra></extra>",
    )
