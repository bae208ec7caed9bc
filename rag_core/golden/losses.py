"""What is known of a lost case: how it stood, how it stands, and what can be said of its texts. Pure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, cast

from rag_core.golden.departures import COMMIT_DIGITS, Departure
from rag_core.model import Origin, Place, Ranking
from rag_core.model.shape import Shape

CauseKind = Literal[
    "textChanged", "sectionRemoved", "textMoved", "fileGone", "messageGone", "outranked", "newText", "settings",
    "model", "chunking", "lexical", "unknown",
]  # fmt: skip
TEXT_GONE: frozenset[CauseKind] = frozenset(
    {"textChanged", "sectionRemoved", "textMoved", "fileGone", "messageGone"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LossCause:
    """One reason for which a case was lost. A case may have several.

    `path` is the file, or `session:ID`, that the reason lies in, None where it lies in none; `commit` the full id of
    the commit that made it so, None where there is none or it can't be told. `moved_to` is where a text stands now.
    """

    id: str
    what: CauseKind
    sentence: str
    path: str | None = None
    commit: str | None = None
    moved_to: str | None = None

    @property
    def text_gone(self) -> bool:
        """Whether the text that won is not there any more as it was: no number brings it back."""
        return self.what in TEXT_GONE

    @classmethod
    def from_json(cls, told: Mapping[str, object]) -> "LossCause":
        """Read from what `told` was written as."""
        path, commit = told["path"], told["commit"]
        return cls(
            id=str(told["id"]),
            what=cast("CauseKind", told["what"]),
            sentence=str(told["sentence"]),
            path=None if path is None else str(path),
            commit=None if commit is None else str(commit),
        )

    @property
    def told(self) -> "LostBecause":
        """Without `moved_to`."""
        return LostBecause.drawn(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class LostBecause(Shape):
    """One reason for which a case was lost: the contract's entry of `lostBecause`."""

    id: str
    what: CauseKind
    path: str | None
    commit: str | None
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SinceCommit:
    """The commit that took a text away or brought it; without one, `unknown` says why in a sentence."""

    commit: str | None
    unknown: str | None = None

    @property
    def words(self) -> str:
        """The end of a sentence."""
        if self.commit is not None:
            return f", since commit {self.commit[:COMMIT_DIGITS]}."
        return f". {self.unknown}" if self.unknown else "."


@dataclass(frozen=True, slots=True)
class StandingText:
    """A text of the index: where it stands, and its content hash."""

    origin: Origin
    content_hash: str


class Texts(Protocol):
    """What can be known of texts now, and of their past."""

    def standing(self, place: Place) -> Sequence[StandingText]:
        """All texts of a place, in their order; empty where it is not indexed."""
        ...

    def holder_of(self, content_hash: str) -> Origin | None:
        """Where a text stands, the first of several; None where it is nowhere."""
        ...

    def under_another_heading(self, place: Place, content_hash: str) -> Origin | None:
        """Where a file's former text stands below other heading lines, in that file or elsewhere; None if nowhere."""
        ...

    def taken(self, place: Place, content_hash: str) -> SinceCommit:
        """The commit that took a text out of a file; where what stood below its heading still does, its heading."""
        ...

    def brought(self, place: Place, content_hash: str) -> SinceCommit:
        """The commit that brought a text into a file."""
        ...

    def unchanged_since(self, place: Place, commit: str | None) -> bool:
        """Whether a file is known to be the same as at an earlier commit."""
        ...

    def departure(self, place: Place) -> Departure | None:
        """What became of a file that is not there any more; None where git doesn't know."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class LastStep:
    """The commit after which a case no longer passed, and what it took or brought.

    `taken` is the expected text that answered until then, and `left` all texts of its file after it, None where there
    was no file any more. `rival` is the new text that took the hits, and `pushed_out` the expected one that it took
    them from. Without `since` no commit did it by itself: what is left of then would still pass.
    """

    since: SinceCommit | None = None
    taken: StandingText | None = None
    left: Sequence[StandingText] | None = field(default=())
    rival: StandingText | None = None
    pushed_out: StandingText | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Then:
    """How a case stood when it passed.

    `winner` is the expected chunk that was the best hit, None for a `no_answer` case or where it was not kept;
    `score` is its score. `seen` are the content hashes of all candidates of that time, None where they were not
    kept. `detail` is the index: `commit`, `model`, `chunkerVersion`, `queryVersion`, `textSearchConfig`.
    `passes` ranks the candidates of that time under settings given by the keys that are to be those of now; None
    where they were not kept.
    """

    winner: StandingText | None
    score: float | None
    seen: frozenset[str] | None
    settings: Mapping[str, object]
    detail: Mapping[str, object]
    passes: Callable[[frozenset[str]], bool | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Now:
    """How it stands now.

    `under_then` is today's candidates under the settings of then, None where that can't be. `last_step` looks for the
    commit that lost the case, and gives None where it can't be told.
    """

    ranking: Ranking | None
    under_then: Ranking | None
    settings: Mapping[str, object]
    detail: Mapping[str, object]
    last_step: Callable[[], LastStep | None] = lambda: None
