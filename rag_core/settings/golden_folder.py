"""The folder of a project's golden set: its cases, and beside them its `settings.yaml`."""

from pathlib import Path

from rag_core.errors import MedirError, UsageError
from rag_core.files import NotReadable, read_regular_file
from rag_core.golden.cases import GoldenSet, parse_cases
from rag_core.golden.document import MAX_FILE_BYTES, decode
from rag_core.model import Project
from rag_core.sources.git_folder import is_bare

SETTINGS_FILE = "settings.yaml"


def cases_file(project: Project) -> Path:
    """Where the project's golden cases lie.

    Raises:
        UsageError: A bare repository has no folder of its own for them.
    """
    if project.golden is not None:
        return Path(project.golden) / "cases.yaml"
    if not Path(project.repo).exists():
        raise UsageError(
            f"The repository of {project.project_id} is gone: {project.repo} does not exist.",
            hint=f"Say where it is now: medir project set --project {project.project_id} --repo PATH.",
        )
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
