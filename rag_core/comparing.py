"""Two golden runs, one of them frozen: what differs, who won and lost, and whether settings or index did it.

A difference is taken over cases that both runs have, told by id and digest, never of two different averages. Where
the ground differs, there is no single number: only its parts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast
from uuid import UUID

from rag_core.database.projects import Project
from rag_core.evaluation import Evaluation, GoldenRun
from rag_core.golden.baseline_file import Baseline
from rag_core.golden.cases import GoldenCase
from rag_core.golden.verdicts import judge
from rag_core.measurement import GOLDEN_DEPTH, LexicalWay, way_of
from rag_core.model import ALL_SCOPES, Actor, CandidateSet, RankingSettings, SearchSettings
from rag_core.presets import Overrides, from_json
from rag_core.ranking import rank
from rag_core.runs import Progress

# what must be the same for one number; the rest of what differs is told beside it
GROUND = ("cases", "limit", "index", "model", "degraded")
_NO_NUMBERS = ("source", "preset", "fetchDepth", "embeddingModel", "limit")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Side:
    """One of two runs. `ground` and `detail` name what it stood on; `others` are candidates of other lexical ways.

    `found` is None for a run whose candidates were not kept.
    """

    cases: tuple[GoldenCase, ...]
    settings: SearchSettings
    found: tuple[CandidateSet, ...] | None
    others: Mapping[LexicalWay, tuple[CandidateSet, ...]]
    passed: Mapping[str, bool]
    ground: dict[str, object]
    detail: dict[str, object]

    def candidates_for(self, settings: SearchSettings) -> tuple[CandidateSet, ...] | None:
        """Candidates that other settings can be replayed on; None where they would need other ones."""
        deepest = max(GOLDEN_DEPTH, self.settings.ranking.candidates_per_signal)
        if settings.ranking.candidates_per_signal > deepest:
            return None
        way = way_of(settings.candidates)
        return self.found if way == way_of(self.settings.candidates) else self.others.get(way)


@dataclass(frozen=True, slots=True, kw_only=True)
class Turned:
    """Ids of cases that one of two outcomes has and the other has not, in the order of the cases."""

    won: tuple[str, ...]
    lost: tuple[str, ...]

    def to_json(self) -> dict[str, object]:
        """One of the contract's `effects`."""
        return {"won": list(self.won), "lost": list(self.lost)}


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineComparison:
    """A run against a baseline.

    `differs` names the parts of the ground (`cases`, `limit`, `index`, `model`, `degraded`), then `case:ID` for
    every case that the two do not share, what the index was made with, and `settings.KEY` for every number.
    `outcome` is None where the ground differs. `by_settings` and `by_index` are None where a replay would need
    candidates that neither run fetched.
    """

    name: str
    differs: tuple[str, ...]
    outcome: Turned | None
    by_settings: Turned | None
    by_index: Turned | None

    @property
    def comparable(self) -> bool:
        """Whether one number may be given."""
        return self.outcome is not None

    def to_json(self) -> dict[str, object]:
        """The contract's `baseline`."""
        return {
            "name": self.name,
            "comparable": self.comparable,
            "differs": list(self.differs),
            "won": None if self.outcome is None else list(self.outcome.won),
            "lost": None if self.outcome is None else list(self.outcome.lost),
            "effects": {
                "settings": None if self.by_settings is None else self.by_settings.to_json(),
                "index": None if self.by_index is None else self.by_index.to_json(),
            },
        }


def compare_run(baseline: Baseline, run: GoldenRun) -> BaselineComparison:
    """A run of today against a baseline.

    For the effect of the index where the lexical way differs, the run must have been asked in `baseline_way` too.
    """
    golden = run.outcome.golden
    side = Side(
        cases=golden.cases,
        settings=run.settings,
        found=run.found,
        others=run.others,
        passed={verdict.case.id: verdict.passed for verdict in run.outcome.verdicts},
        ground=_ground(golden.digest, run.settings.ranking.limit, run.index.to_json(), degraded=run.degraded),
        detail=_detail(run.index.to_json(), run.index.text_search_config),
    )
    return compare_sides(baseline.name, side_of_baseline(baseline), side)


def run_against(
    evaluation: Evaluation,
    project: Project,
    baseline: Baseline,
    *,
    actor: Actor,
    cases: Path | None = None,
    overrides: Overrides | None = None,
    allow_degraded: bool = False,
    listener: Progress | None = None,
    run_id: UUID | None = None,
) -> tuple[GoldenRun, BaselineComparison]:
    """Run the golden set, compare it with a baseline, and record both. Arguments and errors as `run_golden`."""
    compared: list[BaselineComparison] = []

    def compare(run: GoldenRun) -> Mapping[str, object]:
        compared.append(compare_run(baseline, run))
        return compared[0].to_json()

    run = evaluation.run_golden(
        project,
        actor=actor,
        cases=cases,
        overrides=overrides,
        allow_degraded=allow_degraded,
        ways=(baseline_way(baseline),),
        compare=compare,
        listener=listener,
        run_id=run_id,
    )
    return run, compared[0]


