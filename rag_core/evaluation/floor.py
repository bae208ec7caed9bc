"""Raising the floor of a golden set to what passes now."""

from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from rag_core.errors import InvalidInput, Refused
from rag_core.evaluation.golden_runs import Evaluation
from rag_core.files import write_atomically
from rag_core.golden.floor import raise_floor
from rag_core.model import Actor, Project
from rag_core.project.runs import Progress
from rag_core.settings.golden_folder import read_cases_text
from rag_core.settings.in_force import sources_of
from rag_core.words.plurals import counted


@dataclass(frozen=True, slots=True, kw_only=True)
class RaisedFloor:
    """A floor before and after, and the file that holds it."""

    file: Path
    before: int
    after: int


def raise_project_floor(
    evaluation: Evaluation,
    project: Project,
    *,
    file: Path,
    actor: Actor,
    reason: str,
    listener: Progress | None = None,
    run_id: UUID | None = None,
) -> RaisedFloor:
    """Raise the floor in a cases file to what passes now under the settings in force.

    Raises:
        InvalidInput: There is no reason.
        Refused: Fewer pass than the floor asks for, the run would be degraded, or the adopted settings are not the
            committed ones, so that searches are not what was measured.
    """
    if not reason.strip():
        raise InvalidInput(
            "A floor is raised for a reason.", hint="Say why with --reason.", where={"field": "reason"}
        )
    differ = sources_of(evaluation.database, project, cases=file).disagreement
    if differ is not None:
        raise Refused(
            f"{differ.sentence} A floor is raised where both are the same.",
            hint=(
                "Write what is adopted (medir settings adopt --write --reason TEXT), or adopt what is committed "
                "(medir settings adopt --committed --reason TEXT)."
            ),
        )
    run = evaluation.run_golden(
        project, actor=actor, cases=file, reason=reason, listener=listener, run_id=run_id
    )
    before, after = run.outcome.floor, run.outcome.passed
    highest = run.floor_history.highest
    if after < (highest or 0) and run.floor_fall is not None:
        raise Refused(
            f"{run.floor_fall} Only {counted(after, 'case')} {'passes' if after == 1 else 'pass'} now.",
            hint="Put the floor back, and find out what was lost: medir golden run.",
        )
    if after < before:
        raise Refused(
            f"Only {after} cases pass, and the floor is {before}: it only rises.",
            hint="Find out what was lost: medir golden run.",
        )
    if after > before:
        text = read_cases_text(file)
        write_atomically(file, raise_floor(text, new_floor=after))
    return RaisedFloor(file=file, before=before, after=after)
