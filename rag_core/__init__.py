"""Indexing and hybrid search of a project's documents and sessions, and the measuring of that search."""
