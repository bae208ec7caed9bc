"""Are the functions of `medir calibrate --json` what `ranking.rank` gives? Asked on the sample, float by float.

    python bench/measure_exact_functions.py
    python bench/measure_exact_functions.py --weights 500 --pairs 500
    python bench/measure_exact_functions.py --fusion weightedRrf --rrf-k 1 --weights 500 --pairs 500

Reads nothing but the JSON that the command prints, and the candidates of the sample's cases. Every measure is worked
out here once more, from the hits alone. Checked are the weights (every end, every middle, 10,000 random floats), both
sides of every inner end, the thresholds likewise, and random pairs through the ceilings. Writes
`bench/results/exact-functions.md`, or a file of its own for another fusion, and ends with 1 where anything differs.
"""

import argparse
import dataclasses
import itertools
import json
import math
import random
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from material import BENCH, TOP, fetch, throwaway_services
from medir.sample import ensure_sample
from rag_core.golden.cases import GoldenCase
from rag_core.model import CandidateSet, Fusion, Place, RankingSettings
from rag_core.ranking.ranking import rank
from rag_core.settings.golden_folder import cases_file, read_golden_set
from rag_core.settings.overrides import Overrides

AGREEMENT = 1e-11
_EPSILON = sys.float_info.epsilon
Json = Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """The sample's cases with their candidates, and the settings that the functions are about."""

    cases: tuple[GoldenCase, ...]
    found: tuple[CandidateSet, ...]
    ranking: RankingSettings

    def shown(self, ranking: RankingSettings) -> list[list[Place]]:
        """The places of each case's hits, in order."""
        return [[hit.candidate.origin.place for hit in rank(found, ranking).hits] for found in self.found]

    def at(self, weight: float) -> RankingSettings:
        """Today's settings at another weight."""
        return dataclasses.replace(self.ranking, weight_vector=weight, weight_lexical=1.0 - weight)


@dataclass(slots=True)
class Tally:
    """How many values were compared, and the first that differed."""

    compared: int = 0
    differing: list[str] = field(default_factory=list)

    def check(self, what: str, told: float | None, real: float | None) -> None:
        self.compared += 1
        same = told == real if told is None or real is None else abs(told - real) < AGREEMENT
        if not same:
            self.differing.append(f"{what}: told {told}, ranked {real}")


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--weights", type=int, default=10_000)
    arguments.add_argument("--pairs", type=int, default=2_000)
    arguments.add_argument("--fusion", type=Fusion, help="today's numbers under another fusion, no threshold")
    arguments.add_argument("--rrf-k", type=int)
    given = arguments.parse_args()
    ground, document = take(Overrides(fusion=given.fusion, rrf_k=given.rrf_k))
    metrics: Mapping[str, Json] = document["metrics"]
    draw = random.Random(20261130)
    started = time.perf_counter()
    tallies = {
        "weights: ends, middles, random floats": check_weights(ground, metrics, draw, given.weights),
        "both sides of every inner end of the weight": check_sides(ground, metrics),
        "thresholds: ends, the float above each, random floats": check_thresholds(ground, metrics, draw),
        "random pairs of weight and threshold": check_pairs(ground, metrics, draw, given.pairs),
    }
    lines = [
        "# The exact functions against the ranking",
        "",
        f"Written by `bench/measure_exact_functions.py` in {time.perf_counter() - started:.0f} s:",
        f"{len(ground.cases)} cases of the sample, {len(metrics)} measures, the candidates of today's settings.",
        *([] if given.fusion is None else [f"Fusion {given.fusion}, k {given.rrf_k}, no threshold."]),
        "",
        "| what | values compared | differing |",
        "|---|---|---|",
        *(f"| {name} | {tally.compared:,} | {len(tally.differing)} |" for name, tally in tallies.items()),
    ]
    text = "\n".join(lines) + "\n"
    name = "-".join(str(part) for part in ("exact-functions", given.fusion, given.rrf_k) if part is not None)
    (TOP / "bench" / "results" / f"{name}.md").write_text(text, encoding="utf-8")
    print(text)
    differing = [line for tally in tallies.values() for line in tally.differing]
    print("\n".join(differing[:20]))
    return 1 if differing else 0


