"""The `medir:rag` report."""

from collections.abc import Mapping
from dataclasses import dataclass

from rag_core.model.shape import Shape
from rag_core.report import numbers
from rag_core.report.numbers import DEPTHS, SPLITS, STEPS, Counterfactual, RankVotes, Report, Verdict
from rag_core.report.settings_used import UsedSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Precision(Shape):
    """Useful votes over all votes at rank k or better; null where nothing was judged."""

    value: float | None
    useful: int
    votes: int
    judged_hits: int
    low: float | None
    high: float | None

    @classmethod
    def of(cls, found: numbers.Precision) -> "Precision":
        """With its 95 % interval."""
        interval = found.interval
        return cls.drawn(found, low=interval and interval.low, high=interval and interval.high)


@dataclass(frozen=True, slots=True, kw_only=True)
class Percentiles(Shape):
    """Milliseconds; p95 needs 20 searches, p99 a hundred."""

    n: int
    p50: float | None
    p95: float | None
    p99: float | None
    why: str | None = None

    @classmethod
    def of(cls, found: numbers.Percentiles) -> "Percentiles":
        """With why, where one is missing."""
        return cls.drawn(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part(Shape):
    """One key of a split."""

    key: str
    searches: int
    degraded: int
    no_hit: int
    precision: Mapping[str, Precision]
    latency: Mapping[str, Percentiles]

    @classmethod
    def of(cls, key: str, part: numbers.Part) -> "Part":
        """The numbers of a part."""
        return cls.drawn(part, key=key, precision=_precision(part), latency=_latency(part))


@dataclass(frozen=True, slots=True, kw_only=True)
class MixedSettings(Shape):
    """Settings that some of the window's searches ran under."""

    settings_id: str
    settings: Mapping[str, object]
    searches: int
    from_: str
    to: str

    @classmethod
    def of(cls, found: UsedSettings) -> "MixedSettings":
        """With the first and the last search under them."""
        return cls.drawn(found, from_=found.first_at.isoformat(), to=found.last_at.isoformat())


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportAnswer(Shape):
    """The `medir:rag` report of a window."""

    project: str
    from_: str
    to: str
    verdict: Verdict
    searches: int
    degraded: int
    no_hit: int
    vector_unavailable: int
    precision: Mapping[str, Precision]
    ranks: Mapping[str, tuple[RankVotes, ...]]
    latency: Mapping[str, Percentiles]
    judged_share: float | None
    mixed_settings: tuple[MixedSettings, ...]
    splits: Mapping[str, tuple[Part, ...]]
    counterfactual: Counterfactual | None = None
    synthetic: bool | None = None
    """True where rows of benches and demonstrations count too."""
    time_zone: str | None = None
    """Where it is not UTC."""

    @classmethod
    def of(cls, report: Report) -> "ReportAnswer":
        """As it was made."""
        whole = report.whole
        return cls.drawn(
            whole,
            report,
            project=report.project_id,
            from_=report.start.isoformat(),
            to=report.end.isoformat(),
            precision=_precision(whole),
            latency=_latency(whole),
            mixed_settings=tuple(map(MixedSettings.of, report.mixed_settings)),
            splits={name: tuple(Part.of(*part) for part in report.splits[name]) for name in SPLITS},
            synthetic=report.synthetic or None,
            time_zone=None if report.zone == "UTC" else report.zone,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberAnswer(Shape):
    """What a number of the report means."""

    number: str
    definition: str


def _precision(part: numbers.Part) -> dict[str, Precision]:
    return {str(depth): Precision.of(part.precision[depth]) for depth in DEPTHS}


def _latency(part: numbers.Part) -> dict[str, Percentiles]:
    return {step: Percentiles.of(part.latency[step]) for step in STEPS}
