"""Other numbers in the place of those of some settings: what a trial, an adoption, a file and an address are. Pure."""

import dataclasses
from dataclasses import dataclass
from typing import TypeVar

from rag_core.errors import InvalidInput
from rag_core.model import (
    Fusion,
    LexicalFunction,
    LexicalOperator,
    LexicalWay,
    RankingSettings,
    SearchSettings,
)
from rag_core.model.limits import MAX_LIMIT
from rag_core.settings.presets import Preset

MAX_CANDIDATES = 1_000
FUSIONS_WITH_K = tuple(fusion for fusion in Fusion if fusion.takes_k)
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Unset:
    """Stands for "no override", where None already means "no threshold" or "no cap"."""


UNSET = Unset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Overrides:
    """Numbers in place of others. A lexical weight is never given: it is the rest.

    `preset` names the numbers to start from, which is for whoever knows what else they could start from.
    """

    preset: str | None = None
    weight_vector: float | None = None
    threshold: float | Unset | None = UNSET
    threshold_when_degraded: float | Unset | None = UNSET
    candidates: int | None = None
    max_per_file: int | Unset | None = UNSET
    limit: int | None = None
    fusion: Fusion | None = None
    rrf_k: int | None = None
    lexical_operator: LexicalOperator | None = None
    lexical_function: LexicalFunction | None = None
    k1: float | None = None
    b: float | None = None
    title_weight: float | None = None

    @classmethod
    def of(cls, settings: SearchSettings) -> "Overrides":
        """Every number of some settings, in full."""
        ranking, candidates = settings.ranking, settings.candidates
        return cls(
            weight_vector=ranking.weight_vector,
            threshold=ranking.threshold,
            threshold_when_degraded=ranking.threshold_when_degraded,
            candidates=ranking.candidates_per_signal,
            max_per_file=ranking.max_per_file,
            limit=ranking.limit,
            fusion=ranking.fusion,
            rrf_k=ranking.rrf_k if ranking.fusion.takes_k else None,
            lexical_operator=candidates.lexical.operator,
            lexical_function=candidates.lexical.function,
            k1=candidates.lexical.numbers["k1"],
            b=candidates.lexical.numbers["b"],
            title_weight=candidates.lexical.numbers["title_weight"],
        )

    @classmethod
    def between(cls, before: SearchSettings, after: SearchSettings) -> "Overrides":
        """The numbers that, put over the one settings, make the other: no more than those that differ."""
        fusion = None if after.ranking.fusion is before.ranking.fusion else after.ranking.fusion
        wanted = cls.of(after)
        k = None if cls.of(cls(fusion=fusion).over(before)).rrf_k == wanted.rrf_k else wanted.rrf_k
        begun = cls.of(cls(fusion=fusion, rrf_k=k).over(before))
        same = {
            field.name: field.default
            for field in dataclasses.fields(cls)
            if getattr(begun, field.name) == getattr(wanted, field.name)
        }
        return dataclasses.replace(wanted, **same | {"fusion": fusion, "rrf_k": k})

    @property
    def any_given(self) -> bool:
        """Whether this makes a trial of a run."""
        return self != Overrides()

    def over(self, settings: SearchSettings) -> SearchSettings:
        """The settings with these numbers in the place of theirs, fetched as deep as they need.

        Raises:
            InvalidInput: A number is out of range.
        """
        candidates = dataclasses.replace(
            settings.candidates,
            lexical=self.way(settings.candidates.lexical),
        )
        ranking = self.ranked(settings.ranking)
        return dataclasses.replace(settings, candidates=candidates, source="trial").with_ranking(ranking)

    def way(self, own: LexicalWay) -> LexicalWay:
        """The lexical way with these numbers in the place of its own; one of its own that plays no part is forgotten.

        Raises:
            InvalidInput: A number is out of range, or plays no part.
        """
        given = {
            "operator": self.lexical_operator,
            "function": self.lexical_function,
            "k1": self.k1,
            "b": self.b,
            "title_weight": self.title_weight,
        }
        made = dataclasses.replace(own, **{name: value for name, value in given.items() if value is not None})
        idle = next(
            (name for name, value in made.numbers.items() if value is None and given[name] is not None), None
        )
        if idle is not None:
            raise InvalidInput(
                f"The {idle.replace('_', ' ')} plays no part under {made.function}.",
                hint="Leave it out, or choose another lexical function.",
            )
        return made

    def ranked(self, own: RankingSettings) -> RankingSettings:
        """The numbers that can be replayed, with these in the place of theirs.

        Another fusion or k drops the threshold unless one is given with it: thresholds belong to one scale.

        Raises:
            InvalidInput: A number is out of range, or plays no part under the fusion.
        """
        fusion = self.fusion or own.fusion
        if self.rrf_k is not None and not fusion.takes_k:
            raise InvalidInput(
                f"The fusion {fusion} takes no k.",
                hint=f"Leave the k out, or choose one that does: {', '.join(FUSIONS_WITH_K)}.",
            )
        # what the new fusion leaves of the k that was, if it takes one at all
        k = dataclasses.replace(own, fusion=fusion).rrf_k if self.rrf_k is None else self.rrf_k
        same_scale = (fusion, k) == own.scale
        weight = own.weight_vector if self.weight_vector is None else self.weight_vector
        made = RankingSettings(
            weight_vector=weight,
            # a lexical weight that is the rest but for its last bit stays; the constructor refuses what is no weight
            weight_lexical=own.weight_lexical if weight == own.weight_vector else max(0.0, 1.0 - weight),
            threshold=_or(self.threshold, own.threshold if same_scale else None),
            threshold_when_degraded=_or(self.threshold_when_degraded, own.threshold_when_degraded),
            candidates_per_signal=own.candidates_per_signal if self.candidates is None else self.candidates,
            max_per_file=_or(self.max_per_file, own.max_per_file),
            limit=own.limit if self.limit is None else self.limit,
            fusion=fusion,
            rrf_k=k,
        )
        for name, given, most in (
            ("limit", self.limit, MAX_LIMIT),
            ("number of candidates a signal", self.candidates, MAX_CANDIDATES),
        ):
            # nobody could read so many, and no signal should be asked for them
            if given is not None and given > most:
                raise InvalidInput(
                    f"The {name} is {given}; at most {most:,} are shown.", hint="Give a smaller one."
                )
        return made


def with_preset(settings: SearchSettings, preset: Preset) -> SearchSettings:
    """The settings with a preset's numbers in the place of theirs."""
    candidates = dataclasses.replace(settings.candidates, lexical=preset.lexical)
    made = dataclasses.replace(settings, candidates=candidates, source="trial", preset=preset.name)
    return made.with_ranking(preset.ranking)


def _or(given: T | Unset, own: T) -> T:
    return own if isinstance(given, Unset) else given
