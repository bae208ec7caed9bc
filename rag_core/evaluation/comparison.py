"""Two golden runs, one of them frozen: what differs, who won and lost, and whether settings or index did it.

Cases are held against each other one by one, over those that both sides have unchanged, told by id and digest; never
two averages. Documents change with every commit, and so do settings: that is named, and is no reason not to answer.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Unpack

from rag_core.evaluation.golden_runs import Evaluation, GoldenAsked, GoldenRun
from rag_core.evaluation.interaction import Interaction, Turned, interaction_of
from rag_core.evaluation.lost_cases import explain_losses
from rag_core.evaluation.past_texts import FrozenTexts, IndexedTexts
from rag_core.evaluation.sides import (
    Json,
    Side,
    settings_of_baseline,
    side_of_baseline,
    side_of_measured,
    side_of_result,
)
from rag_core.golden.baseline_file import Baseline
from rag_core.golden.cases import GoldenCase
from rag_core.golden.losses import LossCause
from rag_core.golden.verdicts import judge
from rag_core.model import CandidateSet, Project, RankingSettings, SearchSettings
from rag_core.model.settings import changed_numbers
from rag_core.model.shape import keyed
from rag_core.project.runs import Progress
from rag_core.ranking.ranking import rank

# the rest of what differs is told beside it
GROUND = ("cases", "limit", "index", "model", "degraded")


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineComparison:
    """A run against a baseline.

    `differs` names the parts of the ground (`cases`, `limit`, `index`, `model`, `degraded`), then `case:ID` for
    every case that the two do not share, what the index was made with, and `settings.KEY` for every number.
    `shared` are the ids of the cases that both have unchanged; `new`, `gone` and `changed` are the others', and
    `passed_before` those among `gone` and `changed` that the older side passed.
    `outcome` is None where the two can't be held against each other; `obstacle` then says why, in a clause.
    `by_settings` and `by_index` are None where a replay would need candidates that neither run fetched. `must_pass`
    are the ids of the cases that the newer side says must pass. `lost_because` says of lost cases what happened,
    where it was looked for.
    """

    name: str
    differs: tuple[str, ...]
    shared: tuple[str, ...]
    new: tuple[str, ...]
    gone: tuple[str, ...]
    changed: tuple[str, ...]
    passed_before: tuple[str, ...]
    outcome: Turned | None
    obstacle: str | None
    by_settings: Turned | None
    by_index: Turned | None
    must_pass: frozenset[str] = frozenset()
    lost_because: tuple[LossCause, ...] = field(default=(), compare=False)

    @property
    def comparable(self) -> bool:
        """Whether won and lost may be given."""
        return self.outcome is not None

    @property
    def lost(self) -> tuple[str, ...]:
        """The lost cases, those that must pass first; empty too where nothing can be said."""
        lost = () if self.outcome is None else self.outcome.lost
        return tuple(sorted(lost, key=lambda case: case not in self.must_pass))

    @property
    def interaction(self) -> Interaction | None:
        """Why the two effects don't add up to the outcome; None where they do, or where one can't be told."""
        if self.outcome is None or self.by_settings is None or self.by_index is None:
            return None
        found = interaction_of(self.outcome, self.by_settings, self.by_index)
        return found if found.words else None

    def to_json(self) -> dict[str, object]:
        """The contract's `baseline`, with `reason` where not comparable and `lostBecause` where a cause is known."""
        told = keyed(self, "name", "comparable", "differs")
        told |= {"won": None, "lost": None} if self.outcome is None else self.outcome.to_json()
        told |= keyed(self, "new", "gone", "changed")
        effects: dict[str, object] = {
            "settings": self.by_settings and self.by_settings.to_json(),
            "index": self.by_index and self.by_index.to_json(),
        }
        if self.interaction is not None:
            effects["interaction"] = self.interaction.to_json()
        told["effects"] = effects
        if self.obstacle is not None:
            told["reason"] = self.obstacle
        if self.lost_because:
            told["lostBecause"] = [cause.told.to_json() for cause in self.lost_because]
        return told


def run_against(
    evaluation: Evaluation,
    project: Project,
    baseline: Baseline,
    *,
    listener: Progress | None = None,
    **asked: Unpack[GoldenAsked],
) -> tuple[GoldenRun, BaselineComparison]:
    """Run the golden set, compare it with a baseline, and record both.

    Raises:
        MedirError: As `run_golden` does.
    """
    compared: list[BaselineComparison] = []

    def compare(run: GoldenRun) -> Mapping[str, object]:
        old, new = side_of_baseline(baseline), side_of_measured(run.measured)
        comparison = compare_sides(baseline.name, old, new)
        texts = IndexedTexts(evaluation.database, project, commit=run.measured.index.commit)
        found = explain_losses(comparison.lost, old, new, texts=texts)
        compared.append(dataclasses.replace(comparison, lost_because=found))
        return compared[0].to_json()

    ways = (settings_of_baseline(baseline).candidates.lexical,)
    run = evaluation.run_golden(project, ways=ways, compare=compare, listener=listener, **asked)
    return run, compared[0]


