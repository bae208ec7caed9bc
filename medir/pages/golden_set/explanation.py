"""A golden case explained: what would make it pass, its candidates' way, and who stands above it."""

import streamlit as st

from medir.page_kit.candidate_table import CANDIDATE_COLUMNS, candidate_cells
from medir.page_kit.choosing import draw_table
from medir.page_kit.figures import draw_figure
from medir.page_kit.plain_text import draw_text
from medir.page_kit.signs import FAILED, FATES, LOST, PASSED, theme
from rag_core.evaluation.explanation import CaseExplanation
from rag_core.figures.case_flow import case_flow
from rag_core.golden.verdicts import expected_entries
from rag_core.model import RankedCandidate, Ranking
from rag_core.search.excerpts import cut_short
from rag_core.words.settings import settings_at_a_glance
from rag_core.words.signals import absent, in_no_list

_PREVIEW_CHARS = 240
_ABOVE = 40


def draw_explanation(explained: CaseExplanation, *, recorded: bool) -> None:
    """The case as today's index and settings answer it; `recorded` is the verdict of the run in view."""
    verdict, case = explained.verdict, explained.verdict.case
    st.subheader(
        f"{PASSED if verdict.passed else FAILED} This case {'passes' if verdict.passed else 'fails'}",
        anchor=False,
    )
    with st.container(gap="xxsmall"):
        st.text(f"case {case.id}")
        draw_text(case.question, key=f"question-{case.id}")
        if explained.left_out:
            st.text(f"not searched for: {', '.join(explained.left_out)}")
        st.text("expects " + (" or ".join(str(place) for place in case.expected) or "no hit at all"))
        if case.note:
            st.text(f"note: {case.note}")
    if verdict.passed != recorded:
        st.info(
            "The index or the settings have changed since the run in view: its verdict was the other one."
        )
    if explained.lost_because:
        with st.container(gap="xxsmall"):
            st.markdown("**What happened**")
            st.text(f"It passed in {explained.passed_in}.")
            for cause in explained.lost_because:
                st.text(f"{LOST} {cause.sentence}")
    if explained.remedies:
        with st.container(gap="xxsmall"):
            st.markdown("**What would make it pass**")
            for remedy in explained.remedies:
                st.text(f"→ {remedy.sentence}")
    entries = expected_entries(case, explained.ranking)
    best = entries[0] if entries else None
    draw_figure(case_flow(explained.ranking, best, theme()), key=f"flow-{case.id}")
    st.caption(_way(best, explained.ranking, no_answer=case.no_answer))
    _draw_hits(explained)
    if best is not None:
        _draw_rivals(explained, best)
    st.text(settings_at_a_glance(explained.settings))


def _way(best: RankedCandidate | None, ranking: Ranking, *, no_answer: bool) -> str:
    if no_answer:
        return "Ribbons are numbers of candidates. Nothing is expected to be shown."
    if best is None:
        return f"Ribbons are numbers of candidates. The expected place is {in_no_list(ranking)}."
    return f"Ribbons are numbers of candidates; the solid one is the expected chunk: {FATES[best.fate]}."


def _draw_hits(explained: CaseExplanation) -> None:
    st.markdown("**Hits, as they would be cited**")
    hits = explained.ranking.hits
    if not hits:
        st.text("none")
        return
    draw_table(
        [
            _scored(hit, explained)
            | {"text": cut_short(explained.contents[hit.candidate.chunk_id], at_most=_PREVIEW_CHARS)}
            for hit in hits
        ],
        key=f"hits-{explained.verdict.case.id}",
        order=_columns(explained, "hit", "mark", "citation", "vector", "lexical", "score", "text"),
        columns=CANDIDATE_COLUMNS,
    )


def _draw_rivals(explained: CaseExplanation, best: RankedCandidate) -> None:
    above = explained.ranking.whole_set[: best.whole_rank]
    st.markdown("**Who stands above it, and itself**")
    draw_table(
        [
            _scored(entry, explained) | {"crossing": explained.crossing(entry)}
            for entry in (*above[:_ABOVE], *above[_ABOVE:][-1:])
        ],
        key=f"rivals-{explained.verdict.case.id}",
        columns=CANDIDATE_COLUMNS,
        order=_columns(
            explained, "whole", "mark", "citation", "crossing", "vector", "lexical", "score", "fate"
        ),
    )
    if len(above) > _ABOVE + 1:
        st.caption(f"{len(above) - _ABOVE - 1} rivals between the last two lines are left out.")


def _columns(explained: CaseExplanation, *names: str) -> list[str]:
    """The columns, with the ranks in place of the scores of a signal that was not run: an empty bar would be a lie.

    Where no place is expected there is none to mark.
    """
    ran = {"vector": explained.ranking.vector_ran, "lexical": explained.ranking.lexical_ran}
    kept = [name for name in names if name != "mark" or explained.verdict.case.expected]
    return [name if ran.get(name, True) else f"{name} rank" for name in kept]


def _scored(entry: RankedCandidate, explained: CaseExplanation) -> dict[str, object]:
    expected = entry.candidate.origin.place in explained.verdict.case.expected
    return candidate_cells(entry, absent(explained.ranking)) | {"mark": "→" if expected else ""}
