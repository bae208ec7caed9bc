"""How long the exact curve of hit@5 over the weight takes, beside ranx's search over a grid of weights.

    python bench/measure_exact_curve.py
    python bench/measure_exact_curve.py --ranx-python OTHER_ENVIRONMENT/bin/python

ranx brings its own compiler and is measured in an environment of its own, warm: its first call compiles and is
not counted. Both get the same questions, candidates and judgements; neither time includes reading them.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from material import TOP
from rag_core.calibration.exact.exact import build_exact
from rag_core.calibration.replay import measure_replay
from rag_core.calibration.table import build_table, judge_places
from rag_core.metrics.measures import parse_measure
from rag_core.model import Candidate, CandidateSet, Origin, Place, RankingSettings, Scope

HIT_AT_5 = parse_measure("hit@5")
LIMIT_S = 0.2
REPEATS = 5
RANX = """
import json, sys, time
from ranx import Qrels, Run, optimize_fusion
data = json.load(open(sys.argv[1], encoding="utf-8"))
qrels = Qrels(data["qrels"])
def search():
    runs = [Run(data["vector"], name="vector"), Run(data["lexical"], name="lexical")]
    started = time.perf_counter()
    optimize_fusion(qrels=qrels, runs=runs, norm=None, method="wsum", metric="hit_rate@5", step=0.1,
                    show_progress=False)
    return time.perf_counter() - started
search()
print(json.dumps({"seconds": min(search() for _ in range(3)), "weights": 11}))
"""


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--questions", type=int, default=1000)
    arguments.add_argument("--candidates", type=int, default=40)
    arguments.add_argument("--ranx-python", type=Path, help="a Python that has ranx")
    given = arguments.parse_args()
    found, expected = synthetic(given.questions, given.candidates)

    started = time.perf_counter()
    table = build_table(found)
    judged = judge_places(table, expected)
    table_s = time.perf_counter() - started
    settings = RankingSettings(
        weight_vector=0.6, weight_lexical=0.4, threshold=None, candidates_per_signal=given.candidates
    )

    def curve() -> int:
        steps = build_exact(table, judged, settings, places=False).weights(HIT_AT_5)
        return 0 if steps is None else len(steps.pieces())

    replay_s = fastest(lambda: measure_replay(table, judged, settings, HIT_AT_5))
    pieces, exact_s = curve(), fastest(curve)
    lines = [
        "# The exact curve of hit@5 over the weight",
        "",
        f"Written by `bench/measure_exact_curve.py` on {datetime.now(UTC):%Y-%m-%d}: {given.questions:,} questions,",
        f"{given.candidates} candidates a signal, the fastest of {REPEATS} runs. The table is built once,",
        f"in {table_s:.3f} s.",
        "",
        "| what | seconds | weights | microseconds a weight |",
        "|---|---|---|---|",
        f"| one replay at one weight | {replay_s:.4f} | 1 | {replay_s * 1e6:,.0f} |",
        f"| the exact curve: every point and interval | {exact_s:.3f} | {pieces:,} | {exact_s / pieces * 1e6:,.1f} |",
    ]
    if given.ranx_python is None:
        lines += ["", "ranx was not measured: name a Python that has it with --ranx-python."]
    else:
        ranx_s, weights = measure_ranx(given.ranx_python, found, expected)
        each = ranx_s / weights
        lines += [
            f"| `ranx.optimize_fusion`, warm | {ranx_s:.3f} | {weights} | {each * 1e6:,.0f} |",
            "",
            f"A weight costs ranx {each / (exact_s / pieces):,.0f} times as much, and its grid leaves out all between.",
        ]
    text = "\n".join(lines) + "\n"
    (TOP / "bench" / "results" / "exact-curve.md").write_text(text, encoding="utf-8")
    print(text)
    return int((given.questions, given.candidates) == (1000, 40) and exact_s >= LIMIT_S)


def fastest(work: Callable[[], object]) -> float:
    times: list[float] = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return min(times)


def synthetic(questions: int, candidates: int) -> tuple[list[CandidateSet], list[tuple[Place, ...]]]:
    """Scores spread as the embedded encoder's and ts_rank's are; the right file tends to be high in both."""
    random = np.random.default_rng(0)
    found: list[CandidateSet] = []
    expected: list[tuple[Place, ...]] = []
    for _ in range(questions):
        cosines = np.sort(random.beta(5, 8, candidates) * 0.8)[::-1]
        words = np.sort(random.beta(2, 20, candidates) * 0.6)[::-1]
        lexical_ranks = random.permutation(candidates)
        each = tuple(
            Candidate(
                chunk_id=f"{number}",
                scope=Scope.DOCS,
                origin=Origin(place=Place("file", f"docs/{number}.md")),
                ordinal=0,
                content_hash="",
                vector_score=float(cosines[number]),
                vector_rank=number + 1,
                lexical_score=float(words[lexical_ranks[number]]),
                lexical_rank=int(lexical_ranks[number]) + 1,
            )
            for number in range(candidates)
        )
        found.append(
            CandidateSet(
                candidates=each,
                vector_available=True,
                degraded=False,
                degraded_reason=None,
                searchable_terms=6,
            )
        )
        right = min(int(random.geometric(0.15)), candidates) - 1
        expected.append((each[right].origin.place,))
    return found, expected


def measure_ranx(
    python: Path, found: list[CandidateSet], expected: list[tuple[Place, ...]]
) -> tuple[float, int]:
    data = {
        "qrels": {f"q{case}": {str(place): 1 for place in places} for case, places in enumerate(expected)},
        "vector": {
            f"q{case}": {str(each.origin.place): each.vector_score for each in candidates.candidates}
            for case, candidates in enumerate(found)
        },
        "lexical": {
            f"q{case}": {str(each.origin.place): each.lexical_score for each in candidates.candidates}
            for case, candidates in enumerate(found)
        },
    }
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "data.json"
        file.write_text(json.dumps(data), "utf-8")
        finished = subprocess.run(
            [str(python), "-W", "ignore", "-c", RANX, str(file)], check=True, capture_output=True, text=True
        )
    answer = json.loads(finished.stdout.splitlines()[-1])
    return answer["seconds"], answer["weights"]


if __name__ == "__main__":
    sys.exit(main())
