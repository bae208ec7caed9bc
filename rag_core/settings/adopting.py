"""Adopting settings: an explicit act of a maintainer, recorded with who, when and why, and committed as a file."""

import dataclasses
from dataclasses import dataclass
from pathlib import Path

from rag_core.database.adopted_settings import AdoptedSettings, insert_adopted, list_adopted
from rag_core.database.connections import Database
from rag_core.database.index.identity import read_identity
from rag_core.errors import InvalidInput, Refused, UsageError
from rag_core.files import read_regular_file, write_atomically
from rag_core.model import Actor, Project, SearchSettings
from rag_core.model.shape import keyed
from rag_core.ports import Clock
from rag_core.settings.file_reading import MAX_SETTINGS_BYTES
from rag_core.settings.file_writing import on_one_line, write_settings
from rag_core.settings.golden_folder import SETTINGS_FILE, committed_file
from rag_core.settings.in_force import SettingsInForce, SettingsSources, decision_to_json, read_sources
from rag_core.settings.overrides import Overrides
from rag_core.settings.presets import preset_of


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
            **keyed(self, "reason", "text"),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Adoption:
    """What an adoption put in force, and the `settings.yaml` that it wrote where that was asked for."""

    in_force: SettingsInForce
    written: WrittenSettings | None

    def to_json(self) -> dict[str, object]:
        """The contract's `settings adopt`."""
        written = {} if self.written is None else {"written": self.written.to_json()}
        return self.in_force.to_json() | written


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Numbers that somebody adopted once, under the index's model of today."""

    settings: SearchSettings
    adopted: AdoptedSettings

    @property
    def of_another_model(self) -> bool:
        """Whether the index has another model now, so that weight and threshold are on another scale."""
        return self.adopted.model not in (None, self.settings.candidates.embedding_model)

    def to_json(self) -> dict[str, object]:
        """One entry of the contract's `settings history`."""
        return decision_to_json(self.settings, self.adopted, made_for=self.adopted.model)


def settings_history(database: Database, project: Project) -> tuple[Decision, ...]:
    """Every decision of the project, the latest first; empty where nobody took one."""
    with database.snapshot() as connection:
        identity = read_identity(connection, project.project_id)
        decisions = list_adopted(connection, project.project_id)
    model = identity.embedding_model if identity else None
    return tuple(
        Decision(
            settings=SearchSettings.from_json(each.settings, source="adopted", model_id=model), adopted=each
        )
        for each in decisions
    )


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
) -> Adoption:
    """Put numbers in force for all searches of the project from now on.

    `overrides` are a preset, or numbers in place of those in force, or both; `committed`: start from the
    numbers of `settings.yaml`. `write`: write that file too, or give its text where it can't be written;
    without other numbers, those adopted before.

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
    file = committed_file(project)
    if committed or write:
        file.sound()
    with database.transaction() as connection:
        sources = read_sources(connection, project.project_id, file)
        if sources.model_id is None:
            raise UsageError(
                f"The project {project.project_id} has no index with vectors, so no numbers can be right for it.",
                hint=f"Run: medir index --project {project.project_id}",
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
    sources = dataclasses.replace(
        sources, adopted=decision, committed=committed_file(project) if write else file
    )
    return Adoption(in_force=dataclasses.replace(sources.in_force(), settings=settings), written=written)


def _require_numbers(sources: SettingsSources, overrides: Overrides, *, committed: bool, write: bool) -> None:
    if committed:
        said = sources.committed.decision
        if said is None:
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
