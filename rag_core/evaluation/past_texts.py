"""Texts of a project as they stand and as they stood: in its index, in a baseline, and in its git history."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rag_core.chunking import below_headings, chunk_document, clean_text
from rag_core.database.connections import Database
from rag_core.database.index.chunks import find_text, read_place_texts, read_texts_with
from rag_core.errors import MedirError
from rag_core.evaluation.sides import Side
from rag_core.golden.departures import Departure
from rag_core.golden.losses import SinceCommit, StandingText
from rag_core.model import Chunk, Origin, Place, Project, Scope
from rag_core.sources.decoding import Undecodable, decode, is_lfs_pointer
from rag_core.sources.departures import find_departure
from rag_core.sources.git import GitRepository
from rag_core.sources.git_process import GitFailed
from rag_core.sources.project_repository import repository_of
from rag_core.sources.text_history import FileHistory, FilesHistory

_PROBE_CHARS = 80
_NO_COMMIT = "At which commit it was indexed is not known."
_NO_REPOSITORY = "The repository can't be read here, so the commit is not known."


@dataclass(frozen=True, slots=True)
class _Body:
    """What stood below a text's heading. Of a section that is `cut`, another heading moves the places of the cuts."""

    text: str
    cut: bool

    @property
    def middle(self) -> str:
        """What is looked for: all of it, or so little of a cut one that it lies within one piece."""
        start = max(0, len(self.text) // 2 - _PROBE_CHARS // 2)
        return self.text[start : start + _PROBE_CHARS] if self.cut else self.text

    def is_of(self, content: str, place: Place) -> bool:
        """Whether a chunk of that place has this text, or of a cut one the middle of it."""
        return self.middle in content if self.cut else below_headings(content, place) == self.text


class PastTexts(ABC):
    """A project's files up to a commit, None where it is not known."""

    def __init__(self, project: Project, *, commit: str | None) -> None:
        self._project = project
        self._commit = commit

    def taken(self, place: Place, content_hash: str) -> SinceCommit:
        """The commit that took a text out of a file."""
        history = self._history(place)
        if isinstance(history, SinceCommit):
            return history
        whole = _Holds(place, content_hash)
        body = _body(history, whole)
        if body is None:
            return history.taken(whole)
        below = _HoldsBody(place, body)
        content = history.content()
        return history.taken(whole if content is not None and below(content) else below)

    def under_another_heading(self, place: Place, content_hash: str) -> Origin | None:
        """Where a file's former text stands below other heading lines: in that file, else elsewhere."""
        history = self._history(place)
        body = None if isinstance(history, SinceCommit) else _body(history, _Holds(place, content_hash))
        return None if body is None else self._holder_of_body(place, body)

    @abstractmethod
    def standing(self, place: Place) -> Sequence[StandingText]:
        """All texts of a place, in their order; empty where it is not there."""

    @abstractmethod
    def holder_of(self, content_hash: str) -> Origin | None:
        """Where a text stands; None where it is nowhere."""

    @abstractmethod
    def _holder_of_body(self, place: Place, body: _Body) -> Origin | None: ...

    def brought(self, place: Place, content_hash: str) -> SinceCommit:
        """The commit that brought a text into a file."""
        history = self._history(place)
        return history if isinstance(history, SinceCommit) else history.brought(_Holds(place, content_hash))

    def unchanged_since(self, place: Place, commit: str | None) -> bool:
        """Whether a file is known to be the same as at an earlier commit."""
        history = self._history(place)
        return commit is not None and not isinstance(history, SinceCommit) and history.unchanged_since(commit)

    def committed(self, place: Place) -> list[StandingText] | None:
        """The texts of a file at the commit; None where they can't be had."""
        history = self._history(place)
        content = None if isinstance(history, SinceCommit) else history.content()
        return None if content is None else _cut(content, place)

    def departure(self, place: Place) -> Departure | None:
        """What became of a file that is not there any more; None where git doesn't know."""
        found = self._repository()
        if place.kind == "session" or isinstance(found, SinceCommit):
            return None
        repository, commit = found
        return find_departure(repository, commit, place.key, root=self._project.root)

    def presence(self, texts: Sequence[StandingText], *, since: str | None) -> "PastPresence | None":
        """Which of the texts stood at each commit; None where that can't be known.

        Args:
            texts: What is asked about.
            since: The commit at which those were indexed that are gone now.
        """
        found = self._repository()
        places = dict.fromkeys(text.origin.place for text in texts if text.origin.place.kind == "file")
        if isinstance(found, SinceCommit) or since is None or not places:
            return None
        paths = {place: self._full(place) for place in places}
        return PastPresence(FilesHistory(*found, list(paths.values())), paths, texts, since=since)

    def _history(self, place: Place) -> FileHistory | SinceCommit:
        if place.kind == "session":
            return SinceCommit(commit=None)
        found = self._repository()
        return found if isinstance(found, SinceCommit) else FileHistory(*found, self._full(place))

    def _repository(self) -> tuple[GitRepository, str] | SinceCommit:
        if self._commit is None:
            return SinceCommit(commit=None, unknown=_NO_COMMIT)
        try:
            repository = repository_of(self._project)
            return repository, repository.resolve(self._commit)
        except MedirError:
            return SinceCommit(commit=None, unknown=_NO_REPOSITORY)

    def _full(self, place: Place) -> str:
        return f"{self._project.root}/{place.key}" if self._project.root else place.key


class IndexedTexts(PastTexts):
    """The texts of a project's index, which was made at `commit`."""

    def __init__(self, database: Database, project: Project, *, commit: str | None) -> None:
        super().__init__(project, commit=commit)
        self._database = database

    def standing(self, place: Place) -> Sequence[StandingText]:
        """All texts of a place, by ordinal."""
        with self._database.connection() as connection:
            found = read_place_texts(connection, self._project.project_id, place)
        return [StandingText(origin, content_hash) for origin, content_hash in found]

    def holder_of(self, content_hash: str) -> Origin | None:
        """Where a text stands, the first place of several."""
        with self._database.connection() as connection:
            return find_text(connection, self._project.project_id, content_hash)

    def _holder_of_body(self, place: Place, body: _Body) -> Origin | None:
        with self._database.connection() as connection:
            found = [
                origin
                for origin, content in read_texts_with(connection, self._project.project_id, body.middle)
                if body.is_of(content, origin.place)
            ]
        return next((origin for origin in found if origin.place == place), found[0] if found else None)


class FrozenTexts(PastTexts):
    """The texts of a baseline, as far as its candidates and the commit of its index tell."""

    def __init__(self, project: Project, side: Side) -> None:
        commit = side.detail["commit"]
        super().__init__(project, commit=None if commit is None else str(commit))
        self._origins = {
            candidate.content_hash: candidate.origin
            for found in side.found or ()
            for candidate in found.candidates
        }

    def standing(self, place: Place) -> Sequence[StandingText]:
        """All texts of a file; of a session, or without its repository, those among the candidates."""
        committed = self.committed(place)
        if committed is not None:
            return committed
        return [
            StandingText(origin, content_hash)
            for content_hash, origin in self._origins.items()
            if origin.place == place
        ]

    def holder_of(self, content_hash: str) -> Origin | None:
        """Where a text stands among the candidates."""
        return self._origins.get(content_hash)

    def _holder_of_body(self, place: Place, body: _Body) -> Origin | None:
        places = dict.fromkeys((place, *(origin.place for origin in self._origins.values())))
        for each in places:
            history = self._history(each)
            content = None if isinstance(history, SinceCommit) else history.content()
            chunks = () if content is None else _chunks(content, each)
            found = next((chunk for chunk in chunks if body.is_of(chunk.content, each)), None)
            if found is not None:
                return found.origin
        return None


@dataclass(frozen=True, slots=True)
class _Holds:
    """Whether a file's content is cut into a text with that hash."""

    place: Place
    content_hash: str

    def __call__(self, blob: bytes) -> bool:
        return any(text.content_hash == self.content_hash for text in _cut(blob, self.place))


@dataclass(frozen=True, slots=True)
class _HoldsBody:
    """Whether a file's content has that text, below whatever heading."""

    place: Place
    body: _Body

    def __call__(self, blob: bytes) -> bool:
        chunks = _chunks(blob, self.place)
        if any(below_headings(chunk.content, self.place) == self.body.text for chunk in chunks):
            return True
        return self.body.cut and self.body.text in _text(blob)


def _body(history: FileHistory, whole: _Holds) -> _Body | None:
    """What stood below the heading of a file's former text; None where git has it not, or where others have it too."""
    content = history.newest(whole)
    return _body_in(() if content is None else _chunks(content, whole.place), whole)


def _body_in(chunks: Sequence[Chunk], whole: _Holds) -> _Body | None:
    bodies = [below_headings(chunk.content, whole.place) for chunk in chunks]
    own = next((at for at, chunk in enumerate(chunks) if chunk.content_hash == whole.content_hash), None)
    # what several sections say alike ("To be written.") does not tell which of them is meant
    if own is None or bodies.count(bodies[own]) > 1:
        return None
    trails = [chunk.origin.heading_path for chunk in chunks]
    return _Body(bodies[own], cut=trails.count(trails[own]) > 1)


@dataclass(frozen=True, slots=True)
class _Version:
    """What one content of a file is cut into."""

    texts: tuple[StandingText, ...]
    bodies: frozenset[int]

    @property
    def hashes(self) -> frozenset[str]:
        return frozenset(text.content_hash for text in self.texts)

    @property
    def trails(self) -> frozenset[tuple[str, ...]]:
        return frozenset(text.origin.heading_path for text in self.texts)


class PastPresence:
    """Which texts stood at a commit.

    A text that is gone now is followed under other headings, and through changes for as long as its section stood;
    where the section still stands with another text, only the text itself is followed.
    """

    def __init__(
        self,
        history: FilesHistory,
        paths: Mapping[Place, str],
        texts: Sequence[StandingText],
        *,
        since: str,
    ) -> None:
        self.history = history
        self._paths = paths
        self._files: dict[str, dict[str, str]] = {}
        self._versions: dict[tuple[Place, str], _Version] = {}
        self._bodies = {
            (text.origin.place, text.content_hash): self._followed_body(text, since)
            for text in texts
            if text.origin.place in paths
        }

    def stands(self, text: StandingText, commit: str) -> bool:
        """Whether a text, or the section that it became, stands in its file."""
        place = text.origin.place
        if self._holds(text, commit):
            return True
        body = self._bodies.get((place, text.content_hash))
        version = self._version(place, commit)
        if body is None or version is None:
            return False
        known, trail_gone = body
        if trail_gone and text.origin.heading_path in version.trails:
            return True
        return known is not None and self._has_body(place, commit, known)

    def left(self, place: Place, commit: str) -> Sequence[StandingText] | None:
        """All texts of a file; None where there is no file."""
        version = self._version(place, commit)
        return None if version is None else version.texts

    def _followed_body(self, text: StandingText, since: str) -> tuple[_Body | None, bool] | None:
        """The text below the headings, and whether its headings are gone; None for what is new."""
        place, tip = text.origin.place, self.history.tip
        try:
            blob = self._blob(place, since)
        except GitFailed:
            return None
        chunks = () if blob is None else _chunks(blob, place)
        if all(chunk.content_hash != text.content_hash for chunk in chunks):
            return None
        body = _body_in(chunks, _Holds(place, text.content_hash))
        if body is not None and self._has_body(place, tip, body):
            body = None
        now = self._version(place, tip)
        return body, now is None or text.origin.heading_path not in now.trails

    def _holds(self, text: StandingText, commit: str) -> bool:
        version = self._version(text.origin.place, commit)
        return version is not None and text.content_hash in version.hashes

    def _has_body(self, place: Place, commit: str, body: _Body) -> bool:
        version = self._version(place, commit)
        if version is None or hash(body.text) in version.bodies:
            return version is not None
        blob = self._blob(place, commit) if body.cut else None
        return blob is not None and body.text in _text(blob)

    def _version(self, place: Place, commit: str) -> _Version | None:
        oid = self._oid(place, commit)
        if oid is None:
            return None
        if (place, oid) not in self._versions:
            chunks = _chunks(self.history.blob(oid), place)
            self._versions[place, oid] = _Version(
                tuple(StandingText(chunk.origin, chunk.content_hash) for chunk in chunks),
                frozenset(hash(below_headings(chunk.content, place)) for chunk in chunks),
            )
        return self._versions[place, oid]

    def _blob(self, place: Place, commit: str) -> bytes | None:
        oid = self._oid(place, commit)
        return None if oid is None else self.history.blob(oid)

    def _oid(self, place: Place, commit: str) -> str | None:
        path = self._paths.get(place)
        if path is None:
            return None
        if commit not in self._files:
            self._files[commit] = self.history.files(commit)
        return self._files[commit].get(path)


def _cut(blob: bytes, place: Place) -> list[StandingText]:
    """The texts that an index run would make of a file's content; none where it would skip it."""
    return [StandingText(chunk.origin, chunk.content_hash) for chunk in _chunks(blob, place)]


def _chunks(blob: bytes, place: Place) -> tuple[Chunk, ...]:
    return chunk_document(_text(blob), place=place, scope=Scope.DOCS)


def _text(blob: bytes) -> str:
    if is_lfs_pointer(blob):
        return ""
    try:
        return clean_text(decode(blob).text)
    except Undecodable:
        return ""
