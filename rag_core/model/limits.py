"""How much of one thing is taken, whoever sends it: a person, a program or a file."""

MAX_QUESTION_CHARS = 2000
MAX_LIMIT = 50
MAX_RRF_K = 10_000
UUID_PATTERN = "[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
"""An id as it is sent; `UUID` by itself also reads other spellings."""
