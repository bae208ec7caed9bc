"""Candidates as the rows of a table: the same columns wherever candidates are listed."""

from collections.abc import Mapping

import streamlit as st
from streamlit.elements.lib.column_types import ColumnConfig

from medir.page_kit.signs import DASH, FATES
from rag_core.figures.palette import LEXICAL, VECTOR
from rag_core.model import RankedCandidate
from rag_core.words.signals import Absent

CANDIDATE_COLUMNS: Mapping[str, ColumnConfig] = {
    "hit": st.column_config.TextColumn("hit", width=45, help="Rank among the hits"),
    "whole": st.column_config.NumberColumn("whole", width=60, help="Rank in the whole set"),
    "mark": st.column_config.TextColumn("", width=30, help="→ an expected place"),
    "citation": st.column_config.TextColumn("citation", width="medium"),
    "vector": st.column_config.ProgressColumn(
        "vector", format="%.3f", min_value=0, max_value=1, color=VECTOR, width=110
    ),
    "lexical": st.column_config.ProgressColumn(
        "lexical", format="%.3f", min_value=0, max_value=1, color=LEXICAL, width=110
    ),
    "score": st.column_config.NumberColumn("score", format="%.4f", width=75),
    "crossing": st.column_config.TextColumn(
        "beaten at weight", width=130, help="Vector weights at which the expected chunk stands above it"
    ),
    "fate": st.column_config.TextColumn("fate", width=100, help="Shown, or what removed it"),
    "text": st.column_config.TextColumn("text", width="large"),
}


def candidate_cells(entry: RankedCandidate, missing: Absent) -> dict[str, object]:
    """One candidate's cells, all but `mark` and `text`; `missing` stands where a signal has no rank for it."""
    candidate = entry.candidate
    return {
        "hit": DASH if entry.rank is None else str(entry.rank),
        "whole": entry.whole_rank,
        "fate": FATES[entry.fate],
        "citation": candidate.origin.citation,
        "vector": candidate.vector_score,
        "lexical": candidate.lexical_score,
        "score": entry.score,
        "vector rank": missing.vector if candidate.vector_rank is None else str(candidate.vector_rank),
        "lexical rank": missing.lexical if candidate.lexical_rank is None else str(candidate.lexical_rank),
    }
