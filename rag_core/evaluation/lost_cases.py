"""Lost cases explained from what the index holds now and from the git history of its files."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from rag_core.chunking import below_headings, chunk_document, clean_text
from rag_core.database.connections import Database
from rag_core.database.index.chunks import find_text, read_place_texts, read_texts_with
from rag_core.errors import MedirError
from rag_core.evaluation.sides import Json, Side
from rag_core.golden.cases import GoldenCase
from rag_core.golden.causes import LossCause, Now, SinceCommit, StandingText, Texts, Then, causes
from rag_core.golden.verdicts import expected_entries, judge
from rag_core.model import CandidateSet, Chunk, Origin, Place, Project, RankingSettings, Scope, SearchSettings
from rag_core.ranking.ranking import rank
from rag_core.sources.decoding import Undecodable, decode, is_lfs_pointer
from rag_core.sources.git import GitRepository
from rag_core.sources.text_history import FileHistory

_PROBE_CHARS = 80
_NO_COMMIT = "At which commit it was indexed is not known."
_NO_REPOSITORY = "The repository can't be read here, so the commit is not known."


def explain_losses(lost: Iterable[str], old: Side, new: Side, *, texts: Texts) -> tuple[LossCause, ...]:
    """Why each of the lost cases, shared by both sides, was lost; in the order given."""
    cases = {case.id: case for case in new.cases}
    return tuple(
        cause
        for case_id in lost
        for cause in causes(cases[case_id], _then(cases[case_id], old, new), _now(case_id, old, new), texts)
    )


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


class _Past(ABC):
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

    def _history(self, place: Place) -> FileHistory | SinceCommit:
        if place.kind == "session":
            return SinceCommit(commit=None)
        if self._commit is None:
            return SinceCommit(commit=None, unknown=_NO_COMMIT)
        try:
            repository = GitRepository(Path(self._project.repo))
            repository.resolve(self._commit)
        except MedirError:
            return SinceCommit(commit=None, unknown=_NO_REPOSITORY)
        path = f"{self._project.root}/{place.key}" if self._project.root else place.key
        return FileHistory(repository, self._commit, path)


class IndexedTexts(_Past):
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


class FrozenTexts(_Past):
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
    chunks = () if content is None else _chunks(content, whole.place)
    bodies = [below_headings(chunk.content, whole.place) for chunk in chunks]
    own = next((at for at, chunk in enumerate(chunks) if chunk.content_hash == whole.content_hash), None)
    # what several sections say alike ("To be written.") does not tell which of them is meant
    if own is None or bodies.count(bodies[own]) > 1:
        return None
    trails = [chunk.origin.heading_path for chunk in chunks]
    return _Body(bodies[own], cut=trails.count(trails[own]) > 1)


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


def _then(case: GoldenCase, old: Side, new: Side) -> Then:
    found = old.candidates_of(case.id, old.settings)
    winner, score = (None, None)
    if found is not None:
        entries = expected_entries(case, rank(found, old.settings.ranking))
        best = next((entry for entry in entries if entry.rank is not None), None)
        if best is not None:
            winner, score = StandingText(best.candidate.origin, best.candidate.content_hash), best.score
    else:
        winner, score = _recorded_winner(case, old.hits.get(case.id, ()))
    before, now = old.settings.to_json(), new.settings.to_json()

    def passes(keys: frozenset[str]) -> bool | None:
        mixed = SearchSettings.from_json(
            # a number that one of the two does not have goes and comes with its key
            {key: before[key] for key in before if key not in keys}
            | {key: now[key] for key in now if key in keys},
            scopes=old.settings.candidates.scopes,
            model_id=old.settings.candidates.embedding_model,
            source="mixed",
        )
        candidates = old.candidates_of(case.id, mixed)
        return None if candidates is None else _passes(case, candidates, mixed.ranking)

    return Then(
        winner=winner,
        score=score,
        seen=None if found is None else frozenset(each.content_hash for each in found.candidates),
        settings=before,
        detail={"model": old.ground["model"], **old.detail},
        passes=passes,
    )


def _now(case_id: str, old: Side, new: Side) -> Now:
    candidates = new.candidates_of(case_id, new.settings)
    under_then = new.candidates_of(case_id, old.settings)
    return Now(
        ranking=None if candidates is None else rank(candidates, new.settings.ranking),
        under_then=None if under_then is None else rank(under_then, old.settings.ranking),
        settings=new.settings.to_json(),
        detail={"model": new.ground["model"], **new.detail},
    )


def _passes(case: GoldenCase, found: CandidateSet, settings: RankingSettings) -> bool:
    return judge(case, rank(found, settings)).passed


def _recorded_winner(case: GoldenCase, hits: Sequence[Json]) -> tuple[StandingText | None, float | None]:
    """The best expected hit of a recorded run; None where its content hash was not kept yet."""
    for hit in hits:
        origin = _origin(cast("Mapping[str, object]", hit["origin"]))
        if origin.place in case.expected and "contentHash" in hit:
            return StandingText(origin, str(hit["contentHash"])), float(cast("float", hit["score"]))
    return None, None


def _origin(told: Mapping[str, object]) -> Origin:
    if told["kind"] == "session":
        event = told.get("eventId")
        place = Place("session", str(told["sessionId"]))
        return Origin(place=place, event_id=None if event is None else str(event))
    return Origin(
        place=Place("file", str(told["sourcePath"])),
        heading_path=tuple(cast("Sequence[str]", told.get("headingPath", ()))),
    )
