"""What is said of a signal that has nothing to show: it looked and did not find, or it did not run. Pure."""

from dataclasses import dataclass

from rag_core.model import CandidateSet, Ranking


@dataclass(frozen=True, slots=True, kw_only=True)
class Absent:
    """The word for a chunk without a score or rank in a signal, for each of the two."""

    vector: str
    lexical: str


def absent(found: CandidateSet | Ranking) -> Absent:
    """`not found` for a signal that ran, `not run` for one that did not."""
    return Absent(vector=_word(ran=found.vector_ran), lexical=_word(ran=found.lexical_ran))


def in_no_list(found: CandidateSet | Ranking) -> str:
    """Where something is that no signal returned: of a signal that did not run nobody knows.

    Such as `in neither signal's list`; `not in the lexical list, and the vector signal was not run`.
    """
    ran = [name for name, ran in _signals(found) if ran]
    if len(ran) == 1:
        return f"not in the {ran[0]} list, and {_not_run(found)}"
    return "in neither signal's list" if ran else "in no list: neither signal was run"


def nothing_found(found: CandidateSet | Ranking) -> str:
    """Why there is no candidate, as a sentence goes on: `neither signal found a candidate`."""
    ran = [name for name, ran in _signals(found) if ran]
    if len(ran) == 1:
        return f"the {ran[0]} signal found no candidate, and {_not_run(found)}"
    return "neither signal found a candidate" if ran else "neither signal was run"


def _signals(found: CandidateSet | Ranking) -> tuple[tuple[str, bool], ...]:
    return (("vector", found.vector_ran), ("lexical", found.lexical_ran))


def _not_run(found: CandidateSet | Ranking) -> str:
    return f"the {next(name for name, ran in _signals(found) if not ran)} signal was not run"


def _word(*, ran: bool) -> str:
    return "not found" if ran else "not run"
