"""Adopting settings: an explicit act of a maintainer, recorded with who, when and why, and committed as a file."""

import dataclasses
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from rag_core.database.adopted_settings import AdoptedSettings, insert_adopted, list_adopted, read_adopted
from rag_core.database.connections import Database
from rag_core.database.index.identity import read_identity
from rag_core.errors import InvalidInput, Refused, UsageError
from rag_core.files import read_regular_file, write_atomically
from rag_core.model import ALL_SCOPES, Actor, Project, SearchSettings
from rag_core.ports import Clock
from rag_core.settings.file import MAX_SETTINGS_BYTES, on_one_line, write_settings
from rag_core.settings.golden_folder import SETTINGS_FILE, settings_path
from rag_core.settings.in_force import (
    CommittedFile,
    Disagreement,
    SettingsSources,
    read_committed,
    read_sources,
)
from rag_core.settings.presets import Overrides, committed_to, from_json, preset_of


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenSettings:
    """The text of a `settings.yaml`. `reason` says why it was not written to `file`, None where it was."""

    file: Path | None
    text: str
    reason: str | None

    def to_json(self) -> dict[str, object]:
        """The text for whoever commits it, and whether it is in the file already."""
        return {
            "file": None if self.file is None else str(self.file),
            "written": self.reason is None,
            "reason": self.reason,
            "text": self.text,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsInForce:
    """What searches use, and the decision behind it; who, when and why are None where nobody adopted any.

    `made_for` is the model of the index that the numbers were decided for. `committed` is the project's
    `settings.yaml`, `disagreement` where the two give other numbers, `written` what an adoption wrote.
    """

    settings: SearchSettings
    adopted_by: str | None
    adopted_at: datetime | None
    reason: str | None
    made_for: str | None
    committed: CommittedFile = field(default_factory=CommittedFile)
    disagreement: Disagreement | None = None
    written: WrittenSettings | None = None

    @property
    def of_another_model(self) -> bool:
        """Whether the index has another model now, so that weight and threshold are on another scale."""
        return self.made_for not in (None, self.settings.candidates.embedding_model)

    def to_json(self) -> dict[str, object]:
        """The contract's `settings show`."""
        told: dict[str, object] = {
            "settings": self.settings.to_json(),
            "adoptedBy": self.adopted_by,
            "adoptedAt": None if self.adopted_at is None else self.adopted_at.isoformat(),
            "reason": self.reason,
            "madeFor": self.made_for,
        }
        if self.committed.settings is not None or self.committed.problem is not None:
            told["committed"] = self._committed_to_json()
        if self.disagreement is not None:
            told["differs"] = list(self.disagreement.keys)
        if self.written is not None:
            told["written"] = self.written.to_json()
        return told

    def _committed_to_json(self) -> dict[str, object]:
        said, problem = self.committed.settings, self.committed.problem
        model = self.settings.candidates.embedding_model
        numbers = (
            committed_to(said, scopes=ALL_SCOPES, model_id=model) if said and said.numbers.any_given else None
        )
        return {
            "file": str(self.committed.file),
            "settings": None if numbers is None else numbers.to_json(),
            "madeFor": said.made_for if said else None,
            "limits": said.limits.to_json() if said else None,
            "problem": None if problem is None else problem.message,
        }


def settings_in_force(database: Database, project: Project) -> SettingsInForce:
    """The settings of the project's searches: what was adopted last, else its file, else the model's preset."""
    committed = read_committed(settings_path(project))
    with database.snapshot() as connection:
        return _standing(read_sources(connection, project, committed))


def settings_history(database: Database, project: Project) -> tuple[SettingsInForce, ...]:
    """Every decision of the project, the latest first; empty where nobody took one."""
    with database.snapshot() as connection:
        identity = read_identity(connection, project.project_id)
        decisions = list_adopted(connection, project.project_id)
    model = identity.embedding_model if identity else None
    return tuple(_decided(decision, model) for decision in decisions)


def adopt_settings(
    database: Database,
    clock: Clock,
    project: Project,
    *,
    overrides: Overrides,
    reason: str,
    actor: Actor,
    committed: bool = False,
    write: bool = False,
) -> SettingsInForce:
    """Put numbers in force for all searches of the project from now on.

    Args:
        database: Where the decision is recorded.
        clock: For its time.
        project: Whose searches.
        overrides: A preset, or numbers in place of those in force, or both.
        reason: Why, for whoever asks later.
        actor: Who decides.
        committed: Start from the numbers of `settings.yaml`.
        write: Write `settings.yaml` too, or give its text where it can't be written. Without other numbers, those
            adopted before.

    Raises:
        InvalidInput: There is no reason, or a number is out of range.
        FaultySettings: The file is to be read or written, and has faults.
        Refused: The numbers of the file were chosen for another model.
        UsageError: Nothing is given to adopt, or the project is not indexed: numbers belong to a model's scale.
    """
    if not reason.strip():
        raise InvalidInput(
            "Settings are adopted for a reason.", hint="Say why with --reason.", where={"field": "reason"}
        )
    file = read_committed(settings_path(project))
    if committed or write:
        file.sound()
    with database.transaction() as connection:
        identity = read_identity(connection, project.project_id)
        if identity is None or identity.embedding_model is None:
            raise UsageError(
                f"The project {project.project_id} has no index with vectors, so no numbers can be right for it.",
                hint=f"Run: medir index --project {project.project_id}",
            )
        sources = SettingsSources(
            model_id=identity.embedding_model,
            adopted=read_adopted(connection, project.project_id),
            committed=file,
        )
        _require_numbers(sources, overrides, committed=committed, write=write)
        chosen = sources.resolve(overrides=overrides, first="committed" if committed else "adopted")
        settings = dataclasses.replace(
            chosen, source="adopted", preset=preset_of(chosen), limit_in_force=None
        )
        now = clock.now()
        decision = AdoptedSettings(
            settings=settings.to_json(),
            adopted_by=f"{actor.kind}:{actor.id}",
            adopted_at=now,
            reason=reason.strip(),
        )
        # what can't be written down is not adopted
        text = _text(file.file, settings, decision) if write else None
        insert_adopted(
            connection,
            project.project_id,
            settings=decision.settings,
            actor=actor,
            at=now,
            reason=decision.reason,
        )
    written = None if text is None else _write(file.file, text)
    now_committed = read_committed(file.file) if write else file
    found = _standing(dataclasses.replace(sources, adopted=decision, committed=now_committed))
    return dataclasses.replace(found, settings=settings, written=written)


def _require_numbers(sources: SettingsSources, overrides: Overrides, *, committed: bool, write: bool) -> None:
    if committed:
        said = sources.committed.settings
        if said is None or not said.numbers.any_given:
            raise UsageError(
                f"There is no {SETTINGS_FILE} with numbers beside the golden cases.",
                hint="Give numbers or a preset, for example --weight-vector 0.3.",
            )
        if said.made_for not in (None, sources.model_id):
            raise Refused(
                f"The numbers of {SETTINGS_FILE} were chosen for {said.made_for}, and the index has "
                f"{sources.model_id}: their scales differ.",
                hint="Index with that model (medir index --mode full), or calibrate again.",
            )
    elif not overrides.any_given and not (write and sources.adopted is not None):
        raise UsageError(
            "There is nothing to adopt.",
            hint="Give numbers or a preset, for example --weight-vector 0.3.",
        )


def _text(file: Path | None, settings: SearchSettings, decision: AdoptedSettings) -> str:
    before = None if file is None else read_regular_file(file, at_most=MAX_SETTINGS_BYTES)
    told = f"{decision.adopted_at:%Y-%m-%d} by {decision.adopted_by}: {decision.reason}"
    return write_settings(settings, before=before, adopted=on_one_line(told), file=str(file or SETTINGS_FILE))


def _write(file: Path | None, text: str) -> WrittenSettings:
    if file is None:
        reason = "The project has no golden folder that could hold it."
    else:
        reason = None
        try:
            file.parent.mkdir(exist_ok=True)
            write_atomically(file, text)
        except UsageError as error:
            reason = error.message
        except OSError as error:
            reason = f"{file} can't be written: {error.strerror}."
    return WrittenSettings(file=file, text=text, reason=reason)


def _standing(sources: SettingsSources) -> SettingsInForce:
    if sources.adopted is not None:
        found = _decided(sources.adopted, sources.model_id)
    else:
        settings = sources.resolve()
        found = SettingsInForce(
            settings=settings,
            adopted_by=None,
            adopted_at=None,
            reason=None,
            made_for=sources.made_for(settings),
        )
    return dataclasses.replace(found, committed=sources.committed, disagreement=sources.disagreement)


def _decided(adopted: AdoptedSettings, model: str | None) -> SettingsInForce:
    return SettingsInForce(
        settings=from_json(adopted.settings, scopes=ALL_SCOPES, model_id=model, source="adopted"),
        adopted_by=adopted.adopted_by,
        adopted_at=adopted.adopted_at,
        reason=adopted.reason,
        made_for=adopted.model,
    )
