"""Fusion, selection and ranking: one pure function of candidates and settings, the same for search and golden run."""
