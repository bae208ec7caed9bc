"""Index runs from a page: the work goes on elsewhere, the page follows its row, stops it, or says why it ended."""

from dataclasses import dataclass
from datetime import timedelta
from functools import partial

import streamlit as st

from medir.page_kit.frame import Frame
from medir.page_kit.guard import draw_banner, refusal_told
from medir.page_kit.long_work import LongWork
from medir.page_kit.parts import dialog
from medir.page_kit.services import maintainer, may_maintain, workbench
from medir.page_kit.signs import LOST, PASSED
from medir.pages.index.coverage import SCOPE_NAMES
from medir.work import tasks
from rag_core.errors import MedirError, SourcesGone, VotesAtRisk
from rag_core.index.outcome import IndexMode
from rag_core.index.reading import time_left
from rag_core.model import ALL_SCOPES, Run, Scope
from rag_core.project.runs import Cancelled

_READ = "index-failure-read"
_STEPS = {"read": "read", "chunk": "cut into chunks", "embed": "make vectors", "write": "write"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a run is to do: the mode, and the scopes or one session."""

    mode: IndexMode
    scopes: tuple[Scope, ...]
    session_id: str | None = None
    ref: str | None = None

    @classmethod
    def everything(cls) -> "Wanted":
        """An incremental run over all scopes."""
        return cls(mode="incremental", scopes=ALL_SCOPES)

    @classmethod
    def of(cls, run: Run) -> "Wanted":
        """What a recorded run was asked for."""
        asked = run.parameters
        scopes = asked.get("scopes")
        named = {str(scope) for scope in scopes} if isinstance(scopes, list) else set[str]()
        session_id, ref = asked.get("sessionId"), asked.get("ref")
        return cls(
            mode="full" if asked.get("mode") == "full" else "incremental",
            scopes=tuple(scope for scope in ALL_SCOPES if scope in named) or ALL_SCOPES,
            session_id=session_id if isinstance(session_id, str) else None,
            ref=ref if isinstance(ref, str) else None,
        )

    @property
    def told(self) -> str:
        """In words, e.g. `incremental, documents`."""
        if self.session_id is not None:
            return f"{self.mode}, session {self.session_id}"
        names = (
            "everything"
            if self.scopes == ALL_SCOPES
            else ", ".join(SCOPE_NAMES[name] for name in self.scopes)
        )
        return f"{self.mode}, {names}"


def progress_line(run: Run) -> str:
    """The steps with where the run is, and how long the step at hand still takes where that is known."""
    at, counted = run.progress.step, run.progress.counted
    names = list(_STEPS)
    place = names.index(at) if at in names else 0
    reached = "" if counted is None else f" {counted[0]:,} of {counted[1]:,}"
    left = time_left(run) if at == "embed" else None
    rest = f", {duration(left)} left" if left is not None else ""
    steps = [
        f"{PASSED} {words}"
        if number < place
        else f"**{words}{reached}{rest}**"
        if number == place
        else f"○ {words}"
        for number, words in enumerate(_STEPS.values())
    ]
    return "  ·  ".join(steps)


def duration(span: timedelta) -> str:
    """A length of time as one waits for it, rounded."""
    seconds = span.total_seconds()
    if seconds < 90:
        return f"about {max(1, round(seconds))} s"
    return f"about {round(seconds / 60)} min" if seconds < 5_400 else f"about {seconds / 3_600:.1f} h"


def _draw_whose(run: Run) -> None:
    st.text(
        f"{'Dry run' if run.parameters.get('dryRun') else 'Run'} of {run.actor_kind}:{run.actor_id} since "
        f"{run.started_at:%H:%M:%S} UTC ({Wanted.of(run).told}). Searches see the old index until it has ended."
    )


INDEX_RUN = LongWork(
    name="index",
    kind="index",
    at=progress_line,
    stop="Stop this run",
    stopping="Stopping…",
    more=_draw_whose,
    after_death="The index is as it was before. Run it again: vectors that were made already are kept.",
)


def start_run(
    view: Frame, wanted: Wanted, *, dry_run: bool = False, lose_votes: bool = False, empty: bool = False
) -> None:
    """Begin a run outside this page's thread, unless this process has one going on; a maintainer's to do."""
    with refusal_told():
        task = partial(
            tasks.run_index,
            project=view.project,
            actor=maintainer(),
            mode=wanted.mode,
            scopes=wanted.scopes,
            session_id=wanted.session_id,
            ref=wanted.ref,
            dry_run=dry_run,
            allow_vote_loss=lose_votes,
            allow_emptied=empty,
        )
        INDEX_RUN.begin(view, task)


def draw_failure(view: Frame, last: Run | None, *, recorded: bool) -> None:
    """How the last run of this process failed, where it did, with what can be done; of any process if `recorded`."""
    failure = INDEX_RUN.failure(view, last if recorded else None)
    if failure is None or (last is not None and st.session_state.get(_READ) == last.id):
        return
    if last is not None and last.state == "failed" and failure.code == VotesAtRisk.code:
        wanted = Wanted.of(last)
        st.warning(f"{LOST} Votes are at risk: nothing was changed", icon=":material/how_to_vote:")
        st.text(failure.message)
        st.text("They hang on chunks whose text is no longer there, or that a full run makes anew.")
        with st.container(horizontal=True):
            draw_confirmed_start(view, wanted, told=failure.message, key="refused")
            _draw_read(view, last)
        return
    if last is not None and last.state == "failed" and failure.code == SourcesGone.code:
        _draw_sources_gone(view, last, failure)
        return
    if isinstance(failure, Cancelled) or (last is not None and last.state == "cancelled"):
        st.info("The run was stopped: the index is as it was before", icon=":material/stop_circle:")
        st.text("Vectors that were made already are kept, and the next run begins with them.")
    else:
        draw_banner(failure, key="index-run", retry=False)
    if last is not None:
        _draw_read(view, last)


def _draw_sources_gone(view: Frame, last: Run, failure: MedirError) -> None:
    st.warning(f"{LOST} Documents are gone: nothing was changed", icon=":material/folder_off:")
    st.text(failure.message)
    st.text(failure.hint)
    with st.container(horizontal=True):
        if may_maintain() and st.button(
            "They were meant to go…", key="empty-scope", icon=":material/delete_forever:"
        ):
            _ask_to_empty(view, Wanted.of(last), failure.message)
        _draw_read(view, last)


def draw_confirmed_start(view: Frame, wanted: Wanted, *, told: str, key: str) -> None:
    """A maintainer's button for a run that loses votes; `told` says how many. It asks once more."""
    if may_maintain() and st.button(
        "Reindex and lose the votes…", key=f"lose-votes-{key}", icon=":material/delete_forever:"
    ):
        _ask(view, wanted, told)


def _draw_read(view: Frame, last: Run) -> None:
    def read() -> None:
        # a viewer has read it for this page alone
        if may_maintain():
            workbench().work.forget_failure(INDEX_RUN.key(view))
        st.session_state[_READ] = last.id

    st.button("Leave it at that", key="failure-read", on_click=read)


@dialog("Lose votes?", icon=":material/how_to_vote:")
def _ask(view: Frame, wanted: Wanted, told: str) -> None:
    st.text(told)
    st.text(
        "Votes are judgements that people made; nothing brings them back. An incremental run keeps those on every "
        "chunk whose text is still there."
    )
    go_on, leave = ("Lose them and reindex", "confirm-loss"), ("Keep them", "keep-votes")
    _draw_choice(view, wanted, go_on, leave, {"lose_votes": True})


@dialog("Take them out of the index?", icon=":material/folder_off:")
def _ask_to_empty(view: Frame, wanted: Wanted, told: str) -> None:
    st.text(told)
    st.text("Votes on what goes are lost with it; nothing brings them back.")
    go_on, leave = ("Take them out", "confirm-empty"), ("Keep the index", "keep-index")
    _draw_choice(view, wanted, go_on, leave, {"lose_votes": True, "empty": True})


def _draw_choice(
    view: Frame, wanted: Wanted, go_on: tuple[str, str], leave: tuple[str, str], agreed: dict[str, bool]
) -> None:
    """What the run is, and two buttons, each by label and key: one begins it with what is agreed to, one does not."""
    st.text(f"The run: {wanted.told}.")
    with st.container(horizontal=True):
        (label, key), (other, other_key) = go_on, leave
        begun = st.button(
            label, key=key, type="primary", on_click=start_run, args=(view, wanted), kwargs=agreed
        )
        if st.button(other, key=other_key) or begun:
            st.rerun()
