"""Indexing: read, chunk, match, embed, then show the new index in one transaction; and reading what is indexed."""
