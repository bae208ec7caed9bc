"""Queries over what is indexed: chunks, vectors, sessions, and what the index is."""
