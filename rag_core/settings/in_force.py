"""Which settings of a project are in force: what was adopted, what its `settings.yaml` says, or the model's preset."""

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from rag_core.database.adopted_settings import AdoptedSettings, read_adopted
from rag_core.database.connecting import Connection
from rag_core.database.connections import Database
from rag_core.database.index.identity import IndexIdentity, read_identity
from rag_core.model import ALL_SCOPES, CandidateSettings, Project, Scope, SearchSettings, is_of_family
from rag_core.model.settings import changed_numbers
from rag_core.model.shape import Shape
from rag_core.settings.golden_folder import SETTINGS_FILE, CommittedFile, committed_file
from rag_core.settings.overrides import Overrides
from rag_core.settings.presets import PRESETS, SEEDS, Preset, find_preset, preset_of
from rag_core.words.settings import value_told

FirstSource = Literal["adopted", "committed"]
"""Which of a project's own two decisions is asked first: searches take the adoption, golden runs the file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement(Shape):
    """An adoption and a `settings.yaml` that give other numbers: `differs` are keys of the contract's `settings`."""

    differs: tuple[str, ...]
    adopted: SearchSettings
    committed: SearchSettings

    @property
    def sentence(self) -> str:
        """What differs, with both."""
        here, there = self.adopted.to_json(), self.committed.to_json()
        parts = [
            f"{key} is {old} adopted and {new} in the file"
            for key in self.differs
            for old, new in (_values_told(here.get(key), there.get(key)),)
        ]
        return f"The adopted settings and {SETTINGS_FILE} differ: {'; '.join(parts)}."


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsInForce:
    """What searches use now. `adopted` is the decision behind it, None where nobody took one.

    `made_for` is the model that the numbers were decided for; `of_another_model` says that the index has another now,
    so that weight and threshold are on another scale. `committed` is the project's `settings.yaml`, which golden runs
    go by: `judged` are their settings, `disagreement` says where they are other numbers than the adopted ones.
    """

    settings: SearchSettings
    judged: SearchSettings
    adopted: AdoptedSettings | None
    made_for: str | None
    of_another_model: bool
    committed: CommittedFile
    disagreement: Disagreement | None

    def to_json(self) -> dict[str, object]:
        """The contract's `settings show`."""
        told = decision_to_json(self.settings, self.adopted, made_for=self.made_for)
        if self.committed.settings is not None or self.committed.problem is not None:
            told["committed"] = self._committed_to_json()
        if self.disagreement is not None:
            told["differs"] = list(self.disagreement.differs)
        return told

    def _committed_to_json(self) -> dict[str, object]:
        said, problem = self.committed.settings, self.committed.problem
        return {
            "file": str(self.committed.file),
            "settings": self.judged.to_json() if self.committed.decision else None,
            "madeFor": said.made_for if said else None,
            "limits": said.limits.to_json() if said else None,
            "problem": None if problem is None else problem.message,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsSources:
    """All that may say what a project's numbers are, at one moment. `index` is None before the first index run."""

    index: IndexIdentity | None
    adopted: AdoptedSettings | None
    committed: CommittedFile

    @property
    def model_id(self) -> str | None:
        """The index's model, None without one."""
        return self.index.embedding_model if self.index else None

    def resolve(
        self,
        *,
        first: FirstSource = "adopted",
        scopes: tuple[Scope, ...] = ALL_SCOPES,
        overrides: Overrides | None = None,
        file_limit: int | None = None,
    ) -> SearchSettings:
        """The settings of one search or run. Here alone stands who is stronger than whom.

        In order of strength: a trial's flags, for golden runs the cases file's limit, the project's adopted
        settings and its `settings.yaml` (`first` says which of the two), the preset of the index's model. `source`
        names the strongest that took part: `trial`, `adopted`, `committed`, `preset`, or `seeds` where the model has
        no preset of its own. A `settings.yaml` without a number decides nothing.

        Raises:
            InvalidInput: A number is out of range.
            UsageError: There is no preset of that name.
        """
        overrides = overrides or Overrides()
        base = self._base(overrides.preset, scopes, first)
        if file_limit is not None:
            base = base.with_ranking(dataclasses.replace(base.ranking, limit=file_limit))
        if not overrides.any_given:
            return base
        made = overrides.over(base)
        if overrides != Overrides(limit=overrides.limit):
            return made
        # the limit is a caller's own choice of how much to see, not another way of ranking
        return dataclasses.replace(made, source=base.source, limit_in_force=base.ranking.limit)

    def _base(self, preset: str | None, scopes: tuple[Scope, ...], first: FirstSource) -> SearchSettings:
        if preset is not None:
            return self._of_preset(find_preset(preset), scopes, source="trial")
        said = self.committed.decision
        if self.adopted is not None and (first == "adopted" or said is None):
            return SearchSettings.from_json(
                self.adopted.settings, source="adopted", model_id=self.model_id, scopes=scopes
            )
        own = next((each for each in PRESETS.values() if is_of_family(self.model_id, each.family)), None)
        if said is None:
            return self._of_preset(own or SEEDS, scopes, source="preset" if own else "seeds")
        start = find_preset(said.numbers.preset) if said.numbers.preset else own or SEEDS
        made = said.numbers.over(self._of_preset(start, scopes, source="committed"))
        candidates = dataclasses.replace(made.candidates, fetch_depth=made.ranking.candidates_per_signal)
        return dataclasses.replace(made, candidates=candidates, source="committed", preset=preset_of(made))

    def _of_preset(self, preset: Preset, scopes: tuple[Scope, ...], *, source: str) -> SearchSettings:
        return SearchSettings(
            candidates=CandidateSettings(
                scopes=scopes,
                fetch_depth=preset.ranking.candidates_per_signal,
                lexical=preset.lexical,
                embedding_model=self.model_id,
            ),
            ranking=preset.ranking,
            source=source,
            preset=preset.name,
        )

    @property
    def disagreement(self) -> Disagreement | None:
        """Where adoption and file give other numbers; None where they agree, or one of them gives none."""
        if self.adopted is None or self.committed.decision is None:
            return None
        here, there = self.resolve(first="adopted"), self.resolve(first="committed")
        keys = changed_numbers(here.to_json(), there.to_json())
        return Disagreement(differs=keys, adopted=here, committed=there) if keys else None

    def in_force(self) -> SettingsInForce:
        """What searches use, with all that had a say in it."""
        settings = self.resolve()
        made_for = self.made_for(settings)
        return SettingsInForce(
            settings=settings,
            judged=self.resolve(first="committed"),
            adopted=self.adopted,
            made_for=made_for,
            of_another_model=made_for not in (None, self.model_id),
            committed=self.committed,
            disagreement=self.disagreement,
        )

    def made_for(self, settings: SearchSettings) -> str | None:
        """The model that the numbers were decided for; None where nobody decided them, or it was not said."""
        if settings.source == "adopted":
            return self.adopted.model if self.adopted else None
        if settings.source == "committed":
            return self.committed.settings.made_for if self.committed.settings else None
        return None


def decision_to_json(
    settings: SearchSettings, adopted: AdoptedSettings | None, *, made_for: str | None
) -> dict[str, object]:
    """Numbers in the contract's form, with who adopted them, when and why where somebody did."""
    return {
        "settings": settings.to_json(),
        "adoptedBy": adopted.adopted_by if adopted else None,
        "adoptedAt": adopted.adopted_at.isoformat() if adopted else None,
        "reason": adopted.reason if adopted else None,
        "madeFor": made_for,
    }


def read_sources(connection: Connection, project_id: str, committed: CommittedFile) -> SettingsSources:
    """The project's decisions as they are now, beside a file that was read already."""
    return SettingsSources(
        index=read_identity(connection, project_id),
        adopted=read_adopted(connection, project_id),
        committed=committed,
    )


def sources_of(database: Database, project: Project, *, cases: Path | None = None) -> SettingsSources:
    """The same with the file, that beside other cases where they are given; it may have faults."""
    committed = committed_file(project, cases)
    with database.snapshot() as connection:
        return read_sources(connection, project.project_id, committed)


def settings_in_force(database: Database, project: Project) -> SettingsInForce:
    """The settings of the project's searches: what was adopted last, else its file, else the model's preset."""
    return sources_of(database, project).in_force()


def _values_told(one: object, other: object) -> tuple[str, str]:
    """Two values that differ, as short as they can still be told apart."""
    short = value_told(one), value_told(other)
    return short if short[0] != short[1] else (str(one), str(other))
