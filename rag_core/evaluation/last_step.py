"""After which commit a case no longer passed: its candidates ranked again as they stood at each commit.

What a text scored is known of those that either side found. A text that came and went in between is not among them,
and of one that was edited on the way it is taken that it still answered as long as its section stood.
"""

import dataclasses
from collections.abc import Callable, Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Literal, Protocol

from rag_core.golden.cases import GoldenCase
from rag_core.golden.losses import LastStep, SinceCommit, StandingText
from rag_core.model import Candidate, CandidateSet, Place, RankingSettings
from rag_core.ranking.ranking import rank
from rag_core.sources.git_process import GitFailed
from rag_core.sources.text_history import FilesHistory, Turning

Key = tuple[Place, str]
_Signal = Literal["vector", "lexical"]


class Presence(Protocol):
    """Which texts stood at a commit."""

    @property
    def history(self) -> FilesHistory:
        """The files that are asked about."""
        ...

    def stands(self, text: StandingText, commit: str) -> bool:
        """Whether a text, or the section that it became, stands in its file."""
        ...

    def left(self, place: Place, commit: str) -> Sequence[StandingText] | None:
        """All texts of a file; None where there is no file."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseReplay:
    """What a case found: `went` are the texts that are gone now, `came` those that are new.

    `hits` gives the hits, best first, where some of those that went and came are there.
    """

    went: tuple[StandingText, ...]
    came: tuple[StandingText, ...]
    hits: Callable[[AbstractSet[Key]], tuple[StandingText, ...]]


def key_of(text: StandingText) -> Key:
    """What a text is told by."""
    return (text.origin.place, text.content_hash)


def replay_candidates(
    old: CandidateSet, new: CandidateSet | None, settings: RankingSettings, standing: Callable[[Key], bool]
) -> CaseReplay:
    """From the candidates of both sides; `new` is None where its scores can't be held against the old ones'.

    Args:
        old: The candidates of the older side.
        new: Those of the newer one.
        settings: The settings that all are ranked under.
        standing: Whether a text stands now.
    """
    before = {_key(each): each for each in old.candidates}
    now = {} if new is None else {_key(each): each for each in new.candidates}
    went = [each for key, each in before.items() if key not in now and not standing(key)]
    came = [each for key, each in now.items() if key not in before]
    there = [each for key, each in before.items() if key in now or standing(key)]
    # even and odd, so that a place's ordinals of then and now don't meet; of equals the text of now is first
    numbered = {
        **{_key(each): dataclasses.replace(each, ordinal=2 * each.ordinal + 1) for each in before.values()},
        **{_key(each): dataclasses.replace(each, ordinal=2 * each.ordinal) for each in came},
    }

    def hits(changing: AbstractSet[Key]) -> tuple[StandingText, ...]:
        kept = {*map(_key, there), *changing}
        candidates = [each for key, each in numbered.items() if key in kept]
        found = dataclasses.replace(old, candidates=_ranked_anew(candidates))
        return tuple(_text(entry.candidate) for entry in rank(found, settings).hits)

    return CaseReplay(went=tuple(map(_text, went)), came=tuple(map(_text, came)), hits=hits)


def replay_hits(recorded: Sequence[StandingText], standing: Callable[[Key], bool]) -> CaseReplay:
    """From the hits of a recorded run, of which nothing else was kept: those that are there are the hits."""
    went = tuple(text for text in recorded if not standing(key_of(text)))
    gone = frozenset(map(key_of, went))

    def hits(changing: AbstractSet[Key]) -> tuple[StandingText, ...]:
        return tuple(text for text in recorded if key_of(text) not in gone or key_of(text) in changing)

    return CaseReplay(went=went, came=(), hits=hits)


def find_last_step(case: GoldenCase, replay: CaseReplay, presence: Presence) -> LastStep | None:
    """The commit that lost the case; a step without a commit where what is left of then would still pass.

    None where git can't tell.
    """
    try:
        step = _find(case, replay, presence)
        if step is None and replay.came:
            # what is new may have been there all along, outside the index
            step = _find(case, dataclasses.replace(replay, came=()), presence)
    except GitFailed:
        return None
    return step


def _find(case: GoldenCase, replay: CaseReplay, presence: Presence) -> LastStep | None:
    def standing(commit: str) -> frozenset[Key]:
        texts = (*replay.went, *replay.came)
        return frozenset(key_of(text) for text in texts if presence.stands(text, commit))

    def lost(commit: str) -> bool:
        return not _passes(case, replay.hits(standing(commit)))

    if not lost(presence.history.tip):
        return LastStep()
    turn = presence.history.turn(lost, from_first=False)
    if not isinstance(turn, Turning) or turn.parent is None:
        return None
    return _told(case, replay, presence, turn, before=standing(turn.parent), after=standing(turn.commit))


def _told(
    case: GoldenCase,
    replay: CaseReplay,
    presence: Presence,
    turn: Turning,
    *,
    before: frozenset[Key],
    after: frozenset[Key],
) -> LastStep | None:
    answered = [text for text in replay.hits(before) if text.origin.place in case.expected]
    taken = next((text for text in answered if key_of(text) in before - after), None)
    rivals = {
        key_of(text)
        for text in replay.came
        if key_of(text) in after - before and text.origin.place not in case.expected
    }
    since = SinceCommit(commit=turn.commit)
    at_once = replay.hits(before | (after - rivals))
    best = next((text for text in at_once if text.origin.place in case.expected), taken)
    # an edited text that scores as high would have answered, had nothing new come above it
    if taken is not None and (best is None or key_of(best) not in after):
        return LastStep(since=since, taken=taken, left=presence.left(taken.origin.place, turn.commit))
    rival = next((text for text in replay.hits(after) if key_of(text) in rivals), None)
    if rival is None:
        return None
    return LastStep(since=since, rival=rival, pushed_out=answered[0] if answered else None)


def _passes(case: GoldenCase, hits: Collection[StandingText]) -> bool:
    if case.no_answer:
        return not hits
    return any(text.origin.place in case.expected for text in hits)


def _key(candidate: Candidate) -> Key:
    return (candidate.origin.place, candidate.content_hash)


def _text(candidate: Candidate) -> StandingText:
    return StandingText(candidate.origin, candidate.content_hash)


def _ranked_anew(candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """With each signal's ranks counted anew, by its scores."""
    vector, lexical = (_ranks(candidates, signal) for signal in ("vector", "lexical"))
    return tuple(
        dataclasses.replace(each, vector_rank=vector.get(_key(each)), lexical_rank=lexical.get(_key(each)))
        for each in candidates
    )


def _ranks(candidates: Sequence[Candidate], signal: _Signal) -> Mapping[Key, int]:
    found: list[tuple[float, int, Candidate]] = []
    for each in candidates:
        score, at = (
            (each.vector_score, each.vector_rank)
            if signal == "vector"
            else (each.lexical_score, each.lexical_rank)
        )
        if score is not None and at is not None:
            found.append((-score, at, each))
    ordered = sorted(found, key=lambda entry: (*entry[:2], entry[2].tie_key))
    return {_key(entry[2]): number for number, entry in enumerate(ordered, start=1)}
