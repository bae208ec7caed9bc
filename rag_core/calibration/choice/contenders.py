"""Who stands for election: today's settings, the weighted sums, and rivals that are none of these."""

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from rag_core.calibration.choice.families import Variant, build_family, vary
from rag_core.calibration.choice.margin import Menu, best_of, choose, nearness, prepare, values_of_each
from rag_core.calibration.replay import measure_replay
from rag_core.calibration.table import Floats
from rag_core.metrics.comparison import SAME
from rag_core.metrics.intervals import Interval
from rag_core.metrics.measures import Measure
from rag_core.model import Fusion, RankingSettings

RRF_KS = (1, 2, 10, 60)
WEIGHTED_SUM = "weighted sum"
VECTOR_ONLY, LEXICAL_ONLY, TODAY = "vector only", "lexical only", "today"


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender:
    """One setting with the value of every case under it, NaN where the measure does not judge it.

    `variant` is the number of the candidates that it ranks. The margins are None where nothing was chosen.
    """

    name: str
    variant: int
    settings: RankingSettings
    values: Floats
    weight_margin: Interval | None = None
    threshold_margin: Interval | None = None

    @property
    def chosen_k(self) -> int | None:
        """The k that was chosen with its weight; None where it was not."""
        chosen = self.weight_margin is not None and self.settings.fusion.takes_k
        return self.settings.rrf_k if chosen else None

    def mean(self, multiplicity: Floats) -> float:
        """The mean over cases as often as each counts; cases that are not judged must count 0."""
        return float(np.nan_to_num(self.values) @ multiplicity) / float(multiplicity.sum())


@dataclass(frozen=True, slots=True, kw_only=True)
class Ballot:
    """All that can be elected, prepared once for elections on many sets of cases.

    `fixed` are today's settings, first, and rivals without a number to choose; `menus` offer numbers, the
    weighted sums first, each under its name. `families` says which variant each family of a menu is of.
    """

    fixed: tuple[Contender, ...]
    menus: tuple[tuple[str, Menu], ...]
    variants: tuple[tuple[int, ...], ...]

    @property
    def today(self) -> Contender:
        """The settings in force."""
        return self.fixed[0]

    def contenders(self, multiplicity: Floats) -> tuple[Contender, ...]:
        """Every contender, with its numbers chosen on the given cases: today, weighted sum, then the rivals."""
        chosen = [
            self._chosen(number, name, menu, multiplicity) for number, (name, menu) in enumerate(self.menus)
        ]
        return (self.fixed[0], chosen[0], *self.fixed[1:], *chosen[1:])

    def elect(self, multiplicity: Floats) -> Contender:
        """The first contender whose mean is near the best: today's settings win ties, then the weighted sum."""
        running = self.contenders(multiplicity)
        best = max(contender.mean(multiplicity) for contender in running)
        enough = best - nearness(best, float(multiplicity.sum())) - SAME
        return next(contender for contender in running if contender.mean(multiplicity) >= enough)

    def most(self, measure: Measure) -> Floats:
        """No less than each case reaches under any numbers that can be elected, shape (cases,); NaN if not judged.

        Exact for measures of hits; of places, what each adds alone is added up.
        """
        most = self.today.values.copy()
        for contender in self.fixed:
            most = np.fmax(most, contender.values)
        for _, menu in self.menus:
            for found in (family.map for family in menu.families):
                if measure.uses_places:
                    added = np.bincount(found.case, weights=found.value, minlength=len(most))
                    most = np.fmax(most, np.minimum(added, 1.0))
                np.fmax.at(most, found.case, found.value)
                most[found.always] = 1.0
        return np.where(np.isnan(self.today.values), np.nan, most)

    def slack(self, multiplicity: Floats) -> float:
        """By how much a mean may lie below the best of all on the given cases and still count as near it."""
        total = float(multiplicity.sum())
        best = max(best_of(menu, multiplicity) for _, menu in self.menus)
        fixed = max(contender.mean(multiplicity) for contender in self.fixed)
        return nearness(max(best, fixed), total)

    def _chosen(self, number: int, name: str, menu: Menu, multiplicity: Floats) -> Contender:
        chosen = choose(menu, multiplicity)
        return Contender(
            name=name,
            variant=self.variants[number][chosen.family],
            settings=chosen.settings,
            values=values_of_each(menu.families[chosen.family].map, chosen.settings),
            weight_margin=chosen.weight_margin,
            threshold_margin=chosen.threshold_margin,
        )


def build_ballot(
    variants: tuple[Variant, ...],
    today: RankingSettings,
    measure: Measure,
    *,
    depths: Iterable[int] = (),
    caps: Iterable[int | None] = (),
) -> Ballot:
    """Prepare everything that may be chosen.

    Weighted sums: today's settings, each depth and cap in its place, and today's numbers over each other
    variant, all weights and thresholds of each. Rivals: each signal alone and every other fusion, at any
    weight where it weighs, and then at any of `RRF_KS` and today's own k where it takes one, over today's candidates,
    depth, cap and limit, all without a threshold, which belongs to the weighted sum's scale.

    Args:
        variants: Candidates of the same cases, today's first.
        today: The settings in force; where their fusion is not the weighted sum, its menu starts from theirs all
            the same, without their threshold.
        measure: What is chosen by.
        depths: Candidates a signal to try, within what was fetched.
        caps: Chunks a file to try, None for no cap.
    """
    first = variants[0]
    plain = dataclasses.replace(today, fusion=Fusion.WEIGHTED_SUM)
    threshold = today.threshold if today.fusion is Fusion.WEIGHTED_SUM else None
    spots = [(0, settings) for settings in vary(plain, depths=depths, caps=caps)]
    spots += [(number, plain) for number in range(1, len(variants))]
    weighted = prepare(
        [build_family(variants[number], settings, measure, today=threshold) for number, settings in spots]
    )
    free = dataclasses.replace(plain, threshold=None)
    others = [dataclasses.replace(free, fusion=each) for each in Fusion if each is not Fusion.WEIGHTED_SUM]
    weighing = [_with_every_k(each, today) for each in others if each.fusion.weighs]
    rivals = (
        (VECTOR_ONLY, dataclasses.replace(free, weight_vector=1.0, weight_lexical=0.0)),
        (LEXICAL_ONLY, dataclasses.replace(free, weight_vector=0.0, weight_lexical=1.0)),
        *((str(each.fusion), each) for each in others if not each.fusion.weighs),
    )
    return Ballot(
        fixed=tuple(
            Contender(
                name=name,
                variant=0,
                settings=settings,
                values=measure_replay(first.table, first.judged, settings, measure),
            )
            for name, settings in ((TODAY, today), *rivals)
        ),
        menus=(
            (WEIGHTED_SUM, weighted),
            *(
                (
                    str(offered[0].fusion),
                    prepare([build_family(first, each, measure, today=None) for each in offered]),
                )
                for offered in weighing
            ),
        ),
        variants=(tuple(number for number, _ in spots), *((0,) * len(offered) for offered in weighing)),
    )


def _with_every_k(settings: RankingSettings, today: RankingSettings) -> tuple[RankingSettings, ...]:
    if not settings.fusion.takes_k:
        return (settings,)
    own = (today.rrf_k,) if today.fusion.takes_k else ()
    return tuple(dataclasses.replace(settings, rrf_k=k) for k in dict.fromkeys((*RRF_KS, *own)))
