"""What an answer has to say before its hits: degraded, cut, empty, and what to do about it."""

import streamlit as st

from medir.page_kit.frame import Frame
from medir.page_kit.signs import draw_badge
from medir.pages.search.asking import Asked, want_again, wants
from medir.pages.search.trial_numbers import count_fates
from rag_core.model import DegradedReason, Fate, Ranking
from rag_core.search.answer import Answer
from rag_core.words.degraded import why_degraded
from rag_core.words.numbers import measured
from rag_core.words.plurals import counted
from rag_core.words.signals import nothing_found

_REMEDIES = {
    DegradedReason.MODEL_MISMATCH: "Set MEDIR_EMBEDDING to the index's provider, or index again with the new model.",
    DegradedReason.PROVIDER: "Start the provider, then search again. Until then, words alone are searched.",
    DegradedReason.NO_VECTORS: "Index again while the embedding provider runs.",
    DegradedReason.SOME_VECTORS_MISSING: "Index again while the embedding provider runs: it fills the gaps.",
}


def draw_summary(answer: Answer, ranking: Ranking, *, trial: bool) -> None:
    """One line: how many hits of how many candidates, in how long; `trial` where numbers not in force rank them."""
    hits, total = len(ranking.hits), len(ranking.whole_set)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(
            f"**{counted(hits, 'hit')}** of {counted(total, 'candidate')}, {answer.timings.total_ms:.0f} ms"
        )
        if answer.found.degraded:
            draw_badge("degraded")
        if trial:
            draw_badge("trial")


def draw_degraded(answer: Answer) -> None:
    """Why the search was degraded, what applies instead, and what to do."""
    reason = answer.found.degraded_reason
    if not answer.found.degraded or reason is None:
        return
    st.warning(
        f"Degraded: {why_degraded(reason)}.{_threshold_told(answer)} {_REMEDIES[reason]}",
        icon=":material/warning:",
    )
    if answer.provider_reason:
        st.text(answer.provider_reason)


def _threshold_told(answer: Answer) -> str:
    """What became of the threshold; nothing where there is none to speak of."""
    if answer.found.vector_available:
        return ""
    if answer.ranking.threshold is not None:
        return f" The threshold for outages applies: {measured(answer.ranking.threshold)}."
    suspended = answer.settings.ranking.threshold is not None
    return " The threshold, made for two signals, is suspended." if suspended else ""


def draw_notices(asked: Asked) -> None:
    """What else is to be known of this answer."""
    answer = asked.answer
    if answer.settings_problem is not None:
        st.warning("The project's settings.yaml is not heeded.", icon=":material/rule:")
        st.text(answer.settings_problem)
    if answer.notice == "noSearchableTerms":
        st.info(
            "The question has no word that can be searched for (only stop words or signs), so it was answered "
            "by meaning alone.",
            icon=":material/short_text:",
        )
    if not asked.by_person:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.text("This question came with the address: its answer is shown, and nothing is recorded.")
            st.button("Ask now", key="ask-now", type="primary", on_click=wants())
    elif answer.search_id is None:
        st.info(
            "This search could not be recorded, so its hits can't be judged. The hits are sound.",
            icon=":material/cloud_off:",
        )
        if answer.not_recorded is not None:
            st.text(answer.not_recorded)


def draw_origin(view: Frame, asked: Asked) -> None:
    """Who asked and when, where that was before, and a way to ask again where the answer may be another now."""
    before_index = asked.is_before_index(view)
    if before_index:
        st.info("The index was made again since this was asked.", icon=":material/update:")
    if asked.asked_at is None and not before_index:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        if asked.asked_at is not None:
            asked_at = f"{asked.asked_at:%d %b %Y %H:%M} UTC"
            st.text(f"Asked {asked_at} by {asked.asked_by}. This is what was found then.")
        st.button("Search again", key="search-again", on_click=want_again)


def draw_empty(ranking: Ranking) -> None:
    """Why there is no hit, with how many candidates, and what to do."""
    cut = count_fates(ranking)[Fate.THRESHOLD]
    if not ranking.whole_set:
        st.info(
            f"Nothing was found: {nothing_found(ranking)}. Try other words, or another scope.",
            icon=":material/search_off:",
        )
        return
    best = ranking.whole_set[0].score
    told = "the only candidate; it" if cut == 1 else f"all {cut:,} candidates; the best"
    st.info(
        f"The threshold {measured(ranking.threshold)} removed {told} scores "
        f"{measured(best, 4)}. Either nothing here answers the question, or the threshold is too high for this "
        "model: move its slider to see what it hides.",
        icon=":material/filter_alt_off:",
    )
