"""Indexing: read, chunk, match, embed, then show the new index in one transaction."""

from rag_core.index.outcome import EmbeddingReport, IndexMode, IndexReport
from rag_core.index.run import Indexing

__all__ = ["EmbeddingReport", "IndexMode", "IndexReport", "Indexing"]