def compare_recorded(
    baseline: Baseline, result: Mapping[str, object], cases: Sequence[GoldenCase]
) -> BaselineComparison:
    """A recorded run against a baseline, as far as that goes without its candidates.

    Args:
        baseline: The older side.
        result: The run as `golden_result` gives it.
        cases: The cases that the run asked.
    """
    settings = cast("Mapping[str, object]", result["settings"])
    index = cast("Mapping[str, object]", result["index"])
    model = index["model"]
    verdicts = cast("Sequence[Mapping[str, object]]", result["cases"])
    side = Side(
        cases=tuple(cases),
        settings=from_json(
            settings,
            scopes=ALL_SCOPES,
            model_id=None if model is None else str(model),
            source=str(settings["source"]),
        ),
        found=None,
        others={},
        passed={str(verdict["id"]): verdict["passed"] is True for verdict in verdicts},
        ground=_ground(result["casesDigest"], settings["limit"], index, degraded=result["degraded"] is True),
        # the index's fingerprint, which is part of the ground, stands for it
        detail=_detail(index, baseline.identity["textSearchConfig"]),
    )
    return compare_sides(baseline.name, side_of_baseline(baseline), side)


def compare_baselines(old: Baseline, new: Baseline) -> BaselineComparison:
    """A newer baseline against an older one, whose name the comparison has."""
    return compare_sides(old.name, side_of_baseline(old), side_of_baseline(new))


def baseline_way(baseline: Baseline) -> LexicalWay:
    """The lexical way of the baseline's settings."""
    return way_of(_settings_of(baseline).candidates)


def side_of_baseline(baseline: Baseline) -> Side:
    """A baseline as one side of a comparison.

    Raises:
        InvalidInput: Its settings do not parse.
    """
    identity = baseline.identity
    index = cast("Mapping[str, object]", identity["index"])
    return Side(
        cases=baseline.cases,
        settings=_settings_of(baseline),
        found=baseline.found,
        others={},
        passed=baseline.passed,
        ground=_ground(
            identity["casesDigest"], identity["limit"], index, degraded=identity["degraded"] is True
        ),
        detail=_detail(index, identity["textSearchConfig"]),
    )


def compare_sides(name: str, old: Side, new: Side) -> BaselineComparison:
    """The new side against the old one."""
    shared = _shared(old.cases, new.cases)
    grounds = tuple(part for part in GROUND if old.ground[part] != new.ground[part])
    same_index = not {"index", "model", "degraded"}.intersection(grounds)
    turned = _turned(shared, old.passed, new.passed)
    return BaselineComparison(
        name=name,
        differs=(*grounds, *_details(old, new, shared)),
        outcome=None if grounds else turned,
        by_settings=_effect(shared, old, old, new.settings) or (turned if same_index else None),
        by_index=_effect(shared, old, new, old.settings) or (Turned(won=(), lost=()) if same_index else None),
    )


def replayed_passes(
    cases: Sequence[GoldenCase], found: Sequence[CandidateSet], settings: RankingSettings
) -> dict[str, bool]:
    """Whether each case passes under the settings, by id."""
    return {
        case.id: judge(case, rank(candidates, settings)).passed
        for case, candidates in zip(cases, found, strict=True)
    }


def _effect(shared: Sequence[str], old: Side, on: Side, settings: SearchSettings) -> Turned | None:
    """What the candidates of one side under those settings win and lose against the old side's results."""
    found = on.candidates_for(settings)
    if found is None:
        return None
    return _turned(shared, old.passed, replayed_passes(on.cases, found, settings.ranking))


def _turned(shared: Sequence[str], old: Mapping[str, bool], new: Mapping[str, bool]) -> Turned:
    return Turned(
        won=tuple(case for case in shared if new[case] and not old[case]),
        lost=tuple(case for case in shared if old[case] and not new[case]),
    )


def _shared(old: Sequence[GoldenCase], new: Sequence[GoldenCase]) -> tuple[str, ...]:
    digests = {case.id: case.digest for case in old}
    return tuple(case.id for case in new if digests.get(case.id) == case.digest)


def _details(old: Side, new: Side, shared: Sequence[str]) -> tuple[str, ...]:
    known = set(shared)
    ids = dict.fromkeys(case.id for case in (*old.cases, *new.cases))
    before, now = old.settings.to_json(), new.settings.to_json()
    return (
        *(f"case:{case}" for case in ids if case not in known),
        *(part for part in old.detail if old.detail[part] != new.detail[part]),
        *(f"settings.{key}" for key in before if key not in _NO_NUMBERS and before[key] != now[key]),
    )


def _ground(
    digest: object, limit: object, index: Mapping[str, object], *, degraded: bool
) -> dict[str, object]:
    return {
        "cases": digest,
        "limit": limit,
        "index": index["fingerprint"],
        "model": index["model"],
        "degraded": degraded,
    }


def _detail(index: Mapping[str, object], text_search_config: object) -> dict[str, object]:
    return {key: index[key] for key in ("commit", "chunkerVersion", "queryVersion")} | {
        "textSearchConfig": text_search_config
    }


def _settings_of(baseline: Baseline) -> SearchSettings:
    index = cast("Mapping[str, object]", baseline.identity["index"])
    model = index["model"]
    return from_json(
        cast("Mapping[str, object]", baseline.identity["settings"]),
        scopes=ALL_SCOPES,
        model_id=None if model is None else str(model),
        source="baseline",
    )
