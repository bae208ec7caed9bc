"""What embeds: whether it answers, and what to do where it does not."""

import streamlit as st

from medir.page_kit.plain_text import escaped
from medir.page_kit.signs import FAILED, PASSED, model_name
from medir.pages.index.reads import ProviderState
from rag_core.words.plurals import counted


def draw_provider(state: ProviderState, *, without_vector: int) -> None:
    """The provider in a box. `without_vector` counts the chunks that wait for it."""
    with st.container(border=True, key="provider"):
        st.markdown("**Embedding provider**")
        if state.model_id is None:
            _draw_away(state)
        elif state.mismatch:
            _draw_mismatch(state)
        else:
            st.text(f"{PASSED} {state.found} answers")
            if without_vector:
                st.text(
                    f"{counted(without_vector, 'chunk waits', 'chunks wait')} for a vector: "
                    "an incremental run makes what is missing."
                )
        st.caption(f"Asked for: MEDIR_EMBEDDING={escaped(state.configured)}")


def _draw_away(state: ProviderState) -> None:
    st.error("It does not answer", icon=":material/cloud_off:")
    st.text(state.found)
    if state.remedy:
        st.text(state.remedy)
    if not state.can_serve:
        st.text(
            f"The index was made by {model_name(state.index_model)}, which this provider can't stand in for. Set "
            "MEDIR_EMBEDDING to auto, and it goes on with the index's own."
        )
        return
    st.text(
        "Until then searches go by words alone. A run leaves new chunks without a vector, and a later one fills them."
    )


def _draw_mismatch(state: ProviderState) -> None:
    st.error("It is not the model that made the index", icon=":material/difference:")
    st.text(f"{FAILED} index: {model_name(state.index_model)}; provider: {model_name(state.model_id)}")
    st.text(
        "Vectors of two models can't be compared, so searches go by words alone. Configure the index's model again, or "
        "change the model by a full run over everything."
    )