def take(overrides: Overrides) -> tuple[Sample, dict[str, object]]:
    """The sample, indexed anew, with the document that the command prints for it."""
    with throwaway_services() as services:
        project = ensure_sample(services, actor=BENCH, say=lambda _: None, listener=None)
        calibration = services.calibrator.calibrate(project, actor=BENCH, overrides=overrides)
        document = json.loads(json.dumps(calibration.to_json()))
        settings = calibration.findings.settings
        cases = read_golden_set(cases_file(project)).cases
        found = fetch(
            services,
            project.project_id,
            {case.id: case.question for case in cases},
            depth=settings.ranking.candidates_per_signal,
            scopes={case.id: case.scope for case in cases},
        )
    return Sample(
        cases=cases, found=tuple(found[case.id] for case in cases), ranking=settings.ranking
    ), document


def value_of(measure: str, case: GoldenCase, shown: Sequence[Place]) -> float | None:
    """One case's value from the places of its hits; None where the measure does not judge it."""
    name, _, cutoff = measure.partition("@")
    if case.no_answer or name == "rejected":
        return float(not shown) if case.no_answer and name in ("passed", "rejected") else None
    right = [number for number, place in enumerate(shown, 1) if place in case.expected]
    first = right[0] if right else math.inf
    if name == "mrr":
        return 1 / first
    if name in ("passed", "hit"):
        return float(first <= (int(cutoff) if cutoff else len(shown)))
    return _value_of_places(name, int(cutoff), set(case.expected), list(dict.fromkeys(shown)))


def _value_of_places(name: str, k: int, expected: set[Place], places: Sequence[Place]) -> float:
    right = [number for number, place in enumerate(places[:k], 1) if place in expected]
    if name in ("p", "recall"):
        return len(right) / (k if name == "p" else len(expected))
    ideal = sum(1 / math.log2(number + 1) for number in range(1, min(len(expected), k) + 1))
    return sum(1 / math.log2(number + 1) for number in right) / ideal


def mean_of(measure: str, ground: Sample, shown: Sequence[Sequence[Place]]) -> float | None:
    values = [value_of(measure, case, places) for case, places in zip(ground.cases, shown, strict=True)]
    judged = [value for value in values if value is not None]
    return sum(judged) / len(judged) if judged else None


def step_value(pieces: Iterable[Mapping[str, float]], weight: float) -> float:
    """The value of the contract's pieces at a weight: a point where `from` is `to`, else an open interval."""
    for piece in pieces:
        low, high = piece["from"], piece["to"]
        if weight == low == high or low < weight < high:
            return piece["value"]
    raise ValueError(f"no piece holds {weight}")


def threshold_value(pieces: Iterable[Mapping[str, float | None]], threshold: float) -> float:
    """The value of the contract's pieces at a threshold; a piece is closed above."""
    for piece in pieces:
        low, high = piece["from"], piece["to"]
        if (low is None or threshold > low) and (high is None or threshold <= high):
            value = piece["value"]
            assert value is not None
            return value
    raise ValueError(f"no piece holds {threshold}")


def ceiling_value(
    cases: Sequence[Json], judged: Callable[[str], bool], weight: float, threshold: float
) -> float | None:
    """The contract's reading of the map: each judged case's pieces that cover the weight and reach the threshold."""
    values = [_case_value(case, weight, threshold) for case in cases if judged(str(case["id"]))]
    return sum(values) / len(values) if values else None


