"""The sample's frozen run: sound, and of the cases and the lexical query that are shipped with it."""

from pathlib import Path

from rag_core.database.search.candidates import QUERY_VERSION
from rag_core.evaluation.baselines import read_baseline, verify_baseline
from rag_core.golden.cases import parse_cases

GOLDEN_SET = Path(__file__).parents[3] / "golden_set"


def test_the_frozen_run_is_sound() -> None:
    assert verify_baseline(GOLDEN_SET / "baselines", "v1") is None


def test_the_frozen_run_stands_on_the_shipped_ground() -> None:
    frozen = read_baseline(GOLDEN_SET / "baselines", "v1")
    golden = parse_cases((GOLDEN_SET / "cases.yaml").read_text(encoding="utf-8"), file="cases.yaml")
    assert frozen.identity["casesDigest"] == golden.digest
    index = frozen.identity["index"]
    assert isinstance(index, dict)
    # the chunker has moved on and cuts these documents alike: a run against it, of the installed product, loses nothing
    assert index["queryVersion"] == QUERY_VERSION
    assert sum(frozen.passed.values()) == golden.floor
