"""Useful or irrelevant: a visitor's word on a hit. What stands is read from the database, never from a button."""

import streamlit as st

from medir.page_kit.frame import Frame
from medir.page_kit.guard import draw_banner
from medir.page_kit.services import visitor, workbench
from medir.page_kit.signs import LOST, WON
from medir.page_kit.votes import note_vote
from medir.pages.search.asking import Asked
from rag_core.errors import MedirError
from rag_core.model import RankedCandidate
from rag_core.search.votes import VoteVerdict, cast_vote, read_votes

VERDICTS: dict[VoteVerdict, str] = {"util": f"{WON} useful", "irrelevante": f"{LOST} irrelevant"}
_FAILED = "vote-failed"


def votes_of_visitor(view: Frame, search_id: str | None) -> dict[str, str]:
    """The visitor's verdicts on a search's hits by chunk id, read anew; none for a search that was not recorded."""
    if search_id is None:
        return {}
    actor = visitor()
    found = read_votes(workbench().services.database, view.project.project_id, [search_id])
    return {
        vote.chunk_id: vote.verdict
        for vote in found.get(search_id, ())
        if vote.actor == f"{actor.kind}:{actor.id}"
    }


def draw_vote(view: Frame, asked: Asked, hit: RankedCandidate, standing: str | None) -> None:
    """The two buttons of one hit, the one that stands marked; where it can't be judged, why."""
    chunk_id = hit.candidate.chunk_id
    why_not = asked.why_not_judged(chunk_id)
    if why_not is not None:
        st.caption(f"Can't be judged: {why_not}.")
        return
    for verdict, label in VERDICTS.items():
        stands = verdict == standing
        st.button(
            # in words too: an icon is nothing to a screen reader
            f"{label}, your vote" if stands else label,
            key=f"vote-{verdict}-{chunk_id}",
            icon=":material/check:" if stands else None,
            type="secondary" if stands else "tertiary",
            help="Your vote. Press the other one to change it."
            if stands
            else "Say so; it is kept as your vote.",
            on_click=_vote,
            args=(view.project.project_id, str(asked.answer.search_id), chunk_id, verdict),
        )
    failed: tuple[str, MedirError] | None = st.session_state.get(_FAILED)
    if failed is not None and failed[0] == chunk_id:
        st.session_state.pop(_FAILED)
        draw_banner(failed[1], key=f"vote-{chunk_id}", retry=False)


def _vote(project_id: str, search_id: str, chunk_id: str, verdict: VoteVerdict) -> None:
    """What a click does. Clicked twice it says the same again, which changes nothing."""
    services = workbench().services
    try:
        cast_vote(
            services.database,
            services.clock,
            project_id,
            search_id=search_id,
            chunk_id=chunk_id,
            verdict=verdict,
            actor=visitor(),
        )
        note_vote(verdict)
    except MedirError as error:
        st.session_state[_FAILED] = (chunk_id, error)
