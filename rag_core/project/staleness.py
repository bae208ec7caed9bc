"""Whether an index is of today: how far its repository has moved on, and whether any indexed text has changed.

Only committed text is indexed, so only commits make an index stale.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rag_core.chunking import chunk_document
from rag_core.database.connections import Database
from rag_core.database.index.chunks import read_standing
from rag_core.database.index.identity import ScopeState, read_identity
from rag_core.errors import MedirError, Unavailable
from rag_core.model import DOCUMENT_SCOPES, Chunk, Place, Project, Scope
from rag_core.model.languages import language_of
from rag_core.model.shape import Shape
from rag_core.project.projects import current_commit
from rag_core.sources.decoding import MAX_BYTES, Undecodable, decode, is_lfs_pointer
from rag_core.sources.documents import document_blobs, require_little
from rag_core.sources.git import GitRepository
from rag_core.sources.project_repository import repository_of
from rag_core.words.languages import told_words
from rag_core.words.plurals import counted


@dataclass(frozen=True, slots=True, kw_only=True)
class Staleness(Shape):
    """An index that was made at another commit than its project's.

    `commits_behind` counts those that touched the project's folder in between, None where history doesn't tell.
    `text_changed` says whether a run would find another text or place than is indexed; it is None, with a
    `reason`, where the repository can't be read.
    """

    commits_behind: int | None
    text_changed: bool | None
    reason: str | None = None


def measure_staleness(
    database: Database, project: Project, states: Mapping[Scope, ScopeState]
) -> Staleness | None:
    """Compare what was indexed with the project's commit now; None where they agree.

    The database is asked only where git lacks the commit that was indexed; `states` are the index's scopes as
    the caller saw them.
    """
    try:
        head = current_commit(project)
        behind = {scope: states[scope].commit if scope in states else None for scope in DOCUMENT_SCOPES}
        behind = {scope: commit for scope, commit in behind.items() if commit != head}
        if not behind:
            return None
        repository = repository_of(project)
        counts = [
            None if commit is None else repository.count_between(commit, head, project.root)
            for commit in behind.values()
        ]
        return Staleness(
            commits_behind=None if None in counts else max(count or 0 for count in counts),
            text_changed=any(
                _changed(database, repository, project, scope, old=commit, new=head)
                for scope, commit in behind.items()
            ),
        )
    except MedirError as error:
        return Staleness(
            commits_behind=None, text_changed=None, reason=f"{error.message} {error.hint}".strip()
        )


def told_standing(run: Mapping[str, object]) -> tuple[str, ...]:
    """What a golden run says of the ground that it stood on, in sentences; empty where all is as it should be."""
    return (*_told_stale(run.get("stale")), *_told_words(run), *_told_provider(run), *_told_settings(run))


def is_of_today(run: Mapping[str, object]) -> bool:
    """Whether a golden run stood on the repository's texts and words, and on the provider that searches meet."""
    stale = run.get("stale")
    fresh = not isinstance(stale, Mapping) or stale.get("textChanged") is False
    same = run.get("providerChanged") is not True and run.get("providerReason") is None
    return fresh and same and run.get("wordsChanged") is None


def _told_stale(stale: object) -> Iterator[str]:
    if not isinstance(stale, Mapping):
        return
    behind, changed = stale.get("commitsBehind"), stale.get("textChanged")
    where = (
        f"The index is {counted(behind, 'commit')} behind the repository"
        if isinstance(behind, int)
        else "The index was made at another commit than the repository's"
    )
    if changed is None:
        yield f"Whether the index is stale can't be told: {stale.get('reason')}"
    elif changed:
        yield f"Stale: {where[0].lower()}{where[1:]}, and indexed text has changed since. Run: medir index"
    else:
        yield f"{where}; no indexed text has changed."


def _told_words(run: Mapping[str, object]) -> Iterator[str]:
    changed = run.get("wordsChanged")
    told = told_words(str(changed["made"]), str(changed["wanted"])) if isinstance(changed, Mapping) else None
    if told is not None:
        yield f"{told} Run: medir index"


