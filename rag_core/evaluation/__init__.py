"""Measuring a project's search with its golden cases: runs, baselines, comparisons, calibrations."""
