"""The sample's frozen runs: sound, and the last one of the cases and the chunker that are shipped with it."""

from pathlib import Path

from rag_core.chunking import CHUNKER_VERSION
from rag_core.database.search.candidates import QUERY_VERSION
from rag_core.evaluation.baselines import read_baseline, verify_baseline
from rag_core.golden.cases import parse_cases

GOLDEN_SET = Path(__file__).parents[3] / "golden_set"


def test_the_frozen_runs_are_sound_and_won_the_same_cases() -> None:
    for name in ("v1", "v2"):
        assert verify_baseline(GOLDEN_SET / "baselines", name) is None
    old, new = (read_baseline(GOLDEN_SET / "baselines", name) for name in ("v1", "v2"))
    assert (old.passed, old.cases) == (new.passed, new.cases)


def test_the_frozen_run_stands_on_the_shipped_ground() -> None:
    frozen = read_baseline(GOLDEN_SET / "baselines", "v2")
    golden = parse_cases((GOLDEN_SET / "cases.yaml").read_text(encoding="utf-8"), file="cases.yaml")
    assert frozen.identity["casesDigest"] == golden.digest
    index = frozen.identity["index"]
    assert isinstance(index, dict)
    assert (index["chunkerVersion"], index["queryVersion"]) == (CHUNKER_VERSION, QUERY_VERSION)
    assert sum(frozen.passed.values()) == golden.floor
