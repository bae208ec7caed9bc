"""Index runs begun over HTTP: answered at once, refused where they may not go on, and followed by their row."""

import threading
import uuid
from dataclasses import dataclass, field
from functools import partial

from medir.contract.runs import RunAnswer
from medir.http_api.questions import ReindexRequest
from medir.work import tasks
from medir.work.work import work_key
from medir.workbench import Workbench
from rag_core.errors import Busy, MedirError
from rag_core.model import Actor, Project
from rag_core.project.following import run_of

# reading and cutting a large repository takes seconds; after this long the run itself tells what it met
_ANSWERED_WITHIN_S = 10.0
# steps that are taken only once it is known that no vote is lost and no scope is emptied
_AFTER_THE_CHECK = ("embed", "write")


@dataclass(slots=True)
class _Beginning:
    """What is known of a run that somebody waits to hear of."""

    known: threading.Event = field(default_factory=threading.Event)
    error: MedirError | None = None


class Reindexing:
    """The index runs of this process that were promised to callers."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._promised: dict[uuid.UUID, str] = {}

    def begin(
        self, opened: Workbench, project: Project, wanted: ReindexRequest, *, actor: Actor
    ) -> uuid.UUID:
        """Begin a run beside this thread; returns its id once it is known that it may go on.

        Raises:
            VotesAtRisk: It would lose votes, and nobody has agreed to that.
            SourcesGone: It would empty a scope, and nobody has agreed to that.
            Busy: Another run is at work.
            UsageError: The repository or the session does not exist.
        """
        run_id, beginning = uuid.uuid4(), _Beginning()
        task = partial(
            tasks.run_index,
            project=project,
            actor=actor,
            mode=wanted.mode or "incremental",
            scopes=wanted.chosen_scopes,
            session_id=wanted.session_id,
            allow_vote_loss=wanted.confirm_votes_lost,
            allow_emptied=wanted.confirm_emptied,
            run_id=run_id,
        )

        def listen(step: str) -> None:
            if (wanted.confirm_votes_lost and wanted.confirm_emptied) or step in _AFTER_THE_CHECK:
                beginning.known.set()

        def attend() -> None:
            try:
                opened.work.attend(task, project_id=project.project_id, run_id=run_id, step=listen)
            except MedirError as error:
                if beginning.known.is_set():
                    raise
                # told to the caller, and so of no concern to whoever looks at the page
                beginning.error = error
            finally:
                beginning.known.set()
                with self._guard:
                    self._promised.pop(run_id, None)

        with self._guard:
            self._promised[run_id] = project.project_id
        if not opened.work.start(work_key("index", project.project_id), attend):
            with self._guard:
                self._promised.pop(run_id, None)
            raise Busy(
                f"Another index run of {project.project_id} is at work.",
                hint="Wait for it to end, then try again.",
            )
        if not beginning.known.wait(_ANSWERED_WITHIN_S):
            beginning.known.set()
        if beginning.error is not None:
            raise beginning.error
        return run_id

    def find(self, opened: Workbench, project: Project, run_id: uuid.UUID) -> RunAnswer | None:
        """A run by its id, as the API shows it; None where the project has none."""
        services = opened.services
        run = run_of(services.database, project.project_id, "index", run_id)
        if run is not None:
            return RunAnswer.of(run)
        with self._guard:
            waiting = self._promised.get(run_id) == project.project_id
        return RunAnswer.waiting(run_id) if waiting else None
