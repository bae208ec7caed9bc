"""What a run would leave of a scope whose sources are gone, and how that is told. Pure but for its errors.

A folder that became a submodule, texts that moved into Git LFS, a folder that was renamed: nothing of that is a fault
to git, and an index that follows it without a word is empty with a success code.
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType

from rag_core.chunking import FORMAT_NAMES, SUFFIXES
from rag_core.errors import SourcesGone, UsageError
from rag_core.index.left_out import Outside
from rag_core.index.matching import Plan
from rag_core.index.material import Material, Target
from rag_core.model import DOCUMENT_SCOPES, Project, Scope, StandingChunk
from rag_core.sources.documents import DocumentTree, SkippedFile, SkipReason
from rag_core.words.plurals import counted

_NAMED: Mapping[SkipReason, tuple[str, str]] = MappingProxyType(
    {
        SkipReason.SUBMODULE: ("submodule", "submodules"),
        SkipReason.LFS_POINTER: ("LFS pointer", "LFS pointers"),
        SkipReason.SYMLINK: ("symbolic link", "symbolic links"),
        SkipReason.NOT_MARKDOWN: (f"file that is no {FORMAT_NAMES}", f"files that are no {FORMAT_NAMES}"),
        SkipReason.ENCODING: ("file in no encoding that fits", "files in no encoding that fits"),
        SkipReason.TOO_LARGE: ("file over 2 MB", "files over 2 MB"),
        SkipReason.UNREADABLE: ("file that git can't read", "files that git can't read"),
        SkipReason.NAME: ("file with a path that is refused", "files with a path that is refused"),
    }
)
_ELSEWHERE = "Say where they are now: medir project set --docs DIR --adr DIR --root DIR --ref R."
_ALL = " ".join(f"'*{suffix}'" for suffix in SUFFIXES)
_REMEDIES: Mapping[SkipReason, str] = MappingProxyType(
    {
        SkipReason.SUBMODULE: "Add the submodule's own repository as a project: medir project add NAME --repo PATH.",
        SkipReason.LFS_POINTER: f"Commit the texts themselves: git lfs untrack {_ALL}, then git add --renormalize.",
        SkipReason.SYMLINK: "Name the folder that it leads to: medir project set --docs DIR --adr DIR.",
    }
)
# in any folder there may be one
_COMMON = frozenset(f"{name}{suffix}" for name in ("readme", "index", "_index") for suffix in SUFFIXES)
_YES = "If the documents were meant to go, run `medir index --yes`."


def refuse_gone(
    project: Project,
    target: Target,
    *,
    material: Material,
    plan: Plan,
    elsewhere: Callable[[], Collection[str]],
    agreed: bool,
) -> None:
    """Go on only where no scope is emptied by what stands in its files' place, unless somebody has agreed to that.

    Files of a scope that were deleted are gone because somebody took them out, and so are texts that moved into the
    other scope still there; but where no document at all is left, that too is asked about.

    `elsewhere` tells the paths of all documents in the repository, and is asked only where a scope is empty;
    `agreed`: somebody knows that the sources are gone.

    Raises:
        SourcesGone: A scope has chunks, and more than half of them would go with nothing in their stead.
        UsageError: There is nothing to index.
    """
    tree = material.tree
    if tree is None:
        return
    standing = [*plan.removed, *(chunk for chunk, _ in (*plan.kept, *plan.moved))]
    documents_stand = any(chunk.scope in DOCUMENT_SCOPES for chunk in standing)
    if not (agreed if documents_stand else material.sources.get(Scope.SESSION)):
        _refuse_nothing(project, target, tree, material.outside, documents_stand=documents_stand)
    if agreed:
        return
    wanted = {chunk.content_hash for chunk in material.chunks}
    told: list[str] = []
    remedy = ""
    for scope in DOCUMENT_SCOPES:
        gone = _gone(scope, standing, wanted, material) if scope in target.scopes else []
        found = _in_place_of(scope, project, tree)
        moved = _moved(gone, elsewhere()) if gone and not found else None
        if gone and (found or moved is not None):
            told.append(
                _emptied_told(
                    scope,
                    len(gone),
                    _listed(found) if found else f"nothing ({moved} stands in another folder)",
                )
            )
            remedy = remedy or _remedy(found)
    if told:
        emptied = " and ".join(sentence.partition(":")[0] for sentence in told)
        raise SourcesGone(
            f"At {target.ref} this run would empty {emptied}. {' '.join(told)}", hint=f"{remedy} {_YES}"
        )


def _refuse_nothing(
    project: Project, target: Target, tree: DocumentTree, outside: Outside | None, *, documents_stand: bool
) -> None:
    """Where the walk met nothing that could ever be indexed; what is there already is judged by its scope."""
    if tree.documents:
        return
    where = f"under {searched(project)} of {project.repo} at {target.ref}"
    if all(file.reason is SkipReason.NOT_MARKDOWN for file in tree.skipped):
        hint = "Commit some, or say where it is: medir project set --docs DIR --adr DIR --root DIR --ref R."
        raise UsageError(
            f"There is no {FORMAT_NAMES} file {where}."
            + (f" {outside.told}." if outside and outside.files else ""),
            hint=f"{hint} {_YES}" if documents_stand else hint,
        )
    if not documents_stand and all(file.reason.by_rule for file in tree.skipped):
        raise UsageError(
            f"There is nothing to index {where}: {_listed(tree.skipped)}.", hint=_remedy(tree.skipped)
        )


def _gone(scope: Scope, standing: Sequence[StandingChunk], wanted: set[str], material: Material) -> list[str]:
    """The indexed files of a scope that go with nothing in their stead; [] where enough of it is left."""
    own = [chunk for chunk in standing if chunk.scope is scope]
    lost = [chunk for chunk in own if chunk.content_hash not in wanted]
    if material.sources[scope] or 2 * len(lost) <= len(own):
        return []
    return sorted({chunk.origin.place.key for chunk in lost})


def _in_place_of(scope: Scope, project: Project, tree: DocumentTree) -> list[SkippedFile]:
    """What was left out in the scope's folders, or stands where one of them was."""
    folders = project.folders.docs if scope is Scope.DOCS else project.folders.adr
    return [
        file
        for file in tree.skipped
        if file.scope is scope or any(f"{folder}/".startswith(f"{file.path}/") for folder in folders)
    ]


