"""Where today's numbers stand against the golden set's floor, and which others would restore it."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rag_core.calibration.choice.families import Variant, variant_of
from rag_core.calibration.safety import passing
from rag_core.calibration.table import Flags
from rag_core.golden.cases import GoldenCase
from rag_core.metrics.significance import sign_test
from rag_core.model import SearchSettings
from rag_core.model.shape import keyed
from rag_core.words.plurals import counted

_NAMED = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Restorer:
    """Numbers under which the gate holds: how many cases pass, and won and lost against today's over all cases."""

    name: str
    settings: SearchSettings
    passed: int
    won: int
    lost: int

    @property
    def p_value(self) -> float:
        """The exact two-sided sign test's over won and lost."""
        return sign_test(self.won, self.lost)

    def to_json(self) -> dict[str, object]:
        """An entry of the contract's `floor.restoredBy`."""
        return keyed(self, "name", "settings", "passed", "won", "lost", "p_value")


@dataclass(frozen=True, slots=True, kw_only=True)
class FloorStanding:
    """How many cases pass under today's numbers, of how many, and how many must.

    `must_pass_lost` are the ids of cases that must pass and do not. `restored_by` has the numbers, of those that were
    tried, under which the floor is met and every such case passes, those that pass most first; empty where the gate
    holds.
    """

    passed: int
    total: int
    floor: int
    must_pass_lost: tuple[str, ...]
    restored_by: tuple[Restorer, ...]

    @property
    def holds(self) -> bool:
        """Whether the gate is met today."""
        return self.passed >= self.floor and not self.must_pass_lost

    @property
    def faults(self) -> tuple[str, ...]:
        """What is broken; empty where the gate holds."""
        faults: list[str] = []
        if self.passed < self.floor:
            faults.append(
                f"{self.passed} of {counted(self.total, 'case')} {'passes' if self.passed == 1 else 'pass'}, "
                f"the floor is {self.floor}"
            )
        if self.must_pass_lost:
            named = ", ".join(self.must_pass_lost[:_NAMED])
            more = (
                f" and {len(self.must_pass_lost) - _NAMED} more" if len(self.must_pass_lost) > _NAMED else ""
            )
            faults.append(
                f"{named}{more} must pass and {'does' if len(self.must_pass_lost) == 1 else 'do'} not"
            )
        return tuple(faults)

    @property
    def sentence(self) -> str:
        """What is broken and what restores it; empty where the gate holds."""
        if self.holds:
            return ""
        return f"Today's numbers break the floor: {'; '.join(self.faults)}. {self._remedy()}"

    def _remedy(self) -> str:
        if not self.restored_by:
            return "Nothing that was tried restores it: neither a preset, nor an earlier adoption, nor the best found."
        best, *others = self.restored_by
        also = (
            f" So {'do' if len(others) > 1 else 'does'} {_listed([each.name for each in others])}."
            if others
            else ""
        )
        lost = "none" if not best.lost else str(best.lost)
        return (
            f"What restores it: {best.name}, under which {best.passed} pass, {best.won} won and {lost} lost "
            f"(p = {best.p_value:.2g})."
        ) + also

    def to_json(self) -> dict[str, object]:
        """The contract's `floor` of a proposal."""
        return keyed(self, "holds", "passed", "total", "floor", "must_pass_lost", "restored_by")


def stand(
    variants: tuple[Variant, ...],
    cases: Sequence[GoldenCase],
    today: SearchSettings,
    *,
    floor: int,
    others: Sequence[tuple[str, SearchSettings]],
) -> FloorStanding:
    """Replay today's numbers and, where they break the gate, others on the candidates at hand.

    Args:
        variants: Candidates of the cases, today's first.
        cases: The golden cases.
        today: The numbers in force.
        floor: How many cases must pass.
        others: Other numbers by name, fetched deep enough. Those whose lexical way was not fetched, and those that
            were named before under another name, are left out.
    """
    must_pass = np.array([case.must_pass for case in cases], dtype=bool)
    own = passing(variants[0].table, variants[0].judged, today.ranking)
    held = standing_of(own, cases, floor=floor)
    if held.holds:
        return held
    known = {(0, today.ranking)}
    restorers: list[Restorer] = []
    for name, settings in others:
        variant = variant_of(variants, settings.candidates.lexical)
        if variant is None or (variant, settings.ranking) in known:
            continue
        known.add((variant, settings.ranking))
        passes = passing(variants[variant].table, variants[variant].judged, settings.ranking)
        if int(passes.sum()) >= floor and passes[must_pass].all():
            restorers.append(_restorer(name, settings, own, passes))
    restorers.sort(key=lambda each: (-each.passed, each.lost))
    return dataclasses.replace(held, restored_by=tuple(restorers))


def standing_of(passes: Flags, cases: Sequence[GoldenCase], *, floor: int) -> FloorStanding:
    """The gate where these cases pass, with nothing tried that might restore it."""
    lost = tuple(
        case.id for case, passed in zip(cases, passes.tolist(), strict=True) if case.must_pass and not passed
    )
    return FloorStanding(
        passed=int(passes.sum()), total=len(cases), floor=floor, must_pass_lost=lost, restored_by=()
    )


def _restorer(name: str, settings: SearchSettings, own: Flags, passes: Flags) -> Restorer:
    return Restorer(
        name=name,
        settings=settings,
        passed=int(passes.sum()),
        won=int(np.count_nonzero(passes & ~own)),
        lost=int(np.count_nonzero(own & ~passes)),
    )


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
