"""What each signal gave a hit: two small bars on one scale, without axes of their own."""

import plotly.graph_objects as go

from rag_core.figures.layout import FONT
from rag_core.figures.palette import LEXICAL, VECTOR, Theme
from rag_core.model import Candidate, RankingSettings
from rag_core.words.signals import Absent

HEIGHT = 92


def signal_bars(candidate: Candidate, settings: RankingSettings, theme: Theme, missing: Absent) -> go.Figure:
    """Two bars from 0 to 1, each with its score and its rank in its list; a word where a signal lacks it."""
    vector = words_for(candidate.vector_score, candidate.vector_rank, missing.vector)
    lexical = words_for(candidate.lexical_score, candidate.lexical_rank, missing.lexical)
    parts = (
        ("lexical", candidate.lexical_score, lexical, settings.weight_lexical, LEXICAL),
        ("vector", candidate.vector_score, vector, settings.weight_vector, VECTOR),
    )
    figure = go.Figure()
    figure.add_bar(
        orientation="h",
        y=[name for name, *_ in parts],
        x=[max(0.0, score or 0.0) for _, score, *_ in parts],
        marker={"color": [colour for *_, colour in parts]},
        width=0.42,
        customdata=[[told, weight] for _, _, told, weight, _ in parts],
        hovertemplate="%{y} %{customdata[0]}, weight %{customdata[1]:.2f}<extra></extra>",
    )
    for name, _, told, *_ in parts:
        figure.add_annotation(
            x=0,
            y=name,
            yshift=17,
            text=f"{name} {told}",
            showarrow=False,
            xanchor="left",
            font={"size": 12, "color": theme.ink},
        )
    figure.update_layout(
        height=HEIGHT,
        margin={"l": 0, "r": 0, "t": 14, "b": 0},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"family": FONT},
        showlegend=False,
    )
    figure.update_xaxes(range=[0, 1], visible=False, fixedrange=True)
    figure.update_yaxes(visible=False, fixedrange=True)
    return figure


def words_for(score: float | None, rank: int | None, missing: str) -> str:
    """A signal's score and rank as they are read; where it has neither, the word for what is missing."""
    return f"— {missing}" if score is None or rank is None else f"{score:.3f}, rank {rank}"
