"""How much each signal decides where the two disagree, beside the weight that it was given."""

import plotly.graph_objects as go

from rag_core.calibration.effective import EffectiveWeight
from rag_core.figures.layout import lay_out, say_empty
from rag_core.figures.palette import LEXICAL, VECTOR, Theme
from rag_core.model import RankingSettings
from rag_core.words.fusions import FUSION_NAMES
from rag_core.words.numbers import NOT_MEASURED
from rag_core.words.plurals import counted

HEIGHT = 210


def signal_shares(effective: EffectiveWeight, settings: RankingSettings, theme: Theme) -> go.Figure:
    """Two bars from 0 to 100 %, one a signal: the share of disputed pairs decided its way; a tick: its weight.

    Under a fusion that weighs nothing there is no tick. Without a disputed pair the figure says so.
    """
    figure = go.Figure()
    lay_out(figure, title="Who decides where the signals disagree", theme=theme, height=HEIGHT)
    figure.update_xaxes(title="share of disputed pairs", range=[0, 1.02], tickformat=".0%", fixedrange=True)
    figure.update_yaxes(fixedrange=True, autorange="reversed")
    if effective.vector is None or effective.lexical is None:
        return say_empty(figure, "Not measured: the signals disagree about no pair", theme)
    rows = (
        ("vector", effective.vector, settings.weight_vector, VECTOR),
        ("lexical", effective.lexical, settings.weight_lexical, LEXICAL),
    )
    for name, share, _, colour in rows:
        figure.add_bar(
            orientation="h",
            x=[share],
            y=[name],
            width=0.5,
            marker={"color": colour},
            text=[f"{share:.0%}"],
            textposition="inside" if share > 0.2 else "outside",
            textfont={"color": theme.ink if share <= 0.2 or colour == LEXICAL else "#FFFFFF"},
            hovertemplate=f"{name} decides %{{x:.1%}}<extra></extra>",
        )
    if settings.fusion.weighs:
        figure.add_scatter(
            x=[weight for _, _, weight, _ in rows],
            y=[name for name, *_ in rows],
            mode="markers",
            marker={"symbol": "line-ns", "size": 34, "line": {"width": 3, "color": theme.ink}},
            hovertemplate="weight of %{y}: %{x:.3f}<extra></extra>",
        )
    return figure


def told(effective: EffectiveWeight, settings: RankingSettings, cases: int) -> str:
    """The same in a sentence."""
    if effective.vector is None:
        return f"{NOT_MEASURED}: the signals order no pair of candidates differently."
    given = (
        f"its weight is {settings.weight_vector:.3g}"
        if settings.fusion.weighs
        else f"{FUSION_NAMES[settings.fusion]} gives both signals the same"
    )
    decided = f"{effective.vector:.0%} of disputed pairs (mean of {counted(cases, 'case')})"
    return f"The vector signal decides {decided}; {given}."
