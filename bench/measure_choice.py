"""Does the honest choice choose well? FaQuAD and SQuAD-pt, twenty seeded half splits, judgments real and shuffled.

    python bench/measure_choice.py
    python bench/measure_choice.py --splits 3 --collections faquad
    python bench/measure_choice.py --lexical-function bm25

Whole documents are chunks; candidates are fetched 100 deep; today's settings are the seeds' weights without a
threshold. One half of the questions elects, the other scores what was elected. Then the judgments are shuffled among
the questions, anew for each split, so that nothing can be learnt and the verdict should be *keep*. Under a function
that knows rarity today's weights are good already: there the choice must lose nothing, whatever it elects. Writes
`bench/results/choice.md` (`choice-bm25.md`) and ends with 1 where a demand is not met. Takes some
minutes; most of it is embedding.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import numpy as np

from material import TOP, fetch_ways, index_collection, throwaway_services
from rag_core.calibration.choice.contenders import LEXICAL_ONLY, VECTOR_ONLY, build_ballot
from rag_core.calibration.choice.families import Variant
from rag_core.calibration.choice.verdict import Choice, Electorate, decide
from rag_core.calibration.table import CandidateTable, build_table, judge_places
from rag_core.metrics.measures import parse_measure
from rag_core.model import Fusion, LexicalFunction, LexicalWay, Place, RankingSettings

HIT_AT_5 = parse_measure("hit@5")
DEPTH = 100
TODAY = RankingSettings(weight_vector=0.6, weight_lexical=0.4, threshold=None, candidates_per_signal=DEPTH)
RIVALS = (LEXICAL_ONLY, VECTOR_ONLY, str(Fusion.RRF))
# at least this many points above the best rival, in the mean
ABOVE_RIVALS = {"faquad": 0.0, "squad-pt-sample": 0.02}
MEAN_GAIN, LEAST_GAIN, KEPT_OF_SHUFFLED = 0.08, 0.05, 0.9


@dataclass(slots=True)
class Outcomes:
    """What the splits of one collection came to, one entry a split."""

    gains: list[float] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    rivals: list[list[float]] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)
    verdicts: list[str] = field(default_factory=list)
    shuffled: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--splits", type=int, default=20)
    arguments.add_argument("--collections", nargs="+", default=list(ABOVE_RIVALS), choices=list(ABOVE_RIVALS))
    arguments.add_argument("--resamples", type=int, default=200)
    arguments.add_argument("--lexical-function", type=LexicalFunction, default=LexicalFunction.TS_RANK)
    given = arguments.parse_args()
    way = LexicalWay(function=given.lexical_function)
    found: dict[str, tuple[int, Outcomes]] = {}
    with throwaway_services() as services:
        for name in given.collections:
            project, questions = index_collection(services, name)
            asked = {each.id: each.question for each in questions}
            candidates = fetch_ways(services, project.project_id, asked, (way,), depth=DEPTH)[way]
            table = build_table([candidates[each.id] for each in questions])
            expected = [tuple(sorted(each.expected)) for each in questions]
            found[name] = (len(questions), measure(table, expected, way, given.splits, given.resamples))
    failed = {name: unmet(name, outcomes, way) for name, (_, outcomes) in found.items()}
    text = "\n".join(report(found, failed, way, given.splits)) + "\n"
    if (given.splits, len(found)) == (20, len(ABOVE_RIVALS)):
        named = "choice.md" if way == LexicalWay() else f"choice-{way.function}.md"
        (TOP / "bench" / "results" / named).write_text(text, encoding="utf-8")
    print(text)
    return int(any(failed.values()))


def measure(
    table: CandidateTable, expected: Sequence[tuple[Place, ...]], way: LexicalWay, splits: int, resamples: int
) -> Outcomes:
    outcomes = Outcomes()
    for split in range(splits):
        random = np.random.default_rng(1000 + split)
        holdout = np.zeros(table.cases, dtype=bool)
        holdout[random.permutation(table.cases)[: table.cases // 2]] = True
        started = time.perf_counter()
        choice = choose(table, expected, way, holdout, resamples)
        outcomes.seconds.append(time.perf_counter() - started)
        note(outcomes, choice)
        shuffled = [expected[number] for number in random.permutation(table.cases)]
        outcomes.shuffled.append(choose(table, shuffled, way, holdout, resamples).verdict)
    return outcomes


def choose(
    table: CandidateTable,
    expected: Sequence[tuple[Place, ...]],
    way: LexicalWay,
    holdout: np.ndarray,
    resamples: int,
) -> Choice:
    variant = Variant(
        lexical=way,
        table=table,
        judged=judge_places(table, expected),
    )
    ballot = build_ballot((variant,), TODAY, HIT_AT_5, depths=(20, 50), caps=())
    ground = Electorate(
        ids=tuple(map(str, range(table.cases))), holdout=holdout, must_pass=np.zeros(table.cases, dtype=bool)
    )
    return decide(ballot, ground, HIT_AT_5, resamples=resamples)


def note(outcomes: Outcomes, choice: Choice) -> None:
    against = choice.held_out.against_today
    named = {row.contender.name: row.value for row in choice.table}
    outcomes.gains.append(0.0 if against is None else against.difference)
    outcomes.values.append(choice.held_out.value)
    outcomes.rivals.append([named[name] for name in RIVALS])
    outcomes.weights.append(choice.proposal.settings.weight_vector)
    outcomes.verdicts.append(choice.verdict)


def unmet(name: str, outcomes: Outcomes, way: LexicalWay) -> list[str]:
    """Which demands are not met, in words."""
    best_rival = max(np.mean(outcomes.rivals, axis=0))
    kept = outcomes.shuffled.count("keep") >= KEPT_OF_SHUFFLED * len(outcomes.shuffled)
    if way.function.knows_rarity:
        least = {"the mean gain": np.mean(outcomes.gains) >= 0, "keep where judgments are shuffled": kept}
        return [what for what, met in least.items() if not met]
    checks = {
        "the mean gain": np.mean(outcomes.gains) >= MEAN_GAIN,
        "the least gain": min(outcomes.gains) >= LEAST_GAIN,
        "the mean against the best rival": np.mean(outcomes.values) >= best_rival + ABOVE_RIVALS[name],
        "adopt in every split": set(outcomes.verdicts) == {"adopt"},
        "keep where judgments are shuffled": kept,
    }
    return [what for what, met in checks.items() if not met]


def report(
    found: dict[str, tuple[int, Outcomes]], failed: dict[str, list[str]], way: LexicalWay, splits: int
) -> list[str]:
    columns = [cells(questions, outcomes, splits) for questions, outcomes in found.values()]
    head = f"Written by `bench/measure_choice.py` on {datetime.now(UTC):%Y-%m-%d}. {splits} seeded half splits, depth"
    return [
        "# The honest choice on two judged collections",
        "",
        head,
        f"{DEPTH}, hit@5 on the held-out halves, in points of 100. Today: `{way.function}`,",
        "weights 0.6 and 0.4, no threshold.",
        "",
        "| | " + " | ".join(found) + " |",
        "|---|" + "---|" * len(found),
        *(f"| {name} | " + " | ".join(column[name] for column in columns) + " |" for name in columns[0]),
        "",
        *(
            f"- {name}: " + (f"not met: {'; '.join(missing)}." if missing else "every demand is met.")
            for name, missing in failed.items()
        ),
    ]


def cells(questions: int, outcomes: Outcomes, splits: int) -> dict[str, str]:
    rivals = np.mean(outcomes.rivals, axis=0)
    return {
        "questions": f"{questions}",
        "gain over today, mean (least)": f"{points(np.mean(outcomes.gains))} ({points(min(outcomes.gains))})",
        "proposal, mean": points(np.mean(outcomes.values)),
        **{f"{name}, mean": points(value) for name, value in zip(RIVALS, rivals, strict=True)},
        "weight of the vector signal": f"{min(outcomes.weights):.3f} to {max(outcomes.weights):.3f}",
        "verdict adopt": f"{outcomes.verdicts.count('adopt')} of {splits}",
        "judgments shuffled: verdict keep": f"{outcomes.shuffled.count('keep')} of {splits}",
        "seconds a choice, median": f"{np.median(outcomes.seconds):.1f}",
    }


def points(share: float | np.floating) -> str:
    return f"{100 * share:.1f}"


if __name__ == "__main__":
    sys.exit(main())
