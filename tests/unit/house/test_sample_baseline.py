"""The sample's frozen run: sound, and of the cases and the lexical query that are shipped with it."""

from pathlib import Path

import pytest

from rag_core.database.search.candidates import QUERY_VERSION
from rag_core.evaluation.baselines import read_baseline, verify_baseline
from rag_core.golden.cases import parse_cases

GOLDEN_SET = Path(__file__).parents[3] / "golden_set"


@pytest.mark.parametrize("name", ["v1", "v2"])
def test_the_frozen_runs_are_sound(name: str) -> None:
    assert verify_baseline(GOLDEN_SET / "baselines", name) is None


def test_the_last_frozen_run_stands_on_the_shipped_ground() -> None:
    frozen = read_baseline(GOLDEN_SET / "baselines", "v2")
    golden = parse_cases((GOLDEN_SET / "cases.yaml").read_text(encoding="utf-8"), file="cases.yaml")
    assert frozen.identity["casesDigest"] == golden.digest
    index = frozen.identity["index"]
    assert isinstance(index, dict)
    assert index["queryVersion"] == QUERY_VERSION
    assert sum(frozen.passed.values()) >= golden.floor
