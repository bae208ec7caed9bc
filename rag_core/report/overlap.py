"""How alike two lists of places are. Pure kernels; each list is in rank order and names no place twice."""

from collections.abc import Hashable, Sequence

PERSISTENCE = 0.9


def overlap(first: Sequence[Hashable], second: Sequence[Hashable]) -> float:
    """The places in both lists over the length of the longer one, from 0 to 1; order plays no part.

    Both lists empty is 1, one of them empty 0.

    Examples:
        [a, b, c] and [c, d] share one place of three: 1/3.
    """
    _refuse_repeats(first, second)
    longer = max(len(first), len(second))
    return len(set(first) & set(second)) / longer if longer else 1.0


def rank_biased_overlap(
    first: Sequence[Hashable], second: Sequence[Hashable], *, persistence: float = PERSISTENCE
) -> float:
    """Extrapolated rank-biased overlap, from 0 (nothing shared) to 1 (the same list).

    Agreement at each depth, weighted so that higher ranks count more: a reader who has looked at one rank
    goes on to the next with probability `persistence`. Beyond what both lists show, the agreement seen last is
    taken to go on. Both lists empty is 1, one of them empty 0; ties do not occur.

    Source: Webber, Moffat and Zobel 2010, doi:10.1145/1852102.1852106, equation 32 (lists of uneven length);
    the two empty cases are ours.

    Raises:
        ValueError: `persistence` is not strictly between 0 and 1, or a list names a place twice.

    Examples:
        [a, b] and [b, a], p = 0.9: 0.1/0.9 * (0/1 * 0.9 + 2/2 * 0.81) + 2/2 * 0.81 = 0.9.
    """
    if not 0 < persistence < 1:
        raise ValueError("persistence lies between 0 and 1")
    _refuse_repeats(first, second)
    shorter, longer = sorted((first, second), key=len)
    if not longer:
        return 1.0
    if not shorter:
        return 0.0
    short, length = len(shorter), len(longer)
    shared = _shared_by_depth(shorter, longer)
    at_short = shared[short - 1]
    agreement = sum(count / depth * persistence**depth for depth, count in enumerate(shared, start=1)) + sum(
        at_short * (depth - short) / (short * depth) * persistence**depth
        for depth in range(short + 1, length + 1)
    )
    tail = ((shared[-1] - at_short) / length + at_short / short) * persistence**length
    # one step of rounding must not make two equal lists more than equal
    return min(1.0, (1 - persistence) / persistence * agreement + tail)


def _shared_by_depth(shorter: Sequence[Hashable], longer: Sequence[Hashable]) -> list[int]:
    """How many places both lists name within the first 1, 2, … ranks, down to the end of the longer one."""
    seen_short: set[Hashable] = set()
    seen_long: set[Hashable] = set()
    counts: list[int] = []
    for depth, place in enumerate(longer):
        seen_long.add(place)
        if depth < len(shorter):
            seen_short.add(shorter[depth])
        counts.append(len(seen_short & seen_long))
    return counts


def _refuse_repeats(*lists: Sequence[Hashable]) -> None:
    if any(len(set(places)) != len(places) for places in lists):
        raise ValueError("a list names a place twice")
