"""Lengths of time as people write them. Pure."""

import re
from datetime import timedelta

from rag_core.errors import InvalidInput

_DURATION = re.compile(r"([1-9][0-9]{0,5})([mhdw])")
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def parse_duration(text: str) -> timedelta:
    """`30m`, `12h`, `7d` or `4w`.

    Raises:
        InvalidInput: It is none of that form.
    """
    match = _DURATION.fullmatch(text)
    if match is None:
        raise InvalidInput(
            f"{text!r} is no duration.",
            hint="Write a whole number of at most six digits with m, h, d or w, such as 12h or 7d.",
        )
    return timedelta(**{_UNITS[match[2]]: int(match[1])})
