"""A strip small enough for a table's cell: where a case stands in each list, on one logarithmic scale.

The picture is made of numbers alone, so no text of a document or a case can be part of it.
"""

import base64
import math

from rag_core.figures.palette import BAD, GOOD, LEXICAL, VECTOR, Theme

WIDTH, HEIGHT = 180, 28
DEEPEST = 200
_LEFT, _RIGHT = 10.0, 150.0
# where a list does not hold the place at all: beyond the end of the scale, behind a gap
_ABSENT = 170.0
_TICKS = (1, 2, 5, 10, 20, 50, 100, 200)


def rank_strip(
    *,
    vector_rank: int | None,
    lexical_rank: int | None,
    whole_rank: int | None,
    rank: int | None,
    limit: int,
    theme: Theme,
    vector_ran: bool = True,
) -> str:
    """An SVG as a data address: rank 1 at the left, `DEEPEST` at the right, "in no list" behind a gap.

    Blue disc: vector. Orange square: lexical. Diamond in the page's ink: whole set. A green ring stands at the rank
    among the hits; where there is none, a vermilion cross stands beside the diamond. The shade is where hits are. A
    vector signal that was not run has no disc: nobody knows where it would have had the place.
    """
    edge = position(limit + 0.5)
    cross_at = position(whole_rank)
    box_left = position(lexical_rank) - 3.6
    drawn = [
        f'<rect x="0" y="2" width="{edge:.1f}" height="24" rx="2" fill="{GOOD}" fill-opacity="0.12"/>',
        f'<line x1="{_LEFT}" x2="{_RIGHT}" y1="14" y2="14" stroke="{theme.faint}" stroke-width="1"/>',
        *(
            f'<line x1="{position(tick):.1f}" x2="{position(tick):.1f}" y1="12" y2="16" stroke="{theme.faint}"/>'
            for tick in _TICKS
        ),
        f'<circle cx="{position(vector_rank):.1f}" cy="8" r="4" fill="{VECTOR}"{_faded(vector_rank)}/>'
        if vector_ran
        else "",
        f'<rect x="{box_left:.1f}" y="16.4" width="7.2" height="7.2" fill="{LEXICAL}"{_faded(lexical_rank)}/>',
        f'<path d="M{cross_at:.1f} 9.4 l4.6 4.6 l-4.6 4.6 l-4.6 -4.6 z" fill="{theme.ink}"{_faded(whole_rank)}/>',
    ]
    if rank is not None:
        ring = f'fill="none" stroke="{GOOD}" stroke-width="2.2"'
        drawn.append(f'<circle cx="{position(rank):.1f}" cy="14" r="7.4" {ring}/>')
    elif whole_rank is not None:
        drawn.append(
            f'<path d="M{cross_at + 8:.1f} 10.5 l7 7 m0 -7 l-7 7" fill="none" stroke="{BAD}" stroke-width="2.4"/>'
        )
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
        f'viewBox="0 0 {WIDTH} {HEIGHT}">{"".join(drawn)}</svg>'
    )
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()


def position(rank: float | None) -> float:
    """Where a rank stands on the strip, in its pixels; ranks beyond `DEEPEST` stand at its end.

    Examples:
        >>> position(1), position(200), position(None)
        (10.0, 150.0, 170.0)
    """
    if rank is None:
        return _ABSENT
    share = math.log(min(rank, DEEPEST)) / math.log(DEEPEST)
    return _LEFT + share * (_RIGHT - _LEFT)


def _faded(rank: int | None) -> str:
    return ' fill-opacity="0.35"' if rank is None else ""
