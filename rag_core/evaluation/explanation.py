"""One golden case explained: its way through the ranking, who stands above it, and what would make it pass."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rag_core.calibration.exact.exact import Exact, build_exact
from rag_core.calibration.safety import Overtake, overtakes, safe_weights
from rag_core.calibration.table import build_table, judge_table
from rag_core.golden.cases import GoldenCase
from rag_core.golden.losses import LossCause
from rag_core.golden.remedies import Remedy, remedies, true_remedies
from rag_core.golden.verdicts import CaseVerdict, judge
from rag_core.metrics.intervals import Interval
from rag_core.model import CandidateSet, RankedCandidate, Ranking, RankingSettings, SearchSettings
from rag_core.ranking.ranking import rank
from rag_core.words.ranges import tell_outside


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseExplanation:
    """One case with its whole set, the texts by chunk id, and what would make it pass.

    `passing_weights` are all vector weights at which the case passes, exactly; empty where there are none, or
    where the fusion has no weights. `overtakes` has the rivals that stand above the best expected chunk at some
    weight. `left_out` are the question's words that were not searched for. `passed_in` names the run or baseline in
    which the case passed, and `lost_because` what happened since; None and empty where it never passed, or passes.
    """

    verdict: CaseVerdict
    settings: SearchSettings
    ranking: Ranking
    contents: Mapping[str, str]
    remedies: tuple[Remedy, ...]
    passing_weights: tuple[Interval, ...]
    overtakes: tuple[Overtake, ...]
    left_out: tuple[str, ...]
    passed_in: str | None = None
    lost_because: tuple[LossCause, ...] = ()

    def lost_since(self, passed_in: str, causes: tuple[LossCause, ...]) -> "CaseExplanation":
        """The same of a case that passed once; remedies that would only treat a symptom are left out."""
        return dataclasses.replace(
            self,
            passed_in=passed_in,
            lost_because=causes,
            remedies=true_remedies(self.remedies, causes),
        )

    def crossing(self, rival: RankedCandidate) -> str:
        """The weights at which the expected chunk stands above a rival, in words; '' where weights decide nothing.

        Such as `above 0.4312`, `below 0.1`, `below 0.1 or above 0.4312`, `no weight`.
        """
        key = rival.candidate.tie_key
        found = next((entry for entry in self.overtakes if entry.rival.tie_key == key), None)
        if found is None:
            return ""
        return tell_outside(found.begins, found.ends)


def explain(
    case: GoldenCase,
    found: CandidateSet,
    ranking: Ranking,
    settings: SearchSettings,
    *,
    contents: Mapping[str, str],
    left_out: Sequence[str],
) -> CaseExplanation:
    """Explain a case from its candidates, fetched deeper than they are ranked where depth is to be tried.

    `contents` are the texts of the whole set by chunk id, `left_out` the question's words that were not searched for.
    """
    exact = _exact(case, found, settings.ranking)
    weights = _passing(exact)
    return CaseExplanation(
        verdict=judge(case, ranking),
        settings=settings,
        ranking=ranking,
        contents=contents,
        remedies=remedies(
            case,
            found,
            settings.ranking,
            rank=rank,
            passing_weights=[(run.low, run.high) for run in weights],
        ),
        passing_weights=weights,
        overtakes=() if exact is None else overtakes(exact, 0),
        left_out=tuple(left_out),
    )


def passing_weights(case: GoldenCase, found: CandidateSet, ranking: RankingSettings) -> tuple[Interval, ...]:
    """All vector weights at which a case passes, exactly; empty where weights decide nothing."""
    return _passing(_exact(case, found, ranking))


def _passing(exact: Exact | None) -> tuple[Interval, ...]:
    return () if exact is None else safe_weights(exact, np.array([True]))


def _exact(case: GoldenCase, found: CandidateSet, ranking: RankingSettings) -> Exact | None:
    if not ranking.fusion.weighs or not found.candidates:
        return None
    table = build_table([found])
    return build_exact(table, judge_table(table, [case]), ranking, places=False)
