"""`medir project`: what is indexed, and where it lies."""

import sys
from collections.abc import Callable
from pathlib import Path

import click

from medir.cli.frame import Output, chosen_project, project_option, services, with_output
from medir.cli.paths import ANY_PATH
from rag_core.database.projects import list_projects
from rag_core.errors import MedirError, Refused
from rag_core.model import Project
from rag_core.model.languages import DEFAULT_LANGUAGE
from rag_core.model.shape import keyed
from rag_core.project.projects import (
    add_project,
    current_commit,
    folders_missing,
    remove_project,
    set_project,
    told_reindex,
)


def _folder_options(command: Callable[..., None]) -> Callable[..., None]:
    """`--docs` and `--adr`, each as often as there are folders."""
    for flag, held, default in (("--adr", "decisions", "docs/adr"), ("--docs", "documents", "docs")):
        command = click.option(
            flag,
            multiple=True,
            metavar="DIR",
            help=f"Folder under --root that holds {held}; may be repeated. Default {default}.",
        )(command)
    return command


_language_option = click.option(
    "--language",
    metavar="L",
    help="Language of the texts that name none of their own: english or en, pt-BR. Default portuguese.",
)


@click.group("project")
def project() -> None:
    """Projects: repositories and where their golden sets lie."""


@project.command("add")
@click.argument("name")
@click.option("--repo", type=ANY_PATH, required=True, metavar="PATH", help="A git repository, bare or not.")
@click.option("--root", default="", metavar="DIR", help="Folder of the repository that holds docs/.")
@click.option("--ref", default="HEAD", metavar="R", help="Branch, tag or commit to index.")
@click.option(
    "--golden",
    type=ANY_PATH,
    metavar="DIR",
    help="Folder of cases.yaml; default golden_set/ of the repository.",
)
@_folder_options
@_language_option
@with_output
def add_verb(
    output: Output,
    *,
    name: str,
    repo: Path,
    root: str,
    ref: str,
    golden: Path | None,
    docs: tuple[str, ...],
    adr: tuple[str, ...],
    language: str | None,
) -> None:
    """Add a project. Index it with `medir index`."""
    with services() as opened:
        added = add_project(
            opened.database,
            name,
            repo=repo,
            root=root,
            ref=ref,
            golden=golden,
            docs=docs,
            adr=adr,
            language=DEFAULT_LANGUAGE if language is None else language,
        )
    output.emit(_to_json(added))
    output.say(f"Added {added.project_id}. Next: medir index --project {added.project_id}")
    _note_missing_folders(output, added)


@project.command("set")
@project_option
@click.option("--repo", type=ANY_PATH, metavar="PATH")
@click.option("--root", metavar="DIR")
@click.option("--ref", metavar="R")
@click.option("--golden", type=ANY_PATH, metavar="DIR")
@_folder_options
@_language_option
@with_output
def set_verb(
    output: Output,
    *,
    project_id: str | None,
    repo: Path | None,
    root: str | None,
    ref: str | None,
    golden: Path | None,
    docs: tuple[str, ...],
    adr: tuple[str, ...],
    language: str | None,
) -> None:
    """Change where a project lies and its language. A run of `medir index` follows the change."""
    with services() as opened:
        changed = set_project(
            opened.database,
            chosen_project(opened, project_id),
            repo=repo,
            root=root,
            ref=ref,
            golden=golden,
            docs=docs,
            adr=adr,
            language=language,
        )
        reindex = told_reindex(opened.database, changed)
    output.emit(_to_json(changed))
    output.say(f"Changed {changed.project_id}.")
    _note_missing_folders(output, changed)
    if reindex is not None:
        # a program that asked for JSON is told too
        output.note(reindex)


@project.command("list")
@with_output
def list_verb(output: Output) -> None:
    """All projects."""
    with services() as opened, opened.database.connection() as connection:
        projects = list_projects(connection)
    output.emit([_to_json(found) for found in projects])
    if not projects:
        output.say(
            "There are no projects yet. Add one with `medir project add`, or the sample with `medir up`."
        )
    for found in projects:
        where = f"{found.repo}{f' ({found.root})' if found.root else ''}"
        output.say(f"{found.project_id}  {where}  {found.language}")


@project.command("show")
@click.argument("project_name", metavar="[PROJECT]", required=False)
@project_option
@with_output
def show_verb(output: Output, project_name: str | None, project_id: str | None) -> None:
    """One project."""
    with services() as opened:
        found = _to_json(chosen_project(opened, project_name or project_id))
    output.emit(found)
    for key, value in found.items():
        shown = ", ".join(map(str, value)) if isinstance(value, list) else value
        output.say(f"{key}: {'-' if shown is None else shown}")


@project.command("remove")
@click.argument("project_name", metavar="[PROJECT]", required=False)
@project_option
@click.option("--yes", is_flag=True, help="Do not ask.")
@with_output
def remove_verb(output: Output, project_name: str | None, project_id: str | None, yes: bool) -> None:
    """Delete a project with its index, searches, votes and runs."""
    with services() as opened:
        found = chosen_project(opened, project_name or project_id)
        if not yes and (output.as_json or not sys.stdin.isatty()):
            raise Refused(f"Nobody is here to be asked whether {found.project_id} may go.", hint="Add --yes.")
        if not yes:
            click.confirm(
                f"Delete {found.project_id} with its index, searches, votes and runs?", abort=True, err=True
            )
        remove_project(opened.database, found.project_id)
    output.emit({"removed": found.project_id})
    output.say(f"Removed {found.project_id}.")


def _note_missing_folders(output: Output, found: Project) -> None:
    """A project may be added before its documents are committed; that there are none is still said."""
    missing = folders_missing(found)
    if missing:
        output.note(
            f"Nothing to index yet: the repository has no folder {' or '.join(missing)} at {found.ref}. Commit one, or "
            f"name the folders that hold the documents: medir project set --project {found.project_id} --docs DIR"
        )


def _to_json(found: Project) -> dict[str, object]:
    try:
        commit = current_commit(found)
    except MedirError:
        commit = None
    own = keyed(found, "name", "repo", "root", "ref", "golden", "language") | keyed(
        found.folders, "docs", "adr"
    )
    return {"project": found.project_id} | own | {"commit": commit}
