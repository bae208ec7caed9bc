"""Choose and show the presets `embedded` and `embedded-strict`: weights, thresholds, and the trade between them.

Chosen on one part (every other case of the four corpora and every other question of FaQuAD), shown on the rest
and on SQuAD-pt, which takes no part in the choice. A foreign question is one of another corpus: the right answer
to it is no hit. Writes `bench/results/presets.md`. Takes some minutes.

The choice, by rule:

- `embedded` is to find. Weight: the middle of the longest run of weights whose hit@5 (mean over collections, no
  threshold) is within two points of the best. Threshold: the highest at which no collection loses more than one case
  or 5 % of the cases that it finds without one, whichever is more.
- `embedded-strict` is to refuse. At the same weight, the lowest threshold at which 70 % of the foreign questions
  (mean over corpora) get no hit.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from material import CORPORA, TOP, fetch, index_collection, index_corpus, throwaway_services
from rag_core.model import CandidateSet, Place, RankingSettings
from rag_core.ranking.ranking import rank
from rag_core.settings.presets import PRESETS

DEPTH = 100
WEIGHTS = tuple(hundredths / 100 for hundredths in range(0, 101, 5))
FIND_TOLERANCE = 0.02
THRESHOLD_LOSS = 0.05
REFUSED_SHARE = 0.70


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One question of one collection with its candidates; nothing is expected of a foreign one."""

    collection: str
    expected: frozenset[Place]
    found: CandidateSet


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """The questions of one half: own ones by collection, foreign ones by the corpus that was asked."""

    own: dict[str, list[Asked]]
    foreign: dict[str, list[Asked]]


def main() -> None:
    """Index everything, choose, show, write."""
    chosen_on, shown_on = gather()
    weight = choose_weight(chosen_on)
    threshold = choose_threshold(chosen_on, weight)
    strict = choose_strict_threshold(chosen_on, weight)
    lines = [
        "# Presets for the embedded encoder",
        "",
        f"Written by `bench/measure_presets.py` on {datetime.now(UTC):%Y-%m-%d}. hit@5 is over all questions of a",
        f"collection, {DEPTH} candidates a signal, at most 2 chunks a file; refused is the share of the other three",
        "corpora's questions that get no hit.",
        "",
        f"Chosen: weight {weight:.2f}; threshold {threshold:.4f} (`embedded`), {strict:.4f} (`embedded-strict`).",
        "",
        "## hit@5 over the weight, no threshold",
        "",
        *weight_table(chosen_on, shown_on),
        "",
        "## The presets as the product has them",
        "",
        *preset_table(chosen_on, shown_on),
        "",
        f"## The trade over the threshold, weight {weight:.2f}",
        "",
        *trade_table(shown_on, weight),
    ]
    text = "\n".join(lines) + "\n"
    target = TOP / "bench" / "results" / "presets.md"
    target.parent.mkdir(exist_ok=True)
    target.write_text(text, encoding="utf-8")
    print(text)


def gather() -> tuple[Part, Part]:
    """Both parts, with candidates of every question."""
    chosen, shown = Part(own={}, foreign={}), Part(own={}, foreign={})
    with throwaway_services() as services:
        corpora = {name: index_corpus(services, name) for name in CORPORA}
        for name, (project, _) in corpora.items():
            for other, (_, cases) in corpora.items():
                found = fetch(
                    services, project.project_id, {case.id: case.question for case in cases}, depth=DEPTH
                )
                for position, case in enumerate(cases):
                    part = chosen if position % 2 == 0 else shown
                    target = part.own if other == name else part.foreign
                    expected = frozenset(case.expected) if other == name else frozenset()
                    target.setdefault(name, []).append(
                        Asked(collection=name, expected=expected, found=found[case.id])
                    )
        for name in ("faquad", "squad-pt-sample"):
            project, questions = index_collection(services, name)
            found = fetch(services, project.project_id, {q.id: q.question for q in questions}, depth=DEPTH)
            for position, question in enumerate(questions):
                part = chosen if name == "faquad" and position % 2 == 0 else shown
                part.own.setdefault(name, []).append(
                    Asked(collection=name, expected=question.expected, found=found[question.id])
                )
    return chosen, shown


