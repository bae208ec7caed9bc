"""One side of a comparison of golden runs: a run of today, a recorded one, or a baseline."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from rag_core.evaluation.measuring import GOLDEN_DEPTH, Measured
from rag_core.golden.baseline_file import Baseline, recorded_case
from rag_core.golden.cases import GoldenCase
from rag_core.golden.verdicts import judge
from rag_core.model import CandidateSet, LexicalWay, SearchSettings

Json = Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Side:
    """One of two runs. `ground` and `detail` name what it stood on; `others` are candidates of other lexical ways.

    `found` is None for a run whose candidates were not kept; `hits` are then each case's hits by its id, as JSON.
    """

    cases: tuple[GoldenCase, ...]
    settings: SearchSettings
    found: tuple[CandidateSet, ...] | None
    others: Mapping[LexicalWay, tuple[CandidateSet, ...]]
    passed: Mapping[str, bool]
    ground: dict[str, object]
    detail: dict[str, object]
    hits: Mapping[str, Sequence[Json]]

    def candidates_for(self, settings: SearchSettings) -> tuple[CandidateSet, ...] | None:
        """Candidates that other settings can be replayed on; None where they would need other ones."""
        deepest = max(GOLDEN_DEPTH, self.settings.ranking.candidates_per_signal)
        if settings.ranking.candidates_per_signal > deepest:
            return None
        way = settings.candidates.lexical
        return self.found if way == self.settings.candidates.lexical else self.others.get(way)

    def candidates_of(self, case_id: str, settings: SearchSettings) -> CandidateSet | None:
        """The same for one case; None too where the side has no such case."""
        found = self.candidates_for(settings)
        if found is None:
            return None
        return next((each for case, each in zip(self.cases, found, strict=True) if case.id == case_id), None)


def side_of_measured(measured: Measured) -> Side:
    """Cases that were asked just now, with their candidates."""
    golden, settings, index = measured.golden, measured.settings, measured.index.to_json()
    judged = zip(golden.cases, measured.rankings, strict=True)
    return Side(
        cases=golden.cases,
        settings=settings,
        found=measured.found,
        others=measured.others,
        passed={case.id: judge(case, ranking).passed for case, ranking in judged},
        ground=_ground(golden.digest, settings.ranking.limit, index, degraded=measured.degraded),
        detail=_detail(index, measured.index.text_search_config),
        hits={},
    )


def side_of_baseline(baseline: Baseline) -> Side:
    """A baseline as one side of a comparison.

    Raises:
        InvalidInput: Its settings do not parse.
    """
    identity = baseline.identity
    index = cast("Json", identity["index"])
    return Side(
        cases=baseline.cases,
        settings=settings_of_baseline(baseline),
        found=baseline.found,
        others={},
        passed=baseline.passed,
        ground=_ground(
            identity["casesDigest"], identity["limit"], index, degraded=identity["degraded"] is True
        ),
        detail=_detail(index, identity["textSearchConfig"]),
        hits={},
    )


def side_of_result(result: Json, cases: Sequence[GoldenCase], *, text_search_config: object) -> Side:
    """A recorded run, without its candidates.

    `result` is as `golden_result` gives it. `text_search_config` is that of the other side: the index's
    fingerprint, part of the ground, stands for it.

    Raises:
        InvalidInput: Its settings do not parse.
    """
    settings, index = cast("Json", result["settings"]), cast("Json", result["index"])
    return Side(
        cases=tuple(cases),
        settings=SearchSettings.from_json(settings, source=str(settings["source"]), model_id=index["model"]),
        found=None,
        others={},
        passed={str(verdict["id"]): verdict["passed"] is True for verdict in _verdicts(result)},
        ground=_ground(result["casesDigest"], settings["limit"], index, degraded=result["degraded"] is True),
        detail=_detail(index, text_search_config),
        hits=_hits(result),
    )


def recorded_cases(result: Json) -> tuple[GoldenCase, ...] | None:
    """The cases that a recorded run asked; None for a record of a time when their scopes were not kept."""
    verdicts = _verdicts(result)
    if not all("scope" in verdict for verdict in verdicts):
        return None
    return tuple(map(recorded_case, verdicts))


def settings_of_baseline(baseline: Baseline) -> SearchSettings:
    """The settings that a baseline was frozen under.

    Raises:
        InvalidInput: They do not parse.
    """
    index = cast("Json", baseline.identity["index"])
    return SearchSettings.from_json(
        cast("Json", baseline.identity["settings"]), source="baseline", model_id=index["model"]
    )


def _verdicts(result: Json) -> Sequence[Json]:
    return cast("Sequence[Json]", result["cases"])


def _hits(result: Json) -> dict[str, Sequence[Json]]:
    return {
        str(verdict["id"]): cast("Sequence[Json]", verdict.get("hits", ())) for verdict in _verdicts(result)
    }


def _ground(digest: object, limit: object, index: Json, *, degraded: bool) -> dict[str, object]:
    return {
        "cases": digest,
        "limit": limit,
        "index": index["fingerprint"],
        "model": index["model"],
        "degraded": degraded,
    }


def _detail(index: Json, text_search_config: object) -> dict[str, object]:
    return {key: index[key] for key in ("commit", "chunkerVersion", "queryVersion")} | {
        "textSearchConfig": text_search_config
    }
