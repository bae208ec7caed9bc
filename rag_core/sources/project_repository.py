"""A project's repository: where the project says that it lies."""

from pathlib import Path

from rag_core.errors import UsageError
from rag_core.model import Project
from rag_core.sources.git import GitRepository
from rag_core.sources.git_folder import holds_repository


def repository_of(project: Project) -> GitRepository:
    """The repository that a project was added with.

    Raises:
        UsageError: It is not there any more, or can't be read.
        Unavailable: There is no `git` program.
    """
    refuse_gone_repository(project)
    return GitRepository(Path(project.repo))


def refuse_gone_repository(project: Project) -> None:
    """Refuse a project whose repository is not where it was; the hint says how to tell where it is now.

    Raises:
        UsageError: It is not there any more, or can't be read.
    """
    top = Path(project.repo)
    if holds_repository(top):
        return
    found = "does not exist" if not top.exists() else "is no git repository any more"
    raise UsageError(
        f"The repository of {project.project_id} is gone: {project.repo} {found}.",
        hint=f"Say where it is now: medir project set --project {project.project_id} --repo PATH.",
    )
