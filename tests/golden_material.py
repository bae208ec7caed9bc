"""Candidates and settings for golden tests, small enough to work out by hand."""

from rag_core.model import Candidate, CandidateSet, Origin, Place, RankingSettings, Scope

# halves and whole weights keep the fused scores of the tests exact in binary
VECTOR_ONLY = RankingSettings(weight_vector=1.0, weight_lexical=0.0, threshold=0.2, limit=2)


def chunk(
    place: str,
    *,
    ordinal: int = 0,
    vector: tuple[float, int] | None = None,
    lexical: tuple[float, int] | None = None,
    chunk_id: str | None = None,
) -> Candidate:
    """A candidate; each signal is (score, rank)."""
    where = Place.parse(place)
    return Candidate(
        chunk_id=chunk_id or f"{place}#{ordinal}",
        scope=Scope.SESSION if where.kind == "session" else Scope.DOCS,
        origin=Origin(place=where),
        ordinal=ordinal,
        content_hash="0" * 64,
        vector_score=vector[0] if vector else None,
        vector_rank=vector[1] if vector else None,
        lexical_score=lexical[0] if lexical else None,
        lexical_rank=lexical[1] if lexical else None,
    )


def found(*candidates: Candidate, vector_available: bool = True) -> CandidateSet:
    """The candidates of one question."""
    return CandidateSet(
        candidates=candidates,
        vector_available=vector_available,
        degraded=not vector_available,
        degraded_reason=None,
        searchable_terms=3,
    )


def by_vector(*scored: tuple[str, float]) -> CandidateSet:
    """Candidates of the vector signal only, ranked as given; a repeated place counts ordinals up."""
    places = [place for place, _ in scored]
    return found(
        *(
            chunk(place, ordinal=places[:position].count(place), vector=(score, position + 1))
            for position, (place, score) in enumerate(scored)
        )
    )
