"""The way of a place through a search: each of its chunks, however deep it stands."""

from rag_core.database.connecting import Connection
from rag_core.database.index.chunks import place_meant
from rag_core.database.search.lexical_query import words_left_out
from rag_core.database.search.positions import place_of_chunk, read_positions
from rag_core.model import Place, Ranking, SearchSettings
from rag_core.search.answer import ExplainedChunk, Explanation
from rag_core.search.gathering import Gathered


def explain_target(
    connection: Connection,
    project_id: str,
    question: str,
    target: str,
    *,
    gathered: Gathered,
    settings: SearchSettings,
    ranking: Ranking,
) -> Explanation:
    """The way of every chunk of a place, or of one chunk, through a question's search; `target` names either."""
    of_chunk = place_of_chunk(connection, project_id, target)
    place = of_chunk or place_meant(connection, project_id, Place.parse(target))
    entries = {entry.candidate.chunk_id: entry for entry in ranking.whole_set}
    positions = read_positions(
        connection,
        project_id,
        place,
        vector=gathered.vector,
        query=gathered.query,
        settings=settings.candidates,
    )
    return Explanation(
        place=str(place),
        left_out=words_left_out(connection, project_id, question),
        chunks=tuple(
            ExplainedChunk(
                chunk_id=position.chunk_id,
                scope=position.scope,
                origin=position.origin,
                ordinal=position.ordinal,
                content_hash=position.content_hash,
                entry=entries.get(position.chunk_id),
                vector_position=position.vector_position,
                lexical_position=position.lexical_position,
            )
            for position in positions
            if of_chunk is None or position.chunk_id == target
        ),
    )
