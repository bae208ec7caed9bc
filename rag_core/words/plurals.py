"""Numbers of things in words. Pure."""


def counted(count: int, one: str, many: str | None = None) -> str:
    """`1 search`, `2,000 searches`, `0 votes`: the number with the form of the word that it takes.

    `many` is the word for none, too; by default `one` with an s.

    Examples:
        >>> counted(1, "search", "searches"), counted(1200, "vote")
        ('1 search', '1,200 votes')
    """
    return f"1 {one}" if count == 1 else f"{count:,} {many or one + 's'}"
