"""Searching: a question asked, its answer, what is recorded of it, and the votes on it."""
