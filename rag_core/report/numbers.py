"""What a report says, as values. Pure.

None means "not measured": nothing was judged, or too little was observed. It is never 0.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from rag_core.metrics.intervals import Interval, wilson
from rag_core.model.shape import Shape
from rag_core.report.settings_used import Turn, UsedSettings, merged
from rag_core.words.plurals import counted

DEPTHS = (1, 3, 5, 10)
STEPS = ("total", "embed", "vector", "lexical", "rank")
SPLITS: tuple["SplitName", ...] = ("settings", "model", "actor", "surface", "scope", "day")
P95_FROM, P99_FROM = 20, 100

SplitName = Literal["settings", "model", "actor", "surface", "scope", "day"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Precision:
    """Votes on hits of rank k or better: `useful` of `votes`, on `judged_hits` distinct hits."""

    useful: int
    votes: int
    judged_hits: int

    @property
    def value(self) -> float | None:
        """The useful votes' share of all votes; None without a vote. The denominator is never k."""
        return self.useful / self.votes if self.votes else None

    @property
    def interval(self) -> Interval | None:
        """Its 95 % interval; None without a vote."""
        return wilson(self.useful, self.votes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Percentiles:
    """Milliseconds of `n` searches. p95 needs 20 of them and p99 100: below, each is the maximum in disguise."""

    n: int
    p50: float | None
    p95: float | None
    p99: float | None

    @classmethod
    def of(cls, n: int, p50: float, p95: float, p99: float) -> "Percentiles":
        """What n searches can say."""
        return cls(
            n=n,
            p50=p50 if n else None,
            p95=p95 if n >= P95_FROM else None,
            p99=p99 if n >= P99_FROM else None,
        )

    @property
    def why(self) -> str | None:
        """Why a percentile is missing; None when all are there."""
        if self.n == 0:
            return "No search was measured."
        missing = [
            f"{name} needs {least}"
            for name, least in (("p95", P95_FROM), ("p99", P99_FROM))
            if self.n < least
        ]
        return f"{' and '.join(missing)} searches; there {_are(self.n)}." if missing else None


NOTHING_MEASURED = Percentiles(n=0, p50=None, p95=None, p99=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedSearches:
    """What votes say of searches, each counted once.

    `answered` have a useful vote, `unanswered` none although their first three hits (all, where they are fewer) were
    judged; of those judged less, nobody knows. `first_judged` are answered searches whose first hit was judged,
    `first_useful` those whose first hit somebody found useful.
    """

    answered: int
    unanswered: int
    first_judged: int
    first_useful: int

    @property
    def known(self) -> int:
        """Searches of which votes tell whether they showed something useful."""
        return self.answered + self.unanswered


NO_JUDGED_SEARCHES = JudgedSearches(answered=0, unanswered=0, first_judged=0, first_useful=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """The numbers of some of the window's searches: all of them, or one key of a split.

    The first four count all searches; precision, latency, `shown` (hits) and `judged` (distinct hits with a
    vote) leave out the degraded ones. `first_at` and `last_at` are None for no search.
    """

    searches: int
    degraded: int
    no_hit: int
    vector_unavailable: int
    shown: int
    judged: int
    precision: Mapping[int, Precision]
    latency: Mapping[str, Percentiles]
    first_at: datetime | None
    last_at: datetime | None
    judged_searches: JudgedSearches = NO_JUDGED_SEARCHES

    @property
    def not_degraded(self) -> int:
        """The searches that precision, latency and hits are told of."""
        return self.searches - self.degraded

    @property
    def judged_share(self) -> float | None:
        """Distinct judged hits over hits shown; None where no hit was shown."""
        return self.judged / self.shown if self.shown else None


NO_SEARCHES = Part(
    searches=0,
    degraded=0,
    no_hit=0,
    vector_unavailable=0,
    shown=0,
    judged=0,
    precision={depth: Precision(useful=0, votes=0, judged_hits=0) for depth in DEPTHS},
    latency=dict.fromkeys(STEPS, NOTHING_MEASURED),
    first_at=None,
    last_at=None,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RankVotes(Shape):
    """How many votes of one verdict fell on hits of one rank."""

    rank: int
    votes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Counterfactual(Shape):
    """How alike what was shown and what other settings would show are, over the searches that can be replayed.

    `overlap` and `rbo` are means over `searches`, None where that is 0.
    """

    against: str
    searches: int
    overlap: float | None
    rbo: float | None
    not_replayable: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict(Shape):
    """The gate: it fails for one thing only. Not measured does not fail."""

    passed: bool
    measured: bool
    reason: str

    @classmethod
    def of(cls, whole: Part) -> "Verdict":
        """Failed when the vector signal was available in no search of the window, and there was one."""
        if whole.searches == 0:
            return cls(passed=True, measured=False, reason="Not measured: the window holds no search.")
        available = whole.searches - whole.vector_unavailable
        asked = counted(whole.searches, "search", "searches")
        if available == 0:
            return cls(
                passed=False,
                measured=True,
                reason=f"The vector signal was available in none of {asked}: what was measured "
                "is the lexical half alone.",
            )
        return cls(
            passed=True,
            measured=True,
            reason=f"The vector signal was available in {available:,} of {asked}.",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The `medir:rag` report of one project and window. Splits are sorted by key.

    `settings` holds what the window's searches ran under, by the time of the first; `turns` when other settings came
    into force, trials left out, beginning with the window's first. `synthetic` tells that rows made by benches and
    demonstrations were asked for and count too.
    """

    project_id: str
    start: datetime
    end: datetime
    zone: str
    synthetic: bool
    whole: Part
    ranks: Mapping[str, tuple[RankVotes, ...]]
    settings: tuple[UsedSettings, ...]
    splits: Mapping[SplitName, tuple[tuple[str, Part], ...]]
    turns: tuple[Turn, ...] = ()
    counterfactual: Counterfactual | None = None

    @property
    def verdict(self) -> Verdict:
        """The gate."""
        return Verdict.of(self.whole)

    @property
    def mixed_settings(self) -> tuple[UsedSettings, ...]:
        """The rules, where there were two or more: then no number is of one rule. Else empty.

        A limit that a caller chose makes no other rule; a trial does.
        """
        rules = merged(self.settings)
        return rules if len(rules) > 1 else ()

    def is_parted(self, name: SplitName) -> bool:
        """Whether a split tells more than the whole: one of its parts has not all of the searches."""
        return any(part.searches < self.whole.searches for _, part in self.splits[name])


def _are(count: int) -> str:
    return "is 1" if count == 1 else f"are {count}"