def choose_weight(part: Part) -> float:
    """The middle of the longest run of near-best weights."""
    means = [
        mean(hit_rate(asked, settings(weight, None)) for asked in part.own.values()) for weight in WEIGHTS
    ]
    near = [value >= max(means) - FIND_TOLERANCE for value in means]
    best: list[int] = []
    run: list[int] = []
    for position, good in enumerate(near):
        run = [*run, position] if good else []
        if len(run) > len(best):
            best = run
    return WEIGHTS[best[len(best) // 2]]


def choose_threshold(part: Part, weight: float) -> float:
    """The highest threshold, in steps of 0.001, that costs no collection more than it may."""
    best = 0.0
    for thousandths in range(1, 200):
        tried = settings(weight, thousandths / 1000)
        for asked in part.own.values():
            before = hit_rate(asked, settings(weight, None)) * len(asked)
            lost = before - hit_rate(asked, tried) * len(asked)
            if lost > max(1.0, THRESHOLD_LOSS * before) + 1e-9:
                return best
        best = thousandths / 1000
    return best


def choose_strict_threshold(part: Part, weight: float) -> float:
    """The lowest threshold, in steps of 0.001, that refuses enough foreign questions."""
    return next(
        thousandths / 1000
        for thousandths in range(1, 1000)
        if mean(refused(asked, settings(weight, thousandths / 1000)) for asked in part.foreign.values())
        >= REFUSED_SHARE
    )


def settings(weight: float, threshold: float | None) -> RankingSettings:
    """The family of settings that is searched."""
    return RankingSettings(
        weight_vector=weight,
        weight_lexical=1 - weight,
        threshold=threshold,
        candidates_per_signal=DEPTH,
        max_per_file=2,
        limit=5,
    )


def hit_rate(asked: Sequence[Asked], tried: RankingSettings) -> float:
    """The share of all questions with an expected place among the hits."""
    return mean(
        any(hit.candidate.origin.place in one.expected for hit in rank(one.found, tried).hits)
        for one in asked
    )


def refused(asked: Sequence[Asked], tried: RankingSettings) -> float:
    """The share of questions without any hit."""
    return mean(not rank(one.found, tried).hits for one in asked)


def mean(values: Iterable[float]) -> float:
    """The arithmetic mean; never of an empty list here."""
    listed = list(values)
    return sum(listed) / len(listed)


def weight_table(chosen_on: Part, shown_on: Part) -> list[str]:
    """A row a weight: the choosing part's mean, then each collection of the shown part."""
    names = list(shown_on.own)
    lines = [
        f"| weight | mean, choosing part | {' | '.join(names)} |",
        f"|---|---|{'---|' * len(names)}",
    ]
    for weight in WEIGHTS:
        tried = settings(weight, None)
        row = [f"{hit_rate(shown_on.own[name], tried):.3f}" for name in names]
        before = mean(hit_rate(asked, tried) for asked in chosen_on.own.values())
        lines.append(f"| {weight:.2f} | {before:.3f} | {' | '.join(row)} |")
    return lines


def preset_table(chosen_on: Part, shown_on: Part) -> list[str]:
    """Each preset on both parts and on all cases: found in cases, refused as a share."""
    lines = [
        "| preset | corpus | found, choosing part | shown part | all | foreign refused, shown part | all |",
        "|---|---|---|---|---|---|---|",
    ]
    for preset in PRESETS.values():
        for name in CORPORA:
            parts = [chosen_on.own[name], shown_on.own[name]]
            found = [round(hit_rate(part, preset.ranking) * len(part)) for part in parts]
            sizes = [len(part) for part in parts]
            foreign = chosen_on.foreign[name] + shown_on.foreign[name]
            lines.append(
                f"| {preset.name} | {name} | {found[0]} of {sizes[0]} | {found[1]} of {sizes[1]} "
                f"| {sum(found)} of {sum(sizes)} | {refused(shown_on.foreign[name], preset.ranking):.2f} "
                f"| {refused(foreign, preset.ranking):.2f} |"
            )
        for name in ("faquad", "squad-pt-sample"):
            rate = hit_rate(shown_on.own[name], preset.ranking)
            lines.append(f"| {preset.name} | {name} | | {rate:.3f} | | | |")
    return lines


def trade_table(part: Part, weight: float) -> list[str]:
    """A row a threshold on the shown part: found and refused, each corpus."""
    lines = [
        f"| threshold | {' | '.join(f'{name} found / refused' for name in CORPORA)} |",
        f"|---|{'---|' * len(CORPORA)}",
    ]
    for thousandths in range(0, 81, 5):
        tried = settings(weight, thousandths / 1000)
        row = [
            f"{hit_rate(part.own[name], tried):.2f} / {refused(part.foreign[name], tried):.2f}"
            for name in CORPORA
        ]
        lines.append(f"| {thousandths / 1000:.3f} | {' | '.join(row)} |")
    return lines


if __name__ == "__main__":
    main()