def _told_settings(run: Mapping[str, object]) -> Iterator[str]:
    made_for = run.get("settingsMadeFor")
    if made_for is not None:
        yield f"These numbers were decided for {made_for}, whose scores have another scale: calibrate again."


def _told_provider(run: Mapping[str, object]) -> Iterator[str]:
    index, reason = run.get("index"), run.get("providerReason")
    made_by = index.get("model") if isinstance(index, Mapping) else None
    if run.get("providerChanged") is True:
        now = run.get("providerModel") or "another one"
        yield (
            f"The embedding model has changed: {made_by} made the index, and the provider is {now} now. Live "
            "searches are lexical only until that model is back, or the index is made anew: medir index --mode full"
        )
    elif reason is not None:
        yield f"The embedding provider does not answer, so live searches are lexical only until it does: {reason}"


def _changed(
    database: Database,
    repository: GitRepository,
    project: Project,
    scope: Scope,
    *,
    old: str | None,
    new: str,
) -> bool:
    """Whether a run at `new` would give the scope other chunks than one at `old` did, in the same language."""
    language = _language_of_index(database, project)
    wanted = _blobs(repository, project, scope, new)
    if old is None:
        return any(True for chunks in _cut(repository, wanted, scope, language).values() if chunks)
    try:
        known = _blobs(repository, project, scope, old)
    except Unavailable:
        return _differs_from_index(database, project, scope, _cut(repository, wanted, scope, language))
    touched = {path for path in known.keys() | wanted.keys() if known.get(path) != wanted.get(path)}
    before = _cut(repository, {path: oid for path, oid in known.items() if path in touched}, scope, language)
    after = _cut(repository, {path: oid for path, oid in wanted.items() if path in touched}, scope, language)
    return any(before.get(path, ()) != after.get(path, ()) for path in touched)


def _language_of_index(database: Database, project: Project) -> str:
    with database.connection() as connection:
        made = read_identity(connection, project.project_id)
    return project.language if made is None else language_of(made.text_search_config)


def _blobs(repository: GitRepository, project: Project, scope: Scope, commit: str) -> dict[str, str]:
    found = document_blobs(repository, commit=commit, root=project.root, folders=project.folders)
    return {path: oid for path, oid in found.items() if project.folders.scope_of(path) is scope}


def _cut(
    repository: GitRepository, blobs: Mapping[str, str], scope: Scope, language: str
) -> dict[str, tuple[Chunk, ...]]:
    """The chunks of each file; none of one that a run would leave out."""
    oids = list(blobs.values())
    sizes = dict(zip(oids, repository.read_sizes(oids), strict=True))
    require_little(repository, (sizes[oid] for oid in oids if (sizes[oid] or 0) <= MAX_BYTES))
    contents = repository.read_blobs(oids, at_most=MAX_BYTES, sizes=sizes)
    return {path: _chunks(blob, path, scope, language) for path, blob in zip(blobs, contents, strict=True)}


def _chunks(blob: bytes | None, path: str, scope: Scope, language: str) -> tuple[Chunk, ...]:
    if blob is None or is_lfs_pointer(blob):
        return ()
    try:
        text = decode(blob).text
    except Undecodable:
        return ()
    return chunk_document(text, place=Place("file", path), scope=scope, language=language)


def _differs_from_index(
    database: Database, project: Project, scope: Scope, files: Mapping[str, tuple[Chunk, ...]]
) -> bool:
    with database.connection() as connection:
        standing = read_standing(connection, project.project_id, (scope,), None)
    indexed = {(chunk.origin.place, chunk.ordinal, chunk.content_hash, chunk.language) for chunk in standing}
    return indexed != {
        (chunk.origin.place, chunk.ordinal, chunk.content_hash, chunk.language)
        for chunks in files.values()
        for chunk in chunks
    }
