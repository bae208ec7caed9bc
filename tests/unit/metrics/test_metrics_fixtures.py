"""The values that peers' own tests expect, from the folder of shared data."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from golden_material import chunk
from rag_core.metrics.kernels import JudgedHits, measure_hits
from rag_core.metrics.measures import Measure, MeasureKind, parse_measure
from rag_core.model import Fusion, RankingSettings
from rag_core.ranking.fusion import fuse

FIXTURES = Path(__file__).parents[4] / "shared" / "data" / "metrics-fixtures"

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not FIXTURES.is_dir(), reason="the folder ../shared/data/metrics-fixtures is absent"),
]


def read(name: str) -> Any:
    return json.loads((FIXTURES / name).read_text("utf-8"))


def judged(run: dict[str, float], qrels: dict[str, int]) -> JudgedHits:
    """A peer's run in its own order: by score, ties by descending id."""
    documents = sorted(run, key=lambda document: (run[document], document), reverse=True)
    return JudgedHits(
        relevant=np.array([[qrels.get(document, 0) > 0 for document in documents]]),
        places=np.arange(len(documents))[None, :],
        expected=np.array([sum(grade > 0 for grade in qrels.values())]),
        limit=1000,
    )


def test_ndcg_equals_what_pytrec_eval_expects_of_itself() -> None:
    cases = read("pytrec_eval_expected.json")["cases"]
    assert len(cases) == 8
    for case in cases:
        cutoff = case["measure"].removeprefix("ndcg").removeprefix("_cut_")
        measure = Measure(MeasureKind.NDCG, int(cutoff) if cutoff else 1000)
        for question, expected in case["expected"].items():
            hits = judged(case["run"][question], case["qrels"][question])
            assert measure_hits(hits, measure)[0] == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize(("fusion", "share"), [(Fusion.RRF, 1), (Fusion.WEIGHTED_RRF, 0.5)])
def test_reciprocal_rank_fusion_equals_what_ranx_expects_of_itself_and_its_half_at_equal_weights(
    fusion: Fusion, share: float
) -> None:
    fixture = read("ranx_rrf_expected.json")
    settings = RankingSettings(weight_vector=0.5, weight_lexical=0.5, threshold=None, fusion=fusion)
    for question, scores in fixture["expected"].items():
        for document, expected in scores.items():
            # each document stands in two of the three runs, which are then the two signals
            ranks = [
                1 + sum(score > run[question][document] for score in run[question].values())
                for run in fixture["runs"]
                if document in run[question]
            ]
            found = chunk(document, vector=(0.5, ranks[0]), lexical=(0.5, ranks[1]))
            assert fuse([found], settings)[0] == pytest.approx(share * expected, abs=1e-15)


def test_the_small_run_of_ranx_is_perfect_by_every_measure() -> None:
    run, qrels = read("ranx_run.json"), read("ranx_qrels.json")
    for question in qrels:
        hits = judged(run[question], qrels[question])
        for name in ("mrr", "ndcg@3", "recall@3", "hit@1"):
            assert measure_hits(hits, parse_measure(name))[0] == 1
