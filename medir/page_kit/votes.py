"""How many votes this process has taken: what is kept of a report is read anew once there is another one."""

from collections import Counter

_TAKEN: Counter[str] = Counter()


def votes_taken() -> int:
    """Their number; another one than before means that votes may have changed."""
    return _TAKEN.total()


def note_vote(verdict: str) -> None:
    """Count one that was taken."""
    _TAKEN[verdict] += 1
