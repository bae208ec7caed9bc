"""Signs of typography inside words: what `medir_plain` of the schema takes for a hyphen, and what for nothing.

As the inside of a character class of a regular expression.
"""

DASHES = (
    "\u02d7\u058a\u05be\u1400\u1806\u2010-\u2015\u2043\u2212\u2e17\u2e1a\u2e3a\u2e3b\u2e40\u2e5d\u301c\u3030\u30a0"
    "\ufe31\ufe32\ufe58\ufe63\uff0d"
)
WITHOUT_WIDTH = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff"
)
MARKS = "\u0300-\u036f"
"""Accents that stand for themselves, behind their letter."""
