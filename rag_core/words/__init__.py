"""Numbers, settings and reasons in words: one way to say each, whoever says it. Pure."""
