"""Examples of the OpenAPI document: one question to the sample, and what follows from it."""

from dataclasses import replace

from medir.contract.coverage import CoverageAnswer, CoverageScopes, DocumentCoverage, SessionCoverage
from medir.contract.hits import Hit
from medir.contract.recorded_search import HitShown, RecordedSearchAnswer, VoteGiven
from medir.contract.report import Percentiles, Precision, ReportAnswer
from medir.contract.runs import RunAnswer
from medir.contract.search import SearchAnswer
from rag_core.index.left_out import Outside
from rag_core.model import RunProgress, Timings
from rag_core.model.settings import SettingsShape
from rag_core.report.numbers import DEPTHS, SPLITS, STEPS, Verdict
from rag_core.search.origins import FileOrigin
from rag_core.search.votes import Vote

_SEARCH_ID = "3f9a1c52-6c0b-4b8e-9f7e-0d5c1a2b3c4d"
_CHUNK_ID = "8a7b6c5d-4e3f-4a2b-9c1d-0e9f8a7b6c5d"
_QUESTION = "Quando o frete é calculado?"
_COMMIT = "1c68150f0c2a9f7d4e4b6f8a1d3c5b7e9f1a2b3c"
_AT = "2026-03-01T10:00:00+00:00"
_SETTINGS = SettingsShape(
    source="preset",
    preset="embedded",
    weight_vector=0.4,
    weight_lexical=0.6,
    threshold=None,
    threshold_when_degraded=None,
    candidates_per_signal=100,
    max_per_file=2,
    limit=5,
    fusion="weightedSum",
    lexical_operator="any",
    lexical_function="bm25",
    embedding_model="embedded/use-multilingual-v3@5f1f8a2c+none",
    fetch_depth=100,
    k1=1.2,
    b=0.75,
    title_weight=0.5,
)
_HIT = Hit(
    rank=1,
    chunk_id=_CHUNK_ID,
    content="O frete é calculado na coleta e não muda até a entrega.",
    score=0.553,
    vector_score=0.618,
    lexical_score=0.51,
    scope="adr",
    origin=FileOrigin(
        kind="file",
        source_path="docs/adr/0018-frete-congelado-na-coleta.md",
        heading_path=("Decisão",),
        title="Frete congelado na coleta",
    ),
    citation="docs/adr/0018-frete-congelado-na-coleta.md › Decisão",
)
_DOCUMENTS = DocumentCoverage(
    in_repository=36,
    indexed=36,
    chunks=300,
    without_vector=0,
    skipped=0,
    skipped_by_rule=0,
    indexed_at=_AT,
    commit=_COMMIT,
)

SEARCH = SearchAnswer(
    search_id=_SEARCH_ID,
    project_id="sample",
    question=_QUESTION,
    scopes=("docs", "adr", "session"),
    vector_available=True,
    degraded=False,
    degraded_reason=None,
    threshold=None,
    settings=_SETTINGS,
    timings=Timings(embed_ms=9.8, vector_ms=5.1, lexical_ms=4.2, rank_ms=0.3, total_ms=21.4),
    hits=(_HIT,),
)
VOTE = Vote(search_id=_SEARCH_ID, chunk_id=_CHUNK_ID, verdict="util", rank=1, changed=False)
RUN = RunAnswer(
    run_id="5b1d9e0a-7c3f-4d2e-8a6b-1f0e9d8c7b6a",
    state="running",
    actor="human:ana",
    started_at=_AT,
    finished_at=None,
    progress=RunProgress(step="embed", done=120, total=400),
    result=None,
    error=None,
)
COVERAGE = CoverageAnswer(
    project="sample",
    language="portuguese",
    index_language="portuguese",
    commit=_COMMIT,
    head_commit=_COMMIT,
    moved=False,
    scopes=CoverageScopes(
        docs=_DOCUMENTS,
        adr=replace(_DOCUMENTS, in_repository=29, indexed=29, chunks=120),
        session=SessionCoverage(sessions=8, indexed=8, chunks=40, without_vector=0, indexed_at=_AT),
    ),
    outside=Outside(files=2, examples=("README.md", "frontend/README.md")),
)
REPORT = ReportAnswer(
    project="sample",
    from_="2026-02-01T00:00:00+00:00",
    to="2026-03-01T00:00:00+00:00",
    verdict=Verdict(passed=True, measured=True, reason="The vector signal was available in 1 of 1 search."),
    searches=1,
    degraded=0,
    no_hit=0,
    vector_unavailable=0,
    precision={
        str(depth): Precision(value=None, useful=0, votes=0, judged_hits=0, low=None, high=None)
        for depth in DEPTHS
    },
    ranks={"util": (), "irrelevante": ()},
    latency=dict.fromkeys(
        STEPS,
        Percentiles(
            n=1, p50=21.4, p95=None, p99=None, why="p95 needs 20 and p99 needs 100 searches; there is 1."
        ),
    ),
    judged_share=0.0,
    mixed_settings=(),
    splits=dict.fromkeys(SPLITS, ()),
)
RECORDED_SEARCH = RecordedSearchAnswer(
    search_id=_SEARCH_ID,
    project_id="sample",
    question=_QUESTION,
    asked_at=_AT,
    degraded=False,
    degraded_reason=None,
    settings=_SETTINGS.to_json(),
    hits=(HitShown.drawn(_HIT),),
    votes=(VoteGiven.drawn(VOTE, actor="human:ana", updated_at="2026-03-01T10:01:00+00:00"),),
)