def compare_recorded(
    baseline: Baseline, result: Mapping[str, object], cases: Sequence[GoldenCase]
) -> BaselineComparison:
    """A recorded run against a baseline, as far as that goes without its candidates.

    `result` is the run as `golden_result` gives it, `cases` are those that it asked.
    """
    side = side_of_result(result, cases, text_search_config=baseline.identity["textSearchConfig"])
    compared = compare_sides(baseline.name, side_of_baseline(baseline), side)
    kept = result.get("baseline")
    if not isinstance(kept, Mapping) or kept.get("name") != baseline.name:
        return compared
    causes = tuple(LossCause.from_json(told) for told in kept.get("lostBecause", ()))
    return dataclasses.replace(compared, lost_because=causes)


def compare_results(
    name: str,
    old: tuple[Json, Sequence[GoldenCase]],
    new: tuple[Json, Sequence[GoldenCase]],
) -> BaselineComparison:
    """Two recorded runs, each with the cases that it asked; the effects need candidates, which no record keeps."""
    sides = [side_of_result(result, cases, text_search_config=None) for result, cases in (old, new)]
    return compare_sides(name, sides[0], sides[1])


def compare_baselines(old: Baseline, new: Baseline, project: Project | None = None) -> BaselineComparison:
    """A newer baseline against an older one, whose name the comparison has.

    With their project, it also says why cases were lost.
    """
    before, now = side_of_baseline(old), side_of_baseline(new)
    comparison = compare_sides(old.name, before, now)
    if project is None:
        return comparison
    found = explain_losses(comparison.lost, before, now, texts=FrozenTexts(project, now))
    return dataclasses.replace(comparison, lost_because=found)


def compare_sides(name: str, old: Side, new: Side) -> BaselineComparison:
    """The new side against the old one."""
    before = {case.id: case for case in old.cases}
    now = {case.id: case for case in new.cases}
    shared = tuple(case for case in now if case in before and before[case].digest == now[case].digest)
    changed = tuple(case for case in now if case in before and case not in set(shared))
    gone = tuple(case for case in before if case not in now)
    grounds = tuple(part for part in GROUND if old.ground[part] != new.ground[part])
    same_index = not {"index", "model", "degraded"}.intersection(grounds)
    turned = _turned(shared, old.passed, new.passed)
    obstacle = _obstacle(name, old, new, shared)
    return BaselineComparison(
        name=name,
        differs=(*grounds, *_details(old, new, shared)),
        shared=shared,
        new=tuple(case for case in now if case not in before),
        gone=gone,
        changed=changed,
        passed_before=tuple(case for case in (*gone, *changed) if old.passed[case]),
        outcome=turned if obstacle is None else None,
        obstacle=obstacle,
        by_settings=_effect(shared, old, old, new.settings) or (turned if same_index else None),
        by_index=_effect(shared, old, new, old.settings) or (Turned(won=(), lost=()) if same_index else None),
        must_pass=frozenset(case.id for case in new.cases if case.must_pass),
    )


def replayed_passes(
    cases: Sequence[GoldenCase], found: Sequence[CandidateSet], settings: RankingSettings
) -> dict[str, bool]:
    """Whether each case passes under the settings, by id."""
    return {
        case.id: judge(case, rank(candidates, settings)).passed
        for case, candidates in zip(cases, found, strict=True)
    }


def _obstacle(name: str, old: Side, new: Side, shared: Sequence[str]) -> str | None:
    """Why no case can be held against another; a clause without a full stop."""
    if old.ground["limit"] != new.ground["limit"]:
        return f"the limit is {new.ground['limit']}, and was {old.ground['limit']} in {name}"
    if old.ground["degraded"] != new.ground["degraded"]:
        lacking = "this side" if new.ground["degraded"] else name
        return f"vectors were missing when {lacking} was measured, and not on the other side"
    return None if shared else f"not one case is the same in {name}"


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


def _details(old: Side, new: Side, shared: Sequence[str]) -> tuple[str, ...]:
    known = set(shared)
    ids = dict.fromkeys(case.id for case in (*old.cases, *new.cases))
    before, now = old.settings.to_json(), new.settings.to_json()
    return (
        *(f"case:{case}" for case in ids if case not in known),
        *(part for part in old.detail if old.detail[part] != new.detail[part]),
        *(f"settings.{key}" for key in changed_numbers(before, now) if key != "limit"),
    )
