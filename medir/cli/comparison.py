"""A run against a baseline, printed for people."""

from collections.abc import Collection, Sequence

from medir.cli.frame import Output
from rag_core.comparing import BaselineComparison, Turned


def print_comparison(output: Output, comparison: BaselineComparison, *, what: str) -> None:
    """The comparison, for a person: the lost cases that must pass first, and what happened to each."""
    output.say("")
    if comparison.outcome is not None:
        told = _told(comparison.outcome.won, comparison.lost, comparison.must_pass)
        output.say(f"{what} against the baseline {comparison.name}: {told}")
    else:
        output.say(
            f"{what} can't be held against the baseline {comparison.name} case by case: {comparison.obstacle}."
        )
    for cause in comparison.lost_because:
        output.say(f"  {cause.id}: {cause.sentence}")
    _print_not_shared(output, comparison)
    if comparison.differs:
        output.say(f"What differs: {', '.join(comparison.differs)}")
    for name, effect in (("settings", comparison.by_settings), ("index", comparison.by_index)):
        told = (
            "can't be told, it needs candidates that were not fetched" if effect is None else _effect(effect)
        )
        output.say(f"Effect of the {name}: {told}")


def _print_not_shared(output: Output, comparison: BaselineComparison) -> None:
    for words, cases in (
        ("New, so not compared", comparison.new),
        (f"Gone since {comparison.name}, so not compared", comparison.gone),
        (f"Changed since {comparison.name}, so not compared", comparison.changed),
    ):
        if cases:
            named = [f"{case} (passed then)" if case in comparison.passed_before else case for case in cases]
            output.say(f"{words}: {', '.join(named)}")


def _effect(turned: Turned) -> str:
    return _told(turned.won, turned.lost)


def _told(won: Sequence[str], lost: Sequence[str], must_pass: Collection[str] = ()) -> str:
    named = [f"{case} (must pass)" if case in must_pass else case for case in lost]
    parts = [
        f"{len(cases)} {word}" + (f" ({', '.join(cases)})" if cases else "")
        for word, cases in (("won", won), ("lost", named))
    ]
    return ", ".join(parts)