def _case_value(case: Json, weight: float, threshold: float) -> float:
    below, total = bool(case.get("below")), 0.0
    pieces: Sequence[dict[str, object]] = case["pieces"]
    for piece in pieces:
        low, high = float(piece["from"]), float(piece["to"])
        covers = weight == low == high or low < weight < high
        t0, t1 = piece["threshold"]
        if t0 is None:
            # no candidates at all: it counts at every weight and threshold
            total += float(piece["value"])
            continue
        if not covers:
            continue
        line = t0 if low == high else t0 + (t1 - t0) * (weight - low) / (high - low)
        if (line < threshold) if below else (line >= threshold):
            total += float(piece["value"])
    return total


def check_weights(ground: Sample, metrics: Mapping[str, Json], draw: random.Random, count: int) -> Tally:
    tally = Tally()
    own = {name: _ends(found["weights"]) for name, found in metrics.items()}
    everywhere = sorted(set().union(*own.values()))
    middles = [low + (high - low) / 2 for low, high in itertools.pairwise(everywhere)]
    for weight in [*everywhere, *middles, *(draw.random() for _ in range(count))]:
        shown = ground.shown(ground.at(weight))
        for name, found in metrics.items():
            told = step_value(found["weights"], weight)
            tally.check(f"{name} at weight {weight!r}", told, mean_of(name, ground, shown))
    return tally


def check_sides(ground: Sample, metrics: Mapping[str, Json]) -> Tally:
    """At every inner end the value differs on its two sides or at the point itself."""
    tally = Tally()
    beside = max(1e-12, 8 * _EPSILON)
    ends = {name: _ends(found["weights"])[1:-1] for name, found in metrics.items()}
    for end in sorted(set().union(*ends.values())):
        around = [ground.shown(ground.at(weight)) for weight in (end - beside, end, end + beside)]
        for name in metrics:
            if end in ends[name]:
                values = {round(mean_of(name, ground, shown) or 0.0, 11) for shown in around}
                tally.check(f"{name} changes at weight {end!r}", 1.0, float(len(values) > 1))
    return tally


def check_thresholds(ground: Sample, metrics: Mapping[str, Json], draw: random.Random) -> Tally:
    tally = Tally()
    ends = sorted({float(end) for found in metrics.values() for end in _inner(found["thresholds"])})
    probes = [
        *ends,
        *(math.nextafter(end, math.inf) for end in ends),
        *(draw.uniform(-0.1, 1) for _ in range(1_000)),
    ]
    for threshold in probes:
        shown = ground.shown(dataclasses.replace(ground.ranking, threshold=threshold))
        for name, found in metrics.items():
            told = threshold_value(found["thresholds"], threshold)
            tally.check(f"{name} at threshold {threshold!r}", told, mean_of(name, ground, shown))
    return tally


def check_pairs(ground: Sample, metrics: Mapping[str, Json], draw: random.Random, count: int) -> Tally:
    tally = Tally()
    no_answer = {case.id: case.no_answer for case in ground.cases}
    for _ in range(count):
        weight, threshold = draw.random(), draw.uniform(-0.02, 0.6)
        shown = ground.shown(dataclasses.replace(ground.at(weight), threshold=threshold))
        for name, found in metrics.items():
            judged = _judges(name, no_answer)
            told = ceiling_value(found["ceilings"], judged, weight, threshold)
            tally.check(f"{name} at ({weight!r}, {threshold!r})", told, mean_of(name, ground, shown))
    return tally


def _judges(measure: str, no_answer: Mapping[str, bool]) -> Callable[[str], bool]:
    if measure == "passed":
        return lambda _: True
    return lambda case: no_answer[case] == (measure == "rejected")


def _ends(pieces: object) -> list[float]:
    assert isinstance(pieces, list)
    return sorted({float(piece[side]) for piece in pieces for side in ("from", "to")})


def _inner(pieces: object) -> list[float]:
    assert isinstance(pieces, list)
    return [piece["to"] for piece in pieces if piece["to"] is not None]


if __name__ == "__main__":
    sys.exit(main())
