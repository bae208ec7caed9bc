"""Projects as people name them: added, changed, found, and where their golden set lies."""

import dataclasses
import re
import unicodedata
from collections.abc import Sequence
from pathlib import Path

from rag_core.database.connections import Database
from rag_core.database.index.identity import IndexIdentity, read_identity
from rag_core.database.projects import (
    delete_project,
    find_project,
    insert_project,
    list_projects,
    update_project,
)
from rag_core.errors import InvalidInput, Refused, UsageError
from rag_core.model import DocumentFolders, Project
from rag_core.model.folders import tidy_folder
from rag_core.model.languages import DEFAULT_LANGUAGE, language_meant, text_search_config
from rag_core.sources.git import GitRepository
from rag_core.sources.project_repository import refuse_gone_repository, repository_of
from rag_core.words.languages import LISTED, told_words

SAMPLE = "sample"
_SLUG = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")


def slug(name: str) -> str:
    """A project's id from its name: lower case, accents dropped, other signs as single hyphens.

    Raises:
        InvalidInput: Nothing of the name is left.

    Examples:
        >>> slug("Cobrança & Fiscal")
        'cobranca-fiscal'
    """
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    made = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:63].rstrip("-")
    if not made:
        raise InvalidInput(
            f"No project id can be made from {name!r}.", hint="Use a name with letters or digits."
        )
    return made


def add_project(
    database: Database,
    name: str,
    *,
    repo: Path,
    root: str = "",
    ref: str = "HEAD",
    golden: Path | None = None,
    docs: Sequence[str] = (),
    adr: Sequence[str] = (),
    language: str = DEFAULT_LANGUAGE,
) -> Project:
    """Register a repository as a project; nothing is indexed yet.

    Without `docs` and `adr`, documents are looked for in `docs/` and decisions in `docs/adr/`. `language` is a name or
    a code, as people write them.

    Raises:
        InvalidInput: There is no such language.
        Refused: A project of that id exists.
        UsageError: `repo` is no repository, or lacks `ref` or `root`.
    """
    project = checked(
        Project(
            project_id=slug(name),
            name=name,
            repo=str(repo),
            root=root,
            ref=ref,
            golden=None if golden is None else str(golden.resolve()),
            language=require_language(language),
        ),
        docs=docs,
        adr=adr,
    )
    with database.connection() as connection:
        if not insert_project(connection, project):
            raise Refused(
                f"There is a project {project.project_id!r} already.",
                hint="Choose another name, or change it with `medir project set`.",
            )
    return project


def set_project(
    database: Database,
    project: Project,
    *,
    repo: Path | None = None,
    root: str | None = None,
    ref: str | None = None,
    golden: Path | None = None,
    docs: Sequence[str] = (),
    adr: Sequence[str] = (),
    language: str | None = None,
) -> Project:
    """Change what is given of a project.

    Raises:
        InvalidInput: There is no such language.
        UsageError: The repository, ref or folder does not exist.
    """
    if repo is None:
        refuse_gone_repository(project)
    changed = checked(
        dataclasses.replace(
            project,
            repo=project.repo if repo is None else str(repo),
            root=project.root if root is None else root,
            ref=project.ref if ref is None else ref,
            golden=project.golden if golden is None else str(golden.resolve()),
            language=project.language if language is None else require_language(language),
        ),
        docs=docs,
        adr=adr,
    )
    with database.connection() as connection:
        update_project(connection, changed)
    return changed


def remove_project(database: Database, project_id: str) -> None:
    """Delete a project with its index, searches, votes and runs.

    Raises:
        UsageError: There is none of that id.
    """
    with database.connection() as connection:
        if not delete_project(connection, project_id):
            raise _unknown(project_id, [project.project_id for project in list_projects(connection)])


def choose_project(database: Database, project_id: str | None) -> Project:
    """The project that is meant: the one named, else the only one there is, else `sample`.

    Raises:
        UsageError: There is no such project.
    """
    with database.connection() as connection:
        projects = list_projects(connection)
        if project_id is None:
            project_id = projects[0].project_id if len(projects) == 1 else SAMPLE
        found = find_project(connection, project_id)
    if found is None:
        raise _unknown(project_id, [project.project_id for project in projects])
    return found


def current_commit(project: Project) -> str:
    """The last commit of the project's ref that touched its folder.

    Raises:
        UsageError: The repository or the ref does not exist.
    """
    return repository_of(project).last_commit_of(project.ref, project.root)


def folders_missing(project: Project) -> tuple[str, ...]:
    """The folders to be indexed where the repository has none of them, so that there is nothing to index; else ().

    Raises:
        UsageError: The repository or the ref does not exist.
    """
    repository = repository_of(project)
    commit = repository.resolve(project.ref)
    base = f"{project.root}/" if project.root else ""
    named = tuple(f"{base}{folder}".strip("/") for folder in project.folders.all)
    return () if any(not each or repository.has_folder(commit, each) for each in named) else named


def require_language(text: str) -> str:
    """The language that is meant by a name (`english`) or a code (`en`, `pt-BR`).

    Raises:
        InvalidInput: There is none of that name.
    """
    meant = language_meant(text)
    if meant is None:
        raise InvalidInput(
            f"{text!r} is no language whose words can be searched.",
            hint=f"Give one of these, or its code: {LISTED}.",
        )
    return meant


def words_changed(project: Project, index: IndexIdentity | None) -> str | None:
    """Why the project's index must be made anew for its words, in a sentence; None where it need not."""
    if index is None:
        return None
    return told_words(index.text_search_config, text_search_config(project.language))


def told_reindex(database: Database, project: Project) -> str | None:
    """The same of the index as it is, with the command that mends it."""
    with database.connection() as connection:
        sentence = words_changed(project, read_identity(connection, project.project_id))
    return None if sentence is None else f"{sentence} Run: medir index"


def checked(project: Project, *, docs: Sequence[str] = (), adr: Sequence[str] = ()) -> Project:
    """The project with its repository's top, a tidy root and the folders given in place of its own.

    Raises:
        UsageError: The repository, the ref or a folder that was given does not exist.
    """
    repository = GitRepository(Path(project.repo))
    root = tidy_folder(project.root) if project.root else ""
    commit = repository.resolve(project.ref)
    root = repository.folder_meant(commit, root)

    def meant(folder: str) -> str:
        base, tidy = f"{root}/" if root else "", tidy_folder(folder)
        return repository.folder_meant(commit, f"{base}{tidy}").removeprefix(base) if tidy else ""

    given_docs, given_adr = tuple(map(meant, docs)), tuple(map(meant, adr))
    for folder in ("", *given_docs, *given_adr):
        inside = f"{root}/{folder}".strip("/")
        if inside and not repository.has_folder(commit, inside):
            raise UsageError(
                f"The repository {repository.top} has no folder {inside!r} at {project.ref}.",
                hint="Give a folder of the repository that is committed.",
            )
    folders = DocumentFolders(docs=given_docs or project.folders.docs, adr=given_adr or project.folders.adr)
    return dataclasses.replace(project, repo=str(repository.top), root=root, folders=folders)


def _unknown(project_id: str, known: list[str]) -> UsageError:
    if not _SLUG.fullmatch(project_id):
        return UsageError(
            f"{project_id!r} is no project id.",
            hint="An id is made of a-z, 0-9 and hyphens; see `medir project list`.",
        )
    listed = (
        f"Known projects: {', '.join(known)}." if known else "There are none yet; `medir up` adds the sample."
    )
    return UsageError(f"There is no project {project_id!r}.", hint=listed)
