"""Why a case that passed once does not pass any more: its text, a rival's text, the index, or the settings. Pure.

What the index and the repository hold comes from the caller, as `Texts`. Nothing is guessed: where the commit can't
be told, the sentence says why.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, cast

from rag_core.golden.cases import GoldenCase
from rag_core.golden.verdicts import expected_entries, judge
from rag_core.model import Origin, Place, RankedCandidate, Ranking
from rag_core.model.settings import changed_numbers
from rag_core.model.shape import Shape
from rag_core.words.plurals import counted

CauseKind = Literal[
    "textChanged", "sectionRemoved", "textMoved", "fileGone", "messageGone", "outranked", "newText", "settings",
    "model", "chunking", "lexical", "unknown",
]  # fmt: skip
TEXT_GONE: frozenset[CauseKind] = frozenset(
    {"textChanged", "sectionRemoved", "textMoved", "fileGone", "messageGone"}
)
_COMMIT_DIGITS = 12


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
            return f", since commit {self.commit[:_COMMIT_DIGITS]}."
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
    """How it stands now. `under_then` is today's candidates under the settings of then, None where that can't be."""

    ranking: Ranking | None
    under_then: Ranking | None
    settings: Mapping[str, object]
    detail: Mapping[str, object]


def causes(case: GoldenCase, then: Then, now: Now, texts: Texts) -> tuple[LossCause, ...]:
    """Why the case was lost, the main reason first; never empty.

    Whether settings or index did it is found by ranking: the candidates of then under the settings of now, and
    those of now under the settings of then. Where each alone would pass, both are named.
    """
    changed = changed_numbers(then.settings, now.settings)
    under_now = then.passes(frozenset(changed)) if changed else True
    by_settings = None if under_now is None else not under_now
    by_index = None if now.under_then is None else not judge(case, now.under_then).passed
    found: list[LossCause] = []
    if by_index or (by_index is None and not by_settings) or (by_index is False and by_settings is False):
        found += _of_the_index(case, then, now, texts)
    if changed and (by_settings or by_index is False or (by_settings is None and not found)):
        found.append(_of_the_settings(case, changed, then, now))
    return tuple(found) or (_unknown(case),)


def _of_the_index(case: GoldenCase, then: Then, now: Now, texts: Texts) -> list[LossCause]:
    same_scale = _same_making(then, now)
    if then.winner is None and not case.no_answer:
        return []
    winner = then.winner
    text_lost = winner is not None and not _stands(winner, texts)
    if winner is not None and text_lost and not (same_scale and _scores_as_high(case, then, now)):
        return [_text_gone(case, then, now, winner, texts)]
    if not same_scale:
        return [_made_otherwise(case, then, now)]
    return _outranked(case, then, now, texts)


def _stands(winner: StandingText, texts: Texts) -> bool:
    return any(text.content_hash == winner.content_hash for text in texts.standing(winner.origin.place))


def _scores_as_high(case: GoldenCase, then: Then, now: Now) -> bool:
    """Whether some expected chunk has as high a score as the winner had: then its text is not what was lost."""
    entries = expected_entries(case, now.under_then) if now.under_then is not None else ()
    return bool(entries) and then.score is not None and entries[0].score >= then.score


def _text_gone(case: GoldenCase, then: Then, now: Now, winner: StandingText, texts: Texts) -> LossCause:
    origin, place = winner.origin, winner.origin.place
    standing = texts.standing(place)
    cited, path = origin.citation, str(place)
    if place.kind == "session":
        sentence = f"The message that was found, {cited}, is not in the index any more."
        return LossCause(id=case.id, what="messageGone", path=path, sentence=sentence)
    recut = then.detail["chunkerVersion"] != now.detail["chunkerVersion"]
    if recut and texts.unchanged_since(place, _commit(then)):
        sentence = (
            f"{path} is cut into chunks otherwise than then (chunker {then.detail['chunkerVersion']}, now "
            f"{now.detail['chunkerVersion']}), and its text is the same."
        )
        return LossCause(id=case.id, what="chunking", path=path, sentence=sentence)
    since = texts.taken(place, winner.content_hash)
    holder = texts.holder_of(winner.content_hash) or texts.under_another_heading(place, winner.content_hash)
    moved_to: str | None = None
    what: CauseKind
    if holder is not None and holder.place == place:
        what, sentence = "textChanged", f"The text that was found in {cited} {_under(holder)} now"
    elif holder is not None:
        what, moved_to = "textMoved", str(holder.place)
        sentence = f"The text that was found in {cited} stands in {holder.citation} now"
    elif not standing:
        what, sentence = "fileGone", f"{path}, in which the answer was found, is not in the index any more"
    elif any(text.origin.heading_path == origin.heading_path for text in standing):
        what, sentence = "textChanged", f"The text of {cited}, which was found, is another one"
    elif (namesake := _same_section(origin, standing)) is not None:
        what = "textChanged"
        sentence = f"The text of {cited}, which was found, is another one, and {_under(namesake)} now"
    else:
        section = " › ".join(origin.heading_path) or "above the first heading"
        what, sentence = (
            "sectionRemoved",
            f"The section {section}, which was found, is not in {path} any more",
        )
    return LossCause(
        id=case.id,
        what=what,
        path=path,
        commit=since.commit,
        moved_to=moved_to,
        sentence=sentence + since.words,
    )


def _under(origin: Origin) -> str:
    trail = " › ".join(origin.heading_path)
    return f"stands under another heading, {trail}," if trail else "stands above the first heading"


def _same_section(origin: Origin, standing: Sequence[StandingText]) -> Origin | None:
    """A section of the same name, where only the titles above it are others."""
    return next(
        (
            text.origin
            for text in standing
            if origin.heading_path and text.origin.heading_path[-1:] == origin.heading_path[-1:]
        ),
        None,
    )


def _same_making(then: Then, now: Now) -> bool:
    """Whether the scores of an unchanged chunk are the same: same model, same lexical query and configuration."""
    return all(
        then.detail[part] == now.detail[part] for part in ("model", "queryVersion", "textSearchConfig")
    )


def _made_otherwise(case: GoldenCase, then: Then, now: Now) -> LossCause:
    if then.detail["model"] != now.detail["model"]:
        sentence = (
            f"The index is made with another embedding model: {now.detail['model'] or 'none'}, and was "
            f"{then.detail['model'] or 'none'}."
        )
        return LossCause(id=case.id, what="model", sentence=sentence)
    part = next(
        part for part in ("textSearchConfig", "queryVersion") if then.detail[part] != now.detail[part]
    )
    named = "text search configuration" if part == "textSearchConfig" else "version of the lexical query"
    sentence = f"The {named} is another one: {now.detail[part]}, and was {then.detail[part]}."
    return LossCause(id=case.id, what="lexical", sentence=sentence)


def _outranked(case: GoldenCase, then: Then, now: Now, texts: Texts) -> list[LossCause]:
    ranking = now.under_then or now.ranking
    if ranking is None:
        return []
    best = next(iter(expected_entries(case, ranking)), None)
    above = ranking.hits if case.no_answer else ranking.whole_set[: best.whole_rank - 1 if best else None]
    seen = then.seen
    newcomers = [] if seen is None else [each for each in above if each.candidate.content_hash not in seen]
    if case.no_answer:
        return [_newly_found(case, newcomers, texts)] if newcomers else []
    if best is None or (seen is not None and not newcomers):
        return []
    cited, path = best.candidate.origin.citation, str(best.candidate.origin.place)
    removed = "" if best.rank is not None else f", and is removed by {best.fate}"
    where = f"{cited} is still there, at {best.whole_rank} in the whole set{removed}"
    if seen is None:
        sentence = f"{where}. Which text above it is new can't be told: that run's candidates were not kept."
        return [LossCause(id=case.id, what="outranked", path=path, sentence=sentence)]
    rival = newcomers[0].candidate
    since = texts.brought(rival.origin.place, rival.content_hash)
    others = f" and {counted(len(newcomers) - 1, 'more new text')}" if len(newcomers) > 1 else ""
    sentence = f"{where}. Above it is new: {rival.origin.citation}{others}{since.words}"
    path = str(rival.origin.place)
    return [LossCause(id=case.id, what="outranked", path=path, commit=since.commit, sentence=sentence)]


def _newly_found(case: GoldenCase, newcomers: Sequence[RankedCandidate], texts: Texts) -> LossCause:
    first = newcomers[0].candidate
    since = texts.brought(first.origin.place, first.content_hash)
    sentence = f"A text that is new is found: {first.origin.citation}{since.words}"
    path = str(first.origin.place)
    return LossCause(id=case.id, what="newText", path=path, commit=since.commit, sentence=sentence)


def _of_the_settings(case: GoldenCase, changed: Sequence[str], then: Then, now: Now) -> LossCause:
    """Those that lose the case alone, else all that changed."""
    weights = [key for key in changed if key.startswith("weight")]
    groups = [[key] for key in changed if key not in weights] + ([weights] if weights else [])
    alone = [group for group in groups if then.passes(frozenset(group)) is False]
    named = [key for group in alone or groups for key in group]
    told = ", ".join(
        f"{key} {_number(now.settings.get(key))} (was {_number(then.settings.get(key))})" for key in named
    )
    return LossCause(id=case.id, what="settings", sentence=f"The settings changed: {told}.")


def _number(value: object) -> str:
    return "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def _commit(then: Then) -> str | None:
    commit = then.detail["commit"]
    return None if commit is None else str(commit)


def _unknown(case: GoldenCase) -> LossCause:
    return LossCause(
        id=case.id,
        what="unknown",
        sentence="Neither its text nor the settings explain it; compare both runs' ranks.",
    )
