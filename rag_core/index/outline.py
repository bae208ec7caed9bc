"""How the chunks of a document follow each other: what a chunk repeats of the one before it. Pure."""

# the chunker starts a repetition at a word; less than this is a coincidence
_LEAST_CHARS = 8


def repeated_chars(previous: str, content: str, *, at_most: int = 150) -> int:
    """How many characters at the start of `content` are the end of `previous`; 0 where it repeats nothing.

    Examples:
        >>> repeated_chars("O frete é calculado na coleta.", "calculado na coleta. Depois congela.")
        20
    """
    for length in range(min(at_most, len(previous), len(content)), _LEAST_CHARS - 1, -1):
        if previous.endswith(content[:length]):
            return length
    return 0
