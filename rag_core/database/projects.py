"""Projects: what is indexed, and where it lies."""

from typing import Any

from psycopg import sql
from psycopg.rows import kwargs_row

from rag_core.database.connecting import Connection
from rag_core.model import DocumentFolders, Project

_PROJECTS = sql.SQL(
    "select project_id, name, repo, root, ref, golden, docs_folders, adr_folders, language from projects"
)


def insert_project(connection: Connection, project: Project) -> bool:
    """Write a new project; false when its id is taken."""
    cursor = connection.execute(
        """
        insert into projects (project_id, name, repo, root, ref, golden, docs_folders, adr_folders, language)
        values (
            %(project_id)s, %(name)s, %(repo)s, %(root)s, %(ref)s, %(golden)s, %(docs_folders)s,
            %(adr_folders)s, %(language)s
        )
        on conflict (project_id) do nothing
        """,
        _values(project),
    )
    return cursor.rowcount == 1


def update_project(connection: Connection, project: Project) -> bool:
    """Write a known project's new values; false when there is none."""
    cursor = connection.execute(
        """
        update projects
        set name = %(name)s, repo = %(repo)s, root = %(root)s, ref = %(ref)s, golden = %(golden)s,
            docs_folders = %(docs_folders)s, adr_folders = %(adr_folders)s, language = %(language)s
        where project_id = %(project_id)s
        """,
        _values(project),
    )
    return cursor.rowcount == 1


def delete_project(connection: Connection, project_id: str) -> bool:
    """Remove a project and everything that belongs to it; false when there is none."""
    return connection.execute("delete from projects where project_id = %s", (project_id,)).rowcount == 1


def find_project(connection: Connection, project_id: str) -> Project | None:
    """One project by its id."""
    with connection.cursor(row_factory=kwargs_row(_project)) as cursor:
        return cursor.execute(
            sql.SQL("""
            {projects}
            where project_id = %s
            """).format(projects=_PROJECTS),
            (project_id,),
        ).fetchone()


def list_projects(connection: Connection) -> list[Project]:
    """All projects, by id."""
    with connection.cursor(row_factory=kwargs_row(_project)) as cursor:
        return cursor.execute(
            sql.SQL("""
            {projects}
            order by project_id collate "C"
            """).format(projects=_PROJECTS)
        ).fetchall()


def _project(*, docs_folders: list[str], adr_folders: list[str], **values: Any) -> Project:
    return Project(folders=DocumentFolders(docs=tuple(docs_folders), adr=tuple(adr_folders)), **values)


def _values(project: Project) -> dict[str, str | list[str] | None]:
    return {
        "project_id": project.project_id,
        "name": project.name,
        "repo": project.repo,
        "root": project.root,
        "ref": project.ref,
        "golden": project.golden,
        "docs_folders": list(project.folders.docs),
        "adr_folders": list(project.folders.adr),
        "language": project.language,
    }
