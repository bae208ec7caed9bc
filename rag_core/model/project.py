"""A project: what is indexed, and where it lies. Pure."""

from dataclasses import dataclass, field

from rag_core.model.folders import DocumentFolders
from rag_core.model.languages import DEFAULT_LANGUAGE


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """A git repository plus its sessions.

    `root` is the folder of the repository under which `folders` are looked for, '' for its top; `golden` is
    the folder of the golden set, None for `golden_set/` in the repository's working tree. `language` is that of the
    texts which do not name another one.
    """

    project_id: str
    name: str
    repo: str
    root: str
    ref: str
    golden: str | None
    folders: DocumentFolders = field(default_factory=DocumentFolders)
    language: str = DEFAULT_LANGUAGE
