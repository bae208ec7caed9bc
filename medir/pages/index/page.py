"""Index: is everything in there, and is it true? Verdict first, then coverage, the runs, and the chunks themselves."""

import streamlit as st

from medir.page_kit.address import choice_parameter, settle
from medir.page_kit.choosing import draw_words
from medir.page_kit.frame import Frame, frame
from medir.page_kit.guard import guarded
from medir.page_kit.services import may_maintain
from medir.pages.index import reads as index_reads
from medir.pages.index.chunk_browser import BROWSED, draw_browser
from medir.pages.index.coverage import draw_bars, draw_left_out, draw_scopes, draw_verdict
from medir.pages.index.provider import draw_provider
from medir.pages.index.reindexing import REINDEXED, draw_reindexing
from medir.pages.index.running import INDEX_RUN, Wanted, draw_failure, start_run
from rag_core.index.coverage import Coverage

_PARTS = {"coverage": "Coverage", "reindex": "Reindex and runs", "chunks": "Chunks"}
PART = choice_parameter("part", tuple(_PARTS))


def draw_page() -> None:
    """The page, from its inputs to its address."""
    view = frame()
    last = INDEX_RUN.last(view)
    coverage = index_reads.coverage(view.project, view.version)
    running = INDEX_RUN.is_going(view, last)
    draw_verdict(view, coverage)
    if running:
        INDEX_RUN.follow(view)
    else:
        draw_failure(view, last, recorded=PART.read() == "reindex")
    may_begin = view.overview is None and not running and coverage.problem is None and may_maintain()
    if may_begin and PART.read() != "reindex":
        st.button(
            "Index it now",
            key="index-first",
            type="primary",
            on_click=start_run,
            args=(view, Wanted.everything()),
        )
    draw_words("Part", PART, _PARTS, key="index-part")
    with guarded(PART.read()):
        if PART.read() == "reindex":
            draw_reindexing(view, coverage, running=running)
        elif PART.read() == "chunks" and view.overview is not None:
            draw_browser(view)
        elif PART.read() == "chunks":
            st.text("There are no chunks before the first run.")
        else:
            _draw_coverage(view, coverage)
    settle(PART, *REINDEXED, *BROWSED)


def _draw_coverage(view: Frame, coverage: Coverage) -> None:
    bars, beside = st.columns([3, 2], gap="large")
    with bars:
        draw_bars(coverage)
    draw_scopes(coverage)
    draw_left_out(coverage)
    # last, since it may take its time: everything else is on the page by then
    with beside, guarded("provider"):
        model_id = view.overview.model_id if view.overview else None
        draw_provider(
            index_reads.provider(model_id),
            without_vector=sum(scope.without_vector for scope in coverage.scopes),
        )


draw_page()
