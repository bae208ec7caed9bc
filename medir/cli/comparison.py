"""A run against a baseline, printed for people."""

from medir.cli.frame import Output
from rag_core.comparing import BaselineComparison, Turned


def print_comparison(output: Output, comparison: BaselineComparison, *, what: str) -> None:
    """The comparison, for a person."""
    output.say("")
    if comparison.outcome is not None:
        output.say(f"{what} against the baseline {comparison.name}: {_told(comparison.outcome)}")
    else:
        output.say(
            f"{what} and the baseline {comparison.name} stand on different ground, so there is no single number."
        )
    if comparison.differs:
        output.say(f"What differs: {', '.join(comparison.differs)}")
    for name, effect in (("settings", comparison.by_settings), ("index", comparison.by_index)):
        told = "can't be told, it needs candidates that were not fetched" if effect is None else _told(effect)
        output.say(f"Effect of the {name}: {told}")


def _told(turned: Turned) -> str:
    parts = [
        f"{len(cases)} {word}" + (f" ({', '.join(cases)})" if cases else "")
        for word, cases in (("won", turned.won), ("lost", turned.lost))
    ]
    return ", ".join(parts)
