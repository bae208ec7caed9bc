"""A figure on a page: in the page's own inks, and with what a click on one of its points does."""

from collections.abc import Callable

import plotly.graph_objects as go
import streamlit as st

from rag_core.figures.layout import CONFIG


def draw_figure(figure: go.Figure, *, key: str, on_point: Callable[[], None] | None = None) -> None:
    """The figure; its points can be selected where `on_point` is given."""
    if on_point is None:
        st.plotly_chart(figure, key=key, config=CONFIG, theme=None)
    else:
        st.plotly_chart(
            figure, key=key, config=CONFIG, theme=None, on_select=on_point, selection_mode="points"
        )
