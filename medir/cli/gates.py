"""What a golden run is refused for: each gate that was not met, with its sentence, and the exit code of them all.

The floor and `must_pass` are always judged, and first; the others where `--fail-on` names them. Another gate is another
entry of `CHOSEN`.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from medir.cli.frame import EXIT_GATE, EXIT_PARTIAL, EXIT_REFUSED, Output
from medir.cli.typed_commands import for_project
from rag_core.evaluation.comparison import BaselineComparison
from rag_core.evaluation.golden_runs import GoldenRun
from rag_core.words.plurals import counted


@dataclass(frozen=True, slots=True, kw_only=True)
class UnmetGate:
    """One gate that was not met, or that can't be judged. `code` is its exit code alone, `error` that of its JSON."""

    name: str
    code: int
    sentence: str
    hint: str = ""
    error: str = "gateNotMet"


Gate = Callable[[GoldenRun, BaselineComparison | None], UnmetGate | None]


def unmet_gates(
    run: GoldenRun, comparison: BaselineComparison | None, fail_on: Collection[str] = ()
) -> tuple[UnmetGate, ...]:
    """The gates that were not met, in the order in which they are judged."""
    judged = (*_ALWAYS, *(gate for name, gate in CHOSEN.items() if name in fail_on))
    return tuple(unmet for gate in judged if (unmet := gate(run, comparison)) is not None)


def exit_code(unmet: Collection[UnmetGate]) -> int:
    """0 where all are met; 1 where any is not, also beside one that can't be judged; else 2; 3 for the index alone."""
    return min((gate.code for gate in unmet), default=0)


def error_of(unmet: Collection[UnmetGate], *, project_id: str | None = None) -> dict[str, object]:
    """`{"error": ...}` beside the run, where a gate was not met; else nothing."""
    if not unmet:
        return {}
    code = next(gate.error for gate in unmet if gate.code == exit_code(unmet))
    return {
        "error": {
            "code": code,
            "message": " ".join(gate.sentence for gate in unmet),
            "hint": for_project(
                " ".join(dict.fromkeys(gate.hint for gate in unmet if gate.hint)), project_id
            ),
        }
    }


def tell(output: Output, unmet: Collection[UnmetGate]) -> None:
    """The verdict for a person, and on standard error, under `--json` too, each gate that was not met."""
    code = exit_code(unmet)
    if code == EXIT_PARTIAL:
        output.say(f"Passed, but not everything is indexed (exit code {code}).")
    else:
        output.say("Failed." if code else "Passed.")
    for gate in unmet:
        output.note(gate.sentence)
    for hint in dict.fromkeys(gate.hint for gate in unmet if gate.hint):
        output.note(hint)


def lost_gate(comparison: BaselineComparison) -> UnmetGate | None:
    """Whether a case of the baseline is lost, by name; or why that can't be said."""
    if not comparison.comparable:
        return UnmetGate(
            name="lost",
            code=EXIT_REFUSED,
            sentence=f"What was lost since the baseline {comparison.name} can't be said: {comparison.obstacle}.",
            error="notComparable",
            hint="Measure on the same ground, or freeze another baseline: medir baseline freeze NAME",
        )
    if not comparison.lost:
        return None
    named = ", ".join(
        f"{case} (must pass)" if case in comparison.must_pass else case for case in comparison.lost
    )
    return UnmetGate(
        name="lost",
        code=EXIT_GATE,
        sentence=f"Lost since the baseline {comparison.name}: {named}.",
        hint=f"See why: medir golden explain {comparison.lost[0]} --baseline {comparison.name}",
    )


def _must_pass(run: GoldenRun, _comparison: BaselineComparison | None) -> UnmetGate | None:
    lost = run.outcome.lost_must_pass
    if not lost:
        return None
    return UnmetGate(
        name="must_pass",
        code=EXIT_GATE,
        sentence=f"Must pass, and {'fails' if len(lost) == 1 else 'fail'}: {', '.join(lost)}.",
    )


def _floor(run: GoldenRun, _comparison: BaselineComparison | None) -> UnmetGate | None:
    outcome = run.outcome
    if outcome.passed >= outcome.floor:
        return None
    verb = "passes" if outcome.passed == 1 else "pass"
    return UnmetGate(
        name="floor",
        code=EXIT_GATE,
        sentence=f"Under the floor: {counted(outcome.passed, 'case')} {verb}, and {outcome.floor} must.",
    )


def _floor_fall(run: GoldenRun, _comparison: BaselineComparison | None) -> UnmetGate | None:
    fall = run.floor_fall
    return None if fall is None else UnmetGate(name="floor", code=EXIT_GATE, sentence=fall)


def _lost(_run: GoldenRun, comparison: BaselineComparison | None) -> UnmetGate | None:
    return None if comparison is None else lost_gate(comparison)


def _stale(run: GoldenRun, _comparison: BaselineComparison | None) -> UnmetGate | None:
    hint = "Bring the index up to date: medir golden run --index"
    if run.words_changed:
        return UnmetGate(
            name="stale",
            code=EXIT_GATE,
            sentence="The index is stale: its words were made in another language, or by another version of Medir.",
            hint=hint,
        )
    if run.stale is None or run.stale.text_changed is False:
        return None
    if run.stale.text_changed is None:
        return UnmetGate(
            name="stale",
            code=EXIT_REFUSED,
            error="unavailable",
            sentence=f"Whether the index is stale can't be said: {run.stale.reason or 'git does not tell'}",
            hint=hint,
        )
    return UnmetGate(name="stale", code=EXIT_GATE, sentence="The index is stale.", hint=hint)


_ALWAYS: tuple[Gate, ...] = (_must_pass, _floor, _floor_fall)
CHOSEN: Mapping[str, Gate] = {"lost": _lost, "stale": _stale}
