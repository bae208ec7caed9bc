"""All candidates of an answer in order, each with its fate."""

import pandas as pd
import streamlit as st

from medir.page_kit.candidate_table import CANDIDATE_COLUMNS, candidate_cells
from medir.page_kit.signs import DASH
from rag_core.model import Ranking
from rag_core.words.signals import absent


def draw_whole_set(ranking: Ranking) -> None:
    """The table; nothing where there is no candidate."""
    if ranking.whole_set:
        st.dataframe(
            pd.DataFrame([candidate_cells(entry, absent(ranking)) for entry in ranking.whole_set]),
            key="whole-set-table",
            hide_index=True,
            placeholder=DASH,
            column_config=CANDIDATE_COLUMNS,
        )
