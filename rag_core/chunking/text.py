"""The text that everything behind works on: no byte order mark, no NUL, one kind of line end."""

BYTE_ORDER_MARK = "\ufeff"


def clean_text(text: str) -> str:
    r"""The text without NULs and without a BOM at its start, with `\n` as its only line end; "" for "".

    CRLF is one line end, and so is a CR alone, as in CommonMark. Cleaning twice changes nothing.
    """
    # NULs go first, so that neither a BOM nor a CRLF hides behind one.
    bare = text.replace("\0", "").lstrip(BYTE_ORDER_MARK)
    return bare.replace("\r\n", "\n").replace("\r", "\n")
