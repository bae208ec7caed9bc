"""What settings and index did together that neither did alone: why their two effects don't add up. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass

from rag_core.model.shape import Shape

_NAMED = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Turned(Shape):
    """Ids of cases that one of two outcomes has and the other has not, in the order of the cases."""

    won: tuple[str, ...]
    lost: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Interaction(Shape):
    """The cases over which an outcome is not the sum of the two effects.

    `only_together` neither alone turned; `either_alone` each alone turned, so that it counts in both effects; `undone`
    one alone would have turned, or each, and the two together did not.
    """

    only_together: Turned
    either_alone: Turned
    undone: Turned

    @property
    def words(self) -> str:
        """The clauses, such as `1 lost only by both together (frete); 1 won by either alone (rota)`; '' of none."""
        told = (
            (self.only_together, "only by both together"),
            (self.either_alone, "by either alone, and counted in both"),
            (self.undone, "by one alone, and not by both together"),
        )
        return "; ".join(
            f"{len(cases)} {word} {clause} ({_named(cases)})"
            for turned, clause in told
            for word, cases in (("lost", turned.lost), ("won", turned.won))
            if cases
        )


def interaction_of(outcome: Turned, by_settings: Turned, by_index: Turned) -> Interaction:
    """Hold an outcome against its two effects, each of which is a replay of one change alone.

    Examples:
        >>> nothing = Turned(won=(), lost=())
        >>> interaction_of(Turned(won=(), lost=("frete",)), nothing, nothing).words
        '1 lost only by both together (frete)'
    """
    won = _parts(outcome.won, by_settings.won, by_index.won)
    lost = _parts(outcome.lost, by_settings.lost, by_index.lost)
    only, either, undone = (
        Turned(won=part_won, lost=part_lost) for part_won, part_lost in zip(won, lost, strict=True)
    )
    return Interaction(only_together=only, either_alone=either, undone=undone)


def _parts(both: Iterable[str], settings: Iterable[str], index: Iterable[str]) -> tuple[tuple[str, ...], ...]:
    together, first, second = dict.fromkeys(both), dict.fromkeys(settings), dict.fromkeys(index)
    return (
        tuple(case for case in together if case not in first and case not in second),
        tuple(case for case in together if case in first and case in second),
        tuple(case for case in {**first, **second} if case not in together),
    )


def _named(cases: tuple[str, ...]) -> str:
    more = f" and {len(cases) - _NAMED} more" if len(cases) > _NAMED else ""
    return f"{', '.join(cases[:_NAMED])}{more}"
