"""Queries of a search: its candidates, their positions, its row, the votes on it."""
