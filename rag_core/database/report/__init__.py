"""Queries of the report: recorded searches, counted and replayed."""