def _moved(gone: Sequence[str], elsewhere: Collection[str]) -> str | None:
    """Where one of the files is now, if most of them stand elsewhere by the same name; None if they don't."""
    by_name = {path.rpartition("/")[2]: path for path in sorted(elsewhere, reverse=True)}
    names = [path.rpartition("/")[2] for path in gone]
    found = [by_name[name] for name in names if name in by_name and name.lower() not in _COMMON]
    return found[0] if 2 * len(found) > len(names) else None


def _emptied_told(scope: Scope, count: int, now: str) -> str:
    every = "the one file" if count == 1 else f"all {count:,} files"
    return f"{scope}: {every} in the index would go, and what stands there now is {now}."


def _listed(skipped: Sequence[SkippedFile]) -> str:
    """What was left out, by reason: `2 LFS pointers, 1 submodule (docs)`."""
    count = Counter(file.reason for file in skipped)
    example = {file.reason: file.path for file in reversed(skipped)}
    return ", ".join(
        f"{counted(number, *_NAMED[reason])}" + (f" ({example[reason]})" if number == 1 else "")
        for reason, number in count.most_common()
    )


def _remedy(skipped: Sequence[SkippedFile]) -> str:
    known = Counter(file.reason for file in skipped if file.reason in _REMEDIES)
    return _REMEDIES[known.most_common(1)[0][0]] if known else _ELSEWHERE


def searched(project: Project) -> str:
    """The folders as a person would name them; one inside another is not named."""
    inside = [f"{project.root}/{folder}".strip("/") for folder in project.folders.all]
    outermost = [f for f in inside if not any(f.startswith(f"{other}/") for other in inside)]
    return " and ".join(f"{folder}/" if folder else "the top" for folder in outermost)
