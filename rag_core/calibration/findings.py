"""All that a calibration finds out about golden cases and their candidates, and its form in JSON."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rag_core.calibration.choice.contenders import TODAY, Contender, build_ballot
from rag_core.calibration.choice.families import Variant
from rag_core.calibration.choice.verdict import Choice, Electorate, decide
from rag_core.calibration.effective import EffectiveWeight, effective_weight
from rag_core.calibration.exact.ceilings import ceiling_map, flat_map
from rag_core.calibration.exact.exact import Exact, build_exact
from rag_core.calibration.exact.steps import ThresholdSteps, WeightSteps
from rag_core.calibration.exact.thresholds import threshold_tolerances
from rag_core.calibration.floor_standing import FloorStanding, stand
from rag_core.calibration.replay import measure_replay
from rag_core.calibration.safety import passing, safe_thresholds, safe_weights
from rag_core.calibration.shortfall import Shortfall, fall_short
from rag_core.calibration.table import Flags
from rag_core.calibration.trade import Trade, weigh_errors
from rag_core.golden.cases import GoldenCase
from rag_core.metrics.intervals import Interval
from rag_core.metrics.measures import PASSED, Measure, measures_at
from rag_core.model import RankingSettings, SearchSettings
from rag_core.model.shape import Shape, keyed

DEPTHS = (10, 20, 50, 100, 200)
CAPS = (1, 2, 3, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Functions(Shape):
    """One measure over the weight, over the threshold, and over both: `ceilings` in the contract's form."""

    weights: WeightSteps
    thresholds: ThresholdSteps
    ceilings: list[dict[str, object]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What was found. `settings` are today's; `baseline` is the name of the one whose cases must not be lost.

    `functions` has a measure only where it judges a case. `safe_weights` and `safe_thresholds` keep every case
    that passes now, or passed in the baseline; infinite ends of a threshold stand for none.
    """

    settings: SearchSettings
    baseline: str | None
    cases: int
    functions: Mapping[Measure, Functions]
    safe_weights: tuple[Interval, ...]
    safe_thresholds: tuple[Interval, ...]
    choice: Choice
    proposal: SearchSettings
    floor: FloorStanding
    shortfall: Shortfall | None
    trade: Trade
    effective: EffectiveWeight

    @property
    def reason(self) -> str:
        """The verdict in words: first what today's numbers break and what restores it, then the evidence."""
        if self.floor.holds:
            return self.choice.reason
        verdict, _, evidence = self.choice.reason.partition(": ")
        return (
            f"{self.floor.sentence} On the evidence for the best found alone: {verdict.lower()}; {evidence}"
        )

    def to_json(self) -> dict[str, object]:
        """The contract's calibration, with `errors` and `effectiveWeight`."""
        metrics = {str(measure): found.to_json() for measure, found in self.functions.items()}
        told = keyed(self, "settings", "baseline", "cases") | {"metrics": metrics}
        return told | self.verdict_to_json()

    def verdict_to_json(self) -> dict[str, object]:
        """The same without the functions."""
        return {
            "safe": {
                "weight": [_ends(run) for run in self.safe_weights],
                "threshold": [_ends(run) for run in self.safe_thresholds],
            },
            "proposal": {"settings": self.proposal.to_json()}
            | self.choice.to_json()
            | keyed(self, "reason")
            | {"scoredOn": "holdout" if self.choice.split else "leftOutInTurn"}
            | keyed(self.choice, "decidable", "winnable", "more_cases")
            | keyed(self, "floor", "shortfall"),
            "errors": _trade_to_json(self.trade),
            "effectiveWeight": keyed(self.effective, "vector", "lexical"),
        }


def find(
    variants: tuple[Variant, ...],
    cases: Sequence[GoldenCase],
    settings: SearchSettings,
    *,
    measure: Measure = PASSED,
    price: float = 0.25,
    seed: int = 0,
    resamples: int = 200,
    depths: Sequence[int] = DEPTHS,
    baseline: tuple[str, Flags] | None = None,
    floor: int = 0,
    others: Sequence[tuple[str, SearchSettings]] = (),
) -> Findings:
    """Find out everything about the cases.

    Args:
        variants: Candidates of the cases, those of today's settings first, at least as deep as `depths`.
        cases: The golden cases.
        settings: Today's.
        measure: What is chosen by.
        price: Of a wrong citation, in missed answers.
        seed: The same seed gives the same findings.
        resamples: How many resamples tell the optimism.
        depths: Candidates a signal to try.
        baseline: The name of a baseline and which cases passed in it, shape (cases,); without one, what passes
            today must not be lost.
        floor: How many cases must pass.
        others: Numbers besides the best found that may restore the floor where today's break it, by name.

    Raises:
        InvalidInput: The measure judges no case on one side of the split, or the price is no such number.
    """
    first, ranking = variants[0], settings.ranking
    table, judged = first.table, first.judged
    keep = passing(table, judged, ranking) if baseline is None else baseline[1]
    trade = weigh_errors(table, judged, ranking, price=price)
    exact = build_exact(table, judged, ranking, places=True) if ranking.fusion.weighs else None
    ballot = build_ballot(variants, ranking, measure, depths=depths, caps=CAPS)
    choice = decide(ballot, Electorate.of(cases), measure, seed=seed, resamples=resamples)
    thresholds = safe_thresholds(table, judged, ranking, keep)
    ids = tuple(case.id for case in cases)
    functions = _functions(first, ranking, exact, ids, measure)
    proposal = _proposed(settings, choice, variants)
    found = [("the best found", proposal)]
    found += [
        (row.contender.name, settings_of_contender(settings, row.contender, variants))
        for row in choice.table[1:]
    ]
    return Findings(
        settings=settings,
        baseline=None if baseline is None else baseline[0],
        cases=len(cases),
        functions=functions,
        safe_weights=_safe_at_any_weight(first, ranking, keep)
        if exact is None
        else safe_weights(exact, keep),
        safe_thresholds=() if thresholds is None else (thresholds,),
        choice=choice,
        proposal=proposal,
        floor=stand(variants, cases, settings, floor=floor, others=[*others, *found]),
        shortfall=fall_short(functions[measure].weights, choice) if measure in functions else None,
        trade=trade,
        effective=effective_weight(table, ranking),
    )


def measures_shown(limit: int, measure: Measure) -> tuple[Measure, ...]:
    """The measures of a calibration at a limit, the one that is chosen by among them, each once."""
    shown = measures_at(sorted({1, min(3, limit), limit}), limit)
    return tuple(dict.fromkeys([*shown, measure]))


def _functions(
    variant: Variant, ranking: RankingSettings, exact: Exact | None, ids: tuple[str, ...], measure: Measure
) -> dict[Measure, Functions]:
    found: dict[Measure, Functions] = {}
    for each in measures_shown(ranking.limit, measure):
        tolerances = threshold_tolerances(variant.table, variant.judged, ranking, each)
        thresholds = tolerances.steps()
        if exact is None:
            weights = _level(variant, ranking, each)
            ceilings = flat_map(tolerances).to_json(ids)
        else:
            weights = exact.weights(each)
            ceilings = ceiling_map(exact, each).to_json(ids)
        if weights is not None and thresholds is not None:
            found[each] = Functions(weights=weights, thresholds=thresholds, ceilings=ceilings)
    return found


def _level(variant: Variant, ranking: RankingSettings, measure: Measure) -> WeightSteps | None:
    """A measure under a fusion without weights: one value all over."""
    values = measure_replay(variant.table, variant.judged, ranking, measure)
    judged = ~np.isnan(values)
    if not judged.any():
        return None
    value = float(values[judged].mean())
    return WeightSteps(ends=np.array([0.0, 1.0]), at=np.full(2, value), inside=np.array([value]))


def _safe_at_any_weight(variant: Variant, ranking: RankingSettings, keep: Flags) -> tuple[Interval, ...]:
    kept = passing(variant.table, variant.judged, ranking)[keep].all()
    return (Interval(0.0, 1.0),) if kept else ()


def _proposed(settings: SearchSettings, choice: Choice, variants: tuple[Variant, ...]) -> SearchSettings:
    elected = choice.proposal
    return settings if elected.name == TODAY else settings_of_contender(settings, elected, variants)


def settings_of_contender(
    settings: SearchSettings, contender: Contender, variants: tuple[Variant, ...]
) -> SearchSettings:
    """Settings with a contender's numbers, in the lexical way of its candidates."""
    candidates = dataclasses.replace(settings.candidates, lexical=variants[contender.variant].lexical)
    return SearchSettings(
        candidates=candidates, ranking=settings.ranking, source="proposal", preset=None
    ).with_ranking(contender.settings)


def _ends(run: Interval) -> list[float | None]:
    return [end if np.isfinite(end) else None for end in (run.low, run.high)]


def _trade_to_json(trade: Trade) -> dict[str, object]:
    counted = ("least_cost", "separable", "order", "answerable", "no_answer", "missed", "wrong", "sentence")
    return keyed(trade, "price", "threshold") | {"best": _ends(trade.best)} | keyed(trade, *counted)
