"""Vectors for the chunks of a run: known ones first, the rest from the provider, kept as they are made."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from rag_core.database.connections import Database
from rag_core.database.index.vectors import keep_vectors, read_vectors
from rag_core.embedding.providers import Providers
from rag_core.embedding.service import EmbeddingService
from rag_core.errors import Refused
from rag_core.index.outcome import EmbeddingReport
from rag_core.model import Chunk, EmbeddingModel
from rag_core.ports import Vectors
from rag_core.project.runs import Progress

# vectors are kept after so many texts: what a killed run loses at most
_KEEP_EVERY = 256


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ChunkVectors:
    """Vectors by content hash, each of shape (768,), the model that made them all, and the report."""

    by_hash: dict[str, Vectors]
    model_id: str | None
    report: EmbeddingReport


@dataclass(frozen=True, slots=True, kw_only=True)
class _Provider:
    """The service in use, the id of its model (None when that is not known), and why it does not answer."""

    service: EmbeddingService
    model_id: str | None
    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Made:
    vectors: dict[str, Vectors]
    available: bool
    reason: str | None


def embed_chunks(
    database: Database,
    providers: Providers,
    project_id: str,
    *,
    index_model: str | None,
    may_change_model: bool,
    chunks: Sequence[Chunk],
    progress: Progress,
    dry_run: bool,
) -> ChunkVectors:
    """A vector for every chunk that can have one. An outage costs vectors, never the run.

    `index_model` is that of the index as it stands; `may_change_model`: this run replaces all vectors, and so
    may bring another. Equal texts are embedded once. `dry_run`: count what would be embedded, and call nobody
    but to ask for the model's name.

    Raises:
        Refused: The configured model is not the index's, and this run may not change it.
    """
    provider = _choose(providers, index_model, may_change_model=may_change_model)
    if index_model is not None and not may_change_model and provider.model_id not in (None, index_model):
        raise Refused(
            f"The index was made by {index_model}, the configured model is {provider.model_id}.",
            hint=(
                "Vectors of two models can't be compared. Configure the index's model again, or change the model by "
                f"`medir index --mode full`, which embeds all {len(chunks):,} chunks anew."
            ),
        )
    texts = {chunk.content_hash: chunk.content for chunk in chunks}
    known: dict[str, Vectors] = {}
    if provider.model_id is not None:
        with database.connection() as connection:
            known = read_vectors(connection, project_id, provider.model_id, "document", list(texts))
    missing = {text_hash: text for text_hash, text in texts.items() if text_hash not in known}
    made = (
        _Made(vectors={}, available=provider.reason is None, reason=provider.reason)
        if dry_run
        else _embed_missing(database, provider, project_id, missing, progress)
    )
    vectors = known | made.vectors
    fresh = missing if dry_run and made.available else made.vectors
    return ChunkVectors(
        by_hash=vectors,
        model_id=provider.model_id,
        report=EmbeddingReport(
            available=made.available,
            embedded=sum(chunk.content_hash in fresh for chunk in chunks),
            reused=sum(chunk.content_hash in known for chunk in chunks),
            skipped=sum(
                chunk.content_hash not in vectors and chunk.content_hash not in fresh for chunk in chunks
            ),
            reason=made.reason,
        ),
    )


def _choose(providers: Providers, index_model: str | None, *, may_change_model: bool) -> _Provider:
    model = EmbeddingModel.parse(index_model) if index_model else None
    service = providers.service_for(model)
    identified = service.identify()
    if identified.model is not None:
        return _Provider(service=service, model_id=identified.model.id, reason=None)
    # while the provider is away, the index's vectors are still good, unless another model is to replace them
    known = index_model if not may_change_model or providers.can_serve(model) else None
    return _Provider(service=service, model_id=known, reason=told(identified.reason, identified.hint))


def _embed_missing(
    database: Database,
    provider: _Provider,
    project_id: str,
    missing: dict[str, str],
    progress: Progress,
) -> _Made:
    if provider.reason is not None:
        return _Made(vectors={}, available=False, reason=provider.reason)
    made: dict[str, Vectors] = {}
    reason: str | None = None
    for batch in _slices(list(missing.items()), _KEEP_EVERY):
        outcome = provider.service.embed_documents(
            [text for _, text in batch], _shifted(progress, len(made), len(missing))
        )
        if outcome.model is None or outcome.model.id != provider.model_id:
            replaced = told(outcome.reason, outcome.hint) or "The embedding model was replaced meanwhile."
            return _Made(vectors=made, available=False, reason=replaced)
        fresh = {
            text_hash: np.asarray(vector, dtype=np.float32)
            for (text_hash, _), vector in zip(batch, outcome.vectors, strict=True)
            if vector is not None
        }
        with database.transaction() as connection:
            keep_vectors(connection, project_id, outcome.model.id, "document", fresh)
        made |= fresh
        reason = reason or told(outcome.reason, outcome.hint)
        if not outcome.available:
            return _Made(vectors=made, available=False, reason=told(outcome.reason, outcome.hint))
    return _Made(vectors=made, available=True, reason=reason)


def told(reason: str | None, hint: str) -> str | None:
    """A reason with what to do about it, in one line."""
    return f"{reason} {hint}".strip() if reason else None


def _shifted(progress: Progress, done_before: int, total: int) -> Callable[[int, int], None]:
    return lambda done, _: progress("embed", done_before + done, total)


def _slices(items: list[tuple[str, str]], size: int) -> Iterator[list[tuple[str, str]]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]
