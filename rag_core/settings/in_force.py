"""Which settings a project has: what was adopted, what its `settings.yaml` says, and where the two differ.

The order between them is `presets.resolve_settings`; here both are read, once, for whoever needs them.
"""

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rag_core.database.adopted_settings import AdoptedSettings, read_adopted
from rag_core.database.connections import Connection
from rag_core.database.index.identity import read_identity
from rag_core.errors import FaultySettings
from rag_core.files import NotReadable, read_regular_file
from rag_core.model import ALL_SCOPES, Project, Scope, SearchSettings
from rag_core.settings.file import MAX_SETTINGS_BYTES, parse_settings, refuse_file
from rag_core.settings.golden_folder import SETTINGS_FILE, settings_path
from rag_core.settings.presets import (
    CommittedSettings,
    FirstSource,
    Overrides,
    committed_to,
    from_json,
    resolve_settings,
)
from rag_core.words.settings import value_told

_NOT_NUMBERS = ("source", "preset", "fetchDepth", "embeddingModel")


@dataclass(frozen=True, slots=True, kw_only=True)
class CommittedFile:
    """A project's `settings.yaml` as it stands there. `file` is None where there is no golden folder.

    `settings` is None where there is no such file, or where it has faults, which `problem` then names.
    """

    file: Path | None = None
    settings: CommittedSettings | None = None
    problem: FaultySettings | None = None

    def sound(self) -> CommittedSettings | None:
        """What the file says, None without one.

        Raises:
            FaultySettings: It has faults.
        """
        if self.problem is not None:
            raise self.problem
        return self.settings

    @property
    def told_problem(self) -> str | None:
        """One sentence where the file has faults: searches then go on as if it were not there."""
        if self.problem is None:
            return None
        told = self.problem.message.replace(str(self.file), SETTINGS_FILE, 1)
        return f"{told} Searches go on without the file."


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """An adoption and a `settings.yaml` that give other numbers: `keys` are those of the contract's `settings`."""

    adopted: SearchSettings
    committed: SearchSettings
    keys: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """What differs, with both."""
        here, there = self.adopted.to_json(), self.committed.to_json()
        parts = [
            f"{key} is {old} adopted and {new} in the file"
            for key in self.keys
            for old, new in (_values_told(here[key], there[key]),)
        ]
        return f"The adopted settings and {SETTINGS_FILE} differ: {'; '.join(parts)}."

    def to_json(self) -> dict[str, object]:
        """Both, and the keys that differ."""
        return {
            "differs": list(self.keys),
            "adopted": self.adopted.to_json(),
            "committed": self.committed.to_json(),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsSources:
    """All that may say what a project's numbers are, at one moment. `model_id` is the index's."""

    model_id: str | None
    adopted: AdoptedSettings | None
    committed: CommittedFile

    def resolve(
        self,
        *,
        first: FirstSource = "adopted",
        scopes: tuple[Scope, ...] = ALL_SCOPES,
        overrides: Overrides | None = None,
        file_limit: int | None = None,
    ) -> SearchSettings:
        """The settings of a search, or with `committed` first those of a golden run."""
        return resolve_settings(
            model_id=self.model_id,
            scopes=scopes,
            adopted=self.adopted.settings if self.adopted else None,
            committed=self.committed.settings,
            overrides=overrides or Overrides(),
            file_limit=file_limit,
            first=first,
        )

    @property
    def disagreement(self) -> Disagreement | None:
        """Where adoption and file give other numbers; None where they agree, or one of them gives none."""
        said = self.committed.settings
        if self.adopted is None or said is None or not said.numbers.any_given:
            return None
        here = from_json(self.adopted.settings, scopes=ALL_SCOPES, model_id=self.model_id, source="adopted")
        there = committed_to(said, scopes=ALL_SCOPES, model_id=self.model_id)
        keys = differing(here.to_json(), there.to_json())
        return Disagreement(adopted=here, committed=there, keys=keys) if keys else None

    def made_for(self, settings: SearchSettings) -> str | None:
        """The model that the numbers were decided for; None where nobody decided them, or it was not said."""
        if settings.source == "adopted":
            return self.adopted.model if self.adopted else None
        if settings.source == "committed":
            return self.committed.settings.made_for if self.committed.settings else None
        return None


class CommittedFiles:
    """`settings.yaml` of projects, each parsed again only when the file has changed. Safe to share between threads."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._kept: dict[Path, tuple[tuple[int, ...], CommittedFile]] = {}

    def of(self, project: Project) -> CommittedFile:
        """The project's file as it is now, told by its state alone where that is unchanged."""
        path = settings_path(project)
        if path is None:
            return CommittedFile()
        # looked at before it is read: one that changes meanwhile is read again the next time
        state = _state(path)
        if state is None:
            return read_committed(path)
        with self._guard:
            kept = self._kept.get(path)
        if kept is not None and kept[0] == state:
            return kept[1]
        found = read_committed(path)
        with self._guard:
            self._kept[path] = (state, found)
        return found


def read_committed(path: Path | None) -> CommittedFile:
    """Read and parse a `settings.yaml`; never raises for what it holds."""
    if path is None:
        return CommittedFile()
    try:
        data = read_regular_file(path, at_most=MAX_SETTINGS_BYTES)
        return CommittedFile(
            file=path, settings=None if data is None else parse_settings(data, file=str(path))
        )
    except NotReadable as error:
        return CommittedFile(file=path, problem=refuse_file(f"The file {error}.", file=str(path)))
    except FaultySettings as error:
        return CommittedFile(file=path, problem=error)


def read_sources(connection: Connection, project: Project, committed: CommittedFile) -> SettingsSources:
    """The project's decisions as they are now, beside a file that was read already."""
    identity = read_identity(connection, project.project_id)
    return SettingsSources(
        model_id=identity.embedding_model if identity else None,
        adopted=read_adopted(connection, project.project_id),
        committed=committed,
    )


def differing(these: Mapping[str, object], those: Mapping[str, object]) -> tuple[str, ...]:
    """The keys of two settings in JSON whose numbers are not the same."""
    return tuple(key for key in these if key not in _NOT_NUMBERS and these[key] != those.get(key))


def _values_told(one: object, other: object) -> tuple[str, str]:
    """Two values that differ, as short as they can still be told apart."""
    short = value_told(one), value_told(other)
    return short if short[0] != short[1] else (str(one), str(other))


def _state(path: Path) -> tuple[int, ...] | None:
    try:
        found = path.lstat()
    except OSError:
        return None
    return (found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino, found.st_mode)
