"""Which folders of a repository hold documents, and which of them decisions."""

from dataclasses import dataclass

from rag_core.errors import InvalidInput, UsageError
from rag_core.model.words import Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentFolders:
    """Folders under a project's root, without slashes at their ends; '' is the root itself.

    A file belongs to the deepest folder that holds it; in a folder named as both, it is a decision.
    """

    docs: tuple[str, ...] = ("docs",)
    adr: tuple[str, ...] = ("docs/adr",)

    def __post_init__(self) -> None:
        if not self.all:
            raise InvalidInput(
                "No folder is left to be read.", hint="Name one with --docs DIR or with --adr DIR."
            )

    @property
    def all(self) -> tuple[str, ...]:
        """Every folder once, documents first."""
        return tuple(dict.fromkeys((*self.docs, *self.adr)))

    def hold(self, path: str) -> bool:
        """Whether a file lies in any of the folders.

        Examples:
            >>> DocumentFolders().hold("docs/guia.md"), DocumentFolders().hold("README.md")
            (True, False)
        """
        return _deepest(path, self.all) >= 0

    def scope_of(self, path: str) -> Scope:
        """The scope of a file in one of the folders.

        Examples:
            >>> DocumentFolders().scope_of("docs/adr/0001-a.md"), DocumentFolders().scope_of("docs/guia.md")
            (<Scope.ADR: 'adr'>, <Scope.DOCS: 'docs'>)
        """
        return Scope.ADR if _deepest(path, self.adr) >= _deepest(path, self.docs) else Scope.DOCS


def tidy_folder(given: str) -> str:
    """A folder as it is kept: no slashes at its ends, '' for `.`.

    Raises:
        UsageError: It is empty, or leads out of the project's root.

    Examples:
        >>> tidy_folder("./docs/decisions/"), tidy_folder(".")
        ('docs/decisions', '')
    """
    if not given.strip():
        raise UsageError(
            "A folder has no name.", hint="Name one inside the repository, or . for the whole of it."
        )
    parts = [part for part in given.strip().split("/") if part not in ("", ".")]
    if ".." in parts:
        raise UsageError(f"The folder {given!r} leaves the repository.", hint="Give a folder inside it.")
    return "/".join(parts)


def _deepest(path: str, folders: tuple[str, ...]) -> int:
    """The length of the longest of the folders that holds the path, or is it; -1 for none."""
    holding = [len(folder) for folder in folders if not folder or f"{path}/".startswith(f"{folder}/")]
    return max(holding, default=-1)
