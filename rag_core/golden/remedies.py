"""What would make a failing case pass, found by ranking its candidates again under one changed number.

Nothing is estimated: each remedy has been replayed, with the same function that ranks live searches.
"""

import dataclasses
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from rag_core.golden.cases import GoldenCase
from rag_core.golden.losses import LossCause
from rag_core.golden.verdicts import expected_entries, judge
from rag_core.model import CandidateSet, Fate, Ranking, RankingSettings
from rag_core.model.limits import MAX_LIMIT
from rag_core.words.ranges import tell_span

Rank = Callable[[CandidateSet, RankingSettings], Ranking]
RemedyKind = Literal["maxPerFile", "limit", "weight", "threshold", "depth", "none", "index", "text"]

_CAPS: tuple[int | None, ...] = (1, 2, 3, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Remedy:
    """One change that makes the case pass, or the word that there is none.

    `settings` are the ranking settings with that one change; None for the kinds `none` (the place is a
    candidate, but no single number brings it among the hits), `index` (no signal found it) and `text` (the text that
    won is not there any more, so that a number would only bring up another one). `low` and
    `high` bound the nearest interval of weights at which the case passes; None for the other kinds.
    """

    kind: RemedyKind
    sentence: str
    settings: RankingSettings | None = None
    low: float | None = None
    high: float | None = None


def remedies(
    case: GoldenCase,
    found: CandidateSet,
    settings: RankingSettings,
    *,
    rank: Rank,
    passing_weights: Sequence[tuple[float, float]],
) -> tuple[Remedy, ...]:
    """The smallest single change of each number that makes a failing case pass.

    Tried in this order: cap (1, 2, 3, none), limit (up to 50), weight (the nearest of those given, the lexical
    weight is the rest), threshold, depth (up to the depth of `found`). For a `no_answer` case only the threshold
    is.

    Args:
        case: The case, judged by `rag_core.golden.verdicts.judge`.
        found: Its candidates, fetched deeper than `settings` rank them where depth is to be tried.
        settings: The settings under which it failed.
        rank: `rag_core.ranking.ranking.rank`; handed in because this package stands beside it.
        passing_weights: All vector weights at which the case passes, as closed intervals; worked out by
            `rag_core.calibration`, which stands above this package.

    Returns:
        One remedy a number, in the order tried; one of kind `none` or `index` where nothing helps; empty
        where the case passes already.
    """
    replay = _Replay(case, found, rank)
    if replay.passes(settings):
        return ()
    if case.no_answer:
        return (_emptying_threshold(replay, settings),)
    deepest = _depth_of(found)
    places = frozenset(case.expected)
    if not any(candidate.origin.place in places for candidate in found.candidates):
        return (_absent(case, found, deepest),)
    tried = (
        _other_cap(replay, settings),
        _wider_limit(replay, settings),
        _other_weight(replay, settings, passing_weights),
        _lower_threshold(replay, settings),
        _greater_depth(replay, settings, deepest),
    )
    helping = tuple(remedy for remedy in tried if remedy is not None)
    if helping:
        return helping
    sentence = "No single change of cap, limit, weight, threshold or depth makes it pass."
    return (Remedy(kind="none", sentence=sentence),)


def true_remedies(found: tuple[Remedy, ...], causes: Sequence[LossCause]) -> tuple[Remedy, ...]:
    """The remedies of a lost case: where its text is gone, no number brings it back, and none is offered."""
    gone = next((cause for cause in causes if cause.text_gone), None)
    if gone is None or not found:
        return found
    if gone.moved_to is not None:
        sentence = f"Expect {gone.moved_to} in the case, or move the text back."
    elif gone.what == "messageGone":
        sentence = "Import the session again, or change what the case expects."
    else:
        shown = f" (git show {gone.commit[:12]} has it)" if gone.commit else ""
        sentence = f"Bring the text back{shown}, or change what the case expects: no number brings it back."
    return (Remedy(kind="text", sentence=sentence),)


class _Replay:
    """One case's candidates, ranked again and again."""

    def __init__(self, case: GoldenCase, found: CandidateSet, rank: Rank) -> None:
        self._case = case
        self._found = found
        self._rank = rank
        self.threshold_field = "threshold" if found.vector_available else "threshold_when_degraded"

    def passes(self, settings: RankingSettings) -> bool:
        return judge(self._case, self.ranking(settings)).passed

    def ranking(self, settings: RankingSettings) -> Ranking:
        return self._rank(self._found, settings)

    def best_score(self, settings: RankingSettings) -> float | None:
        """The score of the best expected chunk where the threshold is what removed it."""
        entries = expected_entries(self._case, self.ranking(settings))
        return entries[0].score if entries and entries[0].fate is Fate.THRESHOLD else None

    def whole_rank(self, settings: RankingSettings) -> int:
        """The place of the best expected chunk that is shown among all candidates."""
        entries = expected_entries(self._case, self.ranking(settings))
        return next(entry.whole_rank for entry in entries if entry.fate is Fate.HIT)

    def with_threshold(self, settings: RankingSettings, threshold: float) -> RankingSettings:
        """The settings with another number for the threshold that is in force for these candidates."""
        if self.threshold_field == "threshold":
            return dataclasses.replace(settings, threshold=threshold)
        return dataclasses.replace(settings, threshold_when_degraded=threshold)

    def first_passing(self, tried: Iterable[RankingSettings]) -> RankingSettings | None:
        return next((settings for settings in tried if self.passes(settings)), None)


def _other_cap(replay: _Replay, settings: RankingSettings) -> Remedy | None:
    now = settings.max_per_file
    others = sorted((cap for cap in _CAPS if cap != now), key=lambda cap: _distance(cap, now))
    chosen = replay.first_passing(dataclasses.replace(settings, max_per_file=cap) for cap in others)
    if chosen is None:
        return None
    cap = "no cap" if chosen.max_per_file is None else f"a cap of {chosen.max_per_file}"
    was = "none" if now is None else str(now)
    return Remedy(kind="maxPerFile", sentence=f"It passes with {cap} a file (now {was}).", settings=chosen)


def _distance(cap: int | None, now: int | None) -> float:
    if cap is None or now is None:
        # no cap is farther than any cap; from no cap, the loosest cap is nearest
        return math.inf if cap is None else -cap
    return abs(cap - now)


def _wider_limit(replay: _Replay, settings: RankingSettings) -> Remedy | None:
    if settings.limit >= MAX_LIMIT:
        return None
    widest = dataclasses.replace(settings, limit=MAX_LIMIT)
    chosen = replay.first_passing(
        dataclasses.replace(widest, limit=limit) for limit in range(settings.limit + 1, MAX_LIMIT + 1)
    )
    if chosen is None:
        return None
    capped = replay.whole_rank(chosen) - chosen.limit
    why = f"; the file cap takes {capped} of those above it" if capped > 0 else ""
    sentence = f"It passes with a limit of {chosen.limit} (now {settings.limit}){why}."
    return Remedy(kind="limit", sentence=sentence, settings=chosen)


def _other_weight(
    replay: _Replay, settings: RankingSettings, passing: Sequence[tuple[float, float]]
) -> Remedy | None:
    now = settings.weight_vector
    nearest = min(passing, key=lambda run: _away(run, now), default=None)
    if nearest is None:
        return None
    low, high = nearest
    chosen = replay.first_passing(
        _with_weight(settings, weight) for weight in (min(max(now, low), high), (low + high) / 2)
    )
    if chosen is None:
        return None
    sentence = f"It passes with a vector weight of {tell_span(low, high)} (now {now:g})."
    return Remedy(kind="weight", sentence=sentence, settings=chosen, low=low, high=high)


def _away(run: tuple[float, float], weight: float) -> float:
    """How far a weight lies outside an interval, 0 inside it."""
    low, high = run
    return max(low - weight, weight - high, 0.0)


def _with_weight(settings: RankingSettings, weight: float) -> RankingSettings:
    return dataclasses.replace(settings, weight_vector=weight, weight_lexical=1.0 - weight)


def _lower_threshold(replay: _Replay, settings: RankingSettings) -> Remedy | None:
    # whatever a still lower threshold lets in stands below the expected chunk and can't help it
    score = replay.best_score(settings)
    if score is None:
        return None
    chosen = replay.first_passing([replay.with_threshold(settings, score)])
    if chosen is None:
        return None
    shown = math.floor(score * 10_000) / 10_000
    now = getattr(settings, replay.threshold_field)
    sentence = f"It passes with a threshold of {shown:.4f} or less (now {now:g})."
    return Remedy(kind="threshold", sentence=sentence, settings=chosen)


def _greater_depth(replay: _Replay, settings: RankingSettings, deepest: int) -> Remedy | None:
    chosen = replay.first_passing(_deeper(settings, deepest))
    if chosen is None:
        return None
    depth, now = chosen.candidates_per_signal, settings.candidates_per_signal
    sentence = f"It passes with {depth} candidates a signal (now {now})."
    return Remedy(kind="depth", sentence=sentence, settings=chosen)


def _deeper(settings: RankingSettings, deepest: int) -> Iterator[RankingSettings]:
    for depth in range(settings.candidates_per_signal + 1, deepest + 1):
        yield dataclasses.replace(settings, candidates_per_signal=depth)


def _emptying_threshold(replay: _Replay, settings: RankingSettings) -> Remedy:
    # a case without an answer fails for its hits, so there is a first one
    top = replay.ranking(settings).hits[0].score
    chosen = replay.with_threshold(settings, math.nextafter(top, math.inf))
    sentence = f"It would have no hit with a threshold above {math.ceil(top * 10_000) / 10_000:.4f}."
    return Remedy(kind="threshold", sentence=sentence, settings=chosen)


def _absent(case: GoldenCase, found: CandidateSet, deepest: int) -> Remedy:
    one = len(case.expected) == 1
    place = str(case.expected[0]) if one else "No expected place"
    signals = "neither signal" if one else "either signal"
    head = (
        f"{place} is in {signals}'s first {deepest} candidates"
        if deepest
        else "Neither signal found anything"
    )
    if not found.vector_ran:
        lexical = f"is {'not ' if one else ''}in the lexical signal's first {deepest} candidates"
        head = f"{place} {lexical}" if deepest else "The lexical signal found nothing"
        head += ", and the vector signal was not run"
    sentence = f"{head}: a matter of the index or of the question's words, not of these numbers."
    return Remedy(kind="index", sentence=sentence)


def _depth_of(found: CandidateSet) -> int:
    """The deepest rank of either signal among the candidates, 0 where there are none."""
    ranks = [
        rank
        for candidate in found.candidates
        for rank in (candidate.vector_rank, candidate.lexical_rank)
        if rank is not None
    ]
    return max(ranks, default=0)
