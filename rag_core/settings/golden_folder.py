"""The folder of a project's golden set: its cases, and beside them its `settings.yaml`."""

import threading
from dataclasses import dataclass
from pathlib import Path

from rag_core.errors import FaultySettings, MedirError, UsageError
from rag_core.files import NotReadable, read_regular_file
from rag_core.golden.cases import GoldenSet, parse_cases
from rag_core.golden.document import MAX_FILE_BYTES, decode
from rag_core.model import Project
from rag_core.settings.committed import CommittedSettings
from rag_core.settings.file_reading import MAX_SETTINGS_BYTES, parse_settings, refuse_file
from rag_core.sources.git_folder import is_bare
from rag_core.sources.project_repository import refuse_gone_repository

SETTINGS_FILE = "settings.yaml"


def cases_file(project: Project) -> Path:
    """Where the project's golden cases lie.

    Raises:
        UsageError: A bare repository has no folder of its own for them.
    """
    if project.golden is not None:
        return Path(project.golden) / "cases.yaml"
    refuse_gone_repository(project)
    if is_bare(Path(project.repo)):
        raise UsageError(
            f"The repository of {project.project_id} is bare, so it has no golden_set/ folder.",
            hint=f"Name one: medir project set --project {project.project_id} --golden DIR, or use --cases FILE.",
        )
    return Path(project.repo) / "golden_set" / "cases.yaml"


def settings_path(project: Project, cases: Path | None = None) -> Path | None:
    """Where the project's `settings.yaml` lies or would lie, beside its cases; None without a golden folder."""
    if cases is not None:
        return cases.parent / SETTINGS_FILE
    try:
        return cases_file(project).parent / SETTINGS_FILE
    except (MedirError, OSError):
        return None


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
    def decision(self) -> CommittedSettings | None:
        """What the file says where it names a number; one without any decides nothing."""
        return self.settings if self.settings is not None and self.settings.numbers.any_given else None

    @property
    def told_problem(self) -> str | None:
        """One sentence where the file has faults: searches then go on as if it were not there."""
        if self.problem is None:
            return None
        told = self.problem.message.replace(str(self.file), SETTINGS_FILE, 1)
        return f"{told} Searches go on without the file."


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


def committed_file(project: Project, cases: Path | None = None) -> CommittedFile:
    """The project's `settings.yaml`, beside other cases where they are given; never raises for what it holds."""
    return read_committed(settings_path(project, cases))


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


def _state(path: Path) -> tuple[int, ...] | None:
    try:
        found = path.lstat()
    except OSError:
        return None
    return (found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino, found.st_mode)


def read_golden_set(file: Path) -> GoldenSet:
    """Read and parse a cases file.

    Raises:
        UsageError: It does not exist or can't be read.
        FaultyGoldenSet: It does not parse.
    """
    return parse_cases(read_cases_text(file), file=str(file))


def read_cases_text(file: Path) -> str:
    """The text of a cases file.

    Raises:
        UsageError: It does not exist or can't be read.
    """
    hint = "Name the file with --cases, or the folder with `medir project set --golden DIR`."
    try:
        # a cases file may lie elsewhere, behind a link; what it names is read only if it is a file
        data = read_regular_file(file, at_most=MAX_FILE_BYTES + 1, through_links=True)
    except NotReadable as error:
        raise UsageError(f"The golden cases {file}: it {error}.", hint=hint) from error
    if data is None:
        raise UsageError(f"The golden cases {file} can't be read: No such file or directory.", hint=hint)
    return decode(data, file=str(file))
