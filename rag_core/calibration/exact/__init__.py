"""Exact functions of weight and threshold: where each case turns, and what every setting yields."""
