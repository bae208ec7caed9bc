"""The colours of the signs, one meaning each, safe for colour-blind readers (Okabe and Ito)."""

from dataclasses import dataclass

VECTOR = "#0072B2"
LEXICAL = "#E69F00"
GOOD = "#009E73"
BAD = "#D55E00"
BASELINE = "#8A8781"


@dataclass(frozen=True, slots=True, kw_only=True)
class Theme:
    """What differs between a light and a dark page: its colour, the ink of text and fused scores, lines behind."""

    paper: str
    ink: str
    faint: str
    grid: str


LIGHT = Theme(paper="#FFFFFF", ink="#1F2328", faint="#C9CCD1", grid="#E4E6E9")
DARK = Theme(paper="#15181C", ink="#F0F2F4", faint="#4A5058", grid="#30353C")
