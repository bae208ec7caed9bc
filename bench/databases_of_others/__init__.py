"""Databases as their operators set them up, and every verb and page on them: what `measure_databases.py` runs."""
