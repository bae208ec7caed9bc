"""Adopting settings: an explicit act of a maintainer, recorded with who, when and why."""

import dataclasses
from dataclasses import dataclass
from datetime import datetime

from rag_core.database.adopted_settings import AdoptedSettings, insert_adopted, list_adopted, read_adopted
from rag_core.database.connections import Database
from rag_core.database.index_identity import read_identity
from rag_core.database.projects import Project
from rag_core.errors import InvalidInput, UsageError
from rag_core.model import ALL_SCOPES, Actor, SearchSettings
from rag_core.ports import Clock
from rag_core.presets import PRESETS, Overrides, from_json, resolve_settings


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsInForce:
    """What searches use, and the decision behind it; all but the settings are None where nobody took one.

    `made_for` is the model of the index that the numbers were adopted on.
    """

    settings: SearchSettings
    adopted_by: str | None
    adopted_at: datetime | None
    reason: str | None
    made_for: str | None

    @property
    def of_another_model(self) -> bool:
        """Whether the index has another model now, so that weight and threshold are on another scale."""
        return self.made_for not in (None, self.settings.candidates.embedding_model)

    def to_json(self) -> dict[str, object]:
        """The contract's `settings show`."""
        return {
            "settings": self.settings.to_json(),
            "adoptedBy": self.adopted_by,
            "adoptedAt": None if self.adopted_at is None else self.adopted_at.isoformat(),
            "reason": self.reason,
            "madeFor": self.made_for,
        }


def settings_in_force(database: Database, project: Project) -> SettingsInForce:
    """The settings of the project's searches: what was adopted last, else the preset of the index's model."""
    with database.snapshot() as connection:
        identity = read_identity(connection, project.project_id)
        adopted = read_adopted(connection, project.project_id)
    model = identity.embedding_model if identity else None
    if adopted is not None:
        return _decided(adopted, model)
    settings = resolve_settings(model_id=model, scopes=ALL_SCOPES, adopted=None, overrides=Overrides())
    return SettingsInForce(settings=settings, adopted_by=None, adopted_at=None, reason=None, made_for=None)


def settings_history(database: Database, project: Project) -> tuple[SettingsInForce, ...]:
    """Every decision of the project, the latest first; empty where nobody took one."""
    with database.snapshot() as connection:
        identity = read_identity(connection, project.project_id)
        decisions = list_adopted(connection, project.project_id)
    model = identity.embedding_model if identity else None
    return tuple(_decided(decision, model) for decision in decisions)


def adopt_settings(
    database: Database, clock: Clock, project: Project, *, overrides: Overrides, reason: str, actor: Actor
) -> SettingsInForce:
    """Put numbers in force for all searches of the project from now on.

    Args:
        database: Where the decision is recorded.
        clock: For its time.
        project: Whose searches.
        overrides: A preset, or numbers in place of those in force, or both.
        reason: Why, for whoever asks later.
        actor: Who decides.

    Raises:
        InvalidInput: There is no reason, or a number is out of range.
        UsageError: Nothing is given to adopt, or the project is not indexed: numbers belong to a model's scale.
    """
    if not reason.strip():
        raise InvalidInput(
            "Settings are adopted for a reason.", hint="Say why with --reason.", where={"field": "reason"}
        )
    if not overrides.any_given:
        raise UsageError(
            "There is nothing to adopt.",
            hint="Give numbers or a preset, for example --weight-vector 0.3.",
        )
    with database.transaction() as connection:
        identity = read_identity(connection, project.project_id)
        if identity is None or identity.embedding_model is None:
            raise UsageError(
                f"The project {project.project_id} has no index with vectors, so no numbers can be right for it.",
                hint=f"Run: medir index --project {project.project_id}",
            )
        before = read_adopted(connection, project.project_id)
        chosen = resolve_settings(
            model_id=identity.embedding_model,
            scopes=ALL_SCOPES,
            adopted=before.settings if before else None,
            overrides=overrides,
        )
        settings = dataclasses.replace(
            chosen, source="adopted", preset=_preset_of(chosen), limit_in_force=None
        )
        now = clock.now()
        insert_adopted(
            connection,
            project.project_id,
            settings=settings.to_json(),
            actor=actor,
            at=now,
            reason=reason.strip(),
        )
    return SettingsInForce(
        settings=settings,
        adopted_by=f"{actor.kind}:{actor.id}",
        adopted_at=now,
        reason=reason.strip(),
        made_for=identity.embedding_model,
    )


def _preset_of(settings: SearchSettings) -> str | None:
    """The preset's name only while the numbers are still the preset's."""
    preset = PRESETS.get(settings.preset or "")
    ways = (settings.candidates.lexical_operator, settings.candidates.lexical_function)
    if preset is None or (preset.lexical_operator, preset.lexical_function) != ways:
        return None
    return preset.name if preset.ranking == settings.ranking else None


def _decided(adopted: AdoptedSettings, model: str | None) -> SettingsInForce:
    return SettingsInForce(
        settings=from_json(adopted.settings, scopes=ALL_SCOPES, model_id=model, source="adopted"),
        adopted_by=adopted.adopted_by,
        adopted_at=adopted.adopted_at,
        reason=adopted.reason,
        made_for=adopted.model,
    )
