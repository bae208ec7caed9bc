"""A run against a baseline, printed for people."""

from collections.abc import Collection, Sequence

from medir.cli.frame import Output
from rag_core.evaluation.comparison import BaselineComparison
from rag_core.evaluation.interaction import Turned
from rag_core.words.settings import NUMBERS

_CHANGED = {
    "limit": "how many hits count",
    "index": "the index",
    "model": "the embedding model",
    "degraded": "whether questions had a vector",
    "commit": "the commit",
    "chunkerVersion": "how documents are cut into chunks",
    "queryVersion": "how questions are turned into queries",
    "textSearchConfig": "the text search configuration",
}


def print_comparison(output: Output, comparison: BaselineComparison, *, what: str) -> None:
    """The comparison, for a person: the lost cases that must pass first, and what happened to each."""
    output.say("")
    if comparison.outcome is not None:
        told = _won_and_lost(comparison.outcome.won, comparison.lost, comparison.must_pass)
        output.say(f"{what} against the baseline {comparison.name}: {told}")
    else:
        output.say(
            f"{what} can't be held against the baseline {comparison.name} case by case: {comparison.obstacle}."
        )
    for cause in comparison.lost_because:
        output.say(f"  {cause.id}: {cause.sentence}")
    _print_not_shared(output, comparison)
    changed = changes_told(comparison.differs)
    if changed:
        output.say(f"Changed in between: {'; '.join(changed)}")
    _print_effects(output, comparison)


def changes_told(differs: Sequence[str]) -> tuple[str, ...]:
    """What changed between the two sides, in plain words; the cases that changed are named elsewhere."""
    # a part that has no words is still better named than left out
    told = [
        _CHANGED.get(part, part)
        for part in differs
        if not part.startswith(("case:", "settings.")) and part != "cases"
    ]
    if "cases" in differs and not any(part.startswith("case:") for part in differs):
        told.insert(0, "the golden set, though none of its cases")
    numbers = [part.removeprefix("settings.") for part in differs if part.startswith("settings.")]
    if numbers:
        told.append(f"the settings ({', '.join(NUMBERS.get(number, number) for number in numbers)})")
    return tuple(told)


def _print_effects(output: Output, comparison: BaselineComparison) -> None:
    """What settings and index did, each alone; nothing where neither turned a case."""
    effects = (("settings", comparison.by_settings), ("index", comparison.by_index))
    turned = any(effect is None or effect.won or effect.lost for _, effect in effects)
    if not turned and comparison.interaction is None:
        return
    for name, effect in effects:
        told = (
            "can't be told, it needs candidates that were not fetched" if effect is None else _effect(effect)
        )
        output.say(f"Effect of the {name}: {told}")
    if comparison.interaction is not None:
        output.say(f"The two do not add up: {comparison.interaction.words}")


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
    return _won_and_lost(turned.won, turned.lost)


def _won_and_lost(won: Sequence[str], lost: Sequence[str], must_pass: Collection[str] = ()) -> str:
    named = [f"{case} (must pass)" if case in must_pass else case for case in lost]
    parts = [
        f"{len(cases)} {word}" + (f" ({', '.join(cases)})" if cases else "")
        for word, cases in (("won", won), ("lost", named))
    ]
    return ", ".join(parts)
