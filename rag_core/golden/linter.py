"""Cases that can't be won, found before a run: a fault of the set is no failure of the search."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

from rag_core.golden.cases import Expectation, GoldenSet, expectations_of
from rag_core.golden.document import shown
from rag_core.golden.faults import Fault, in_file_order
from rag_core.golden.names import Names
from rag_core.model import Place, Scope


def lint(
    golden: GoldenSet | Sequence[Expectation],
    *,
    indexed: Mapping[Place, Scope],
    in_repository: AbstractSet[str] | None,
    elsewhere: Mapping[str, str] | None = None,
    deleted: Mapping[str, str] | None = None,
) -> tuple[Fault, ...]:
    """Compare what the cases expect with what there is. An empty answer means that every case can be won.

    Each expected place is checked by itself, also where another place of the same case is sound: a path that
    does not exist was meant to be one that does. What the file alone can tell (ids, questions asked twice) is
    checked by `rag_core.golden.cases.parse_cases`.

    Args:
        golden: A set that parsed, or what the cases of one expect that did not.
        indexed: The places that have chunks, each with the scope of its chunks.
        in_repository: The paths of the project's files that an index run reads; None where they can't be known,
            and then only the index is asked.
        elsewhere: Of paths that are not indexed, the rest of a sentence that says where they are all the same.
        deleted: Of paths that are not there any more, a sentence that says what became of them; for these no other
            name is guessed.

    Returns:
        The faults by line.
    """
    names = Names(indexed, in_repository)
    faults: list[Fault] = []
    for each in _expected(golden):
        place = each.place
        since = (deleted or {}).get(place.key) if place.kind == "file" else None
        missing = _missing(place, indexed, in_repository, names=names, elsewhere=elsewhere or {}, since=since)
        if missing is not None:
            faults.append(Fault(case=each.case, field="expected", line=each.line, message=missing))
            continue
        outside = _out_of_scope(each, indexed[place])
        if outside is not None:
            faults.append(Fault(case=each.case, field="scope", line=each.case_line, message=outside))
    return in_file_order(faults)


def unindexed_paths(
    golden: GoldenSet | Sequence[Expectation],
    *,
    indexed: Mapping[Place, Scope],
    in_repository: AbstractSet[str],
) -> tuple[str, ...]:
    """The files that some case expects and that are not both in the index and in the repository's folders."""
    expected = dict.fromkeys(each.place for each in _expected(golden))
    return tuple(
        place.key
        for place in expected
        if place.kind == "file" and not (place in indexed and place.key in in_repository)
    )


def _expected(golden: GoldenSet | Sequence[Expectation]) -> Sequence[Expectation]:
    return expectations_of(golden) if isinstance(golden, GoldenSet) else golden


def _missing(
    place: Place,
    indexed: Mapping[Place, Scope],
    in_repository: AbstractSet[str] | None,
    *,
    names: Names,
    elsewhere: Mapping[str, str],
    since: str | None,
) -> str | None:
    is_indexed, is_there = place in indexed, in_repository is None or place.key in in_repository
    if place.kind == "session":
        return None if is_indexed else f"No session {shown(place.key)} is indexed{names.suggest(place)}"
    if is_indexed and is_there:
        return None
    if place.key in elsewhere:
        return f"{shown(place.key)} {elsewhere[place.key]}"
    if is_there and in_repository is not None:
        known = f"{shown(place.key)} is in the repository but not in the index"
        return f"{known}; index the project again, unless it holds no text."
    missing = "does not exist in the repository"
    if in_repository is None:
        missing = "is not in the index"
    elif is_indexed:
        missing = "is in the index but no longer in the repository"
    told = names.suggest(place) if since is None else f". {since}"
    return f"{shown(place.key)} {missing}{told}"


def _out_of_scope(expected: Expectation, scope: Scope) -> str | None:
    if expected.scope is None or scope in expected.scope:
        return None
    asked = ", ".join(expected.scope)
    return f"{shown(str(expected.place))} is in scope {scope}, and the case searches only {asked}."
