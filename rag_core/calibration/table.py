"""Candidates and judgements of many cases as arrays, built once, so that a replay touches no object.

Columns are a case's candidates in the order of ties (place, then ordinal): a stable sort by score alone breaks
ties as `rag_core.ranking.ranking` does, and the chunks of one place stand side by side.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from rag_core.golden.cases import GoldenCase
from rag_core.model import Candidate, CandidateSet, Fusion, Place

Floats = NDArray[np.float64]
SmallIntegers = NDArray[np.int32]
Flags = NDArray[np.bool_]
Number = TypeVar("Number", np.float64, np.int32)

NOWHERE = np.iinfo(np.int32).max
"""The place of a column that holds no candidate, so that it sorts behind all others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateTable:
    """The candidates of many questions, each array of shape (cases, columns) but the last two.

    A score is 0 and a rank 0 where a signal did not find the candidate; a score of 0 counts as not found, and a
    candidate that neither signal found has no column. `place` numbers a case's places from 0 in the order of ties,
    `NOWHERE` past its last candidate; `group_start` is the first column of the column's place; `capped` says
    whether the per-file cap counts it (files, never sessions). `source` is the candidate's position in its
    `CandidateSet`, -1 past the last. `scaled` holds both signals by the scale of settings, fusion and k, where that
    was worked out ahead.
    """

    vector: Floats
    lexical: Floats
    vector_rank: SmallIntegers
    lexical_rank: SmallIntegers
    place: SmallIntegers
    group_start: SmallIntegers
    capped: Flags
    source: SmallIntegers
    available: Flags
    found: tuple[CandidateSet, ...]
    scaled: Mapping[tuple[Fusion, int], tuple[Floats, Floats]] = field(default_factory=dict)

    @property
    def cases(self) -> int:
        """How many questions there are."""
        return len(self.found)

    @property
    def columns(self) -> int:
        """The most candidates that a question has."""
        return self.place.shape[1]

    @property
    def present(self) -> Flags:
        """Which columns hold a candidate."""
        return self.source >= 0

    def candidate(self, case: int, column: int) -> Candidate:
        """The candidate of one column, as it was fetched.

        Raises:
            IndexError: The column holds none.
        """
        source = int(self.source[case, column])
        if source < 0:
            raise IndexError(f"case {case} has no candidate in column {column}")
        return self.found[case].candidates[source]

    def cut(self, depth: int) -> "CandidateTable":
        """The table as it would be had each signal returned only its first `depth`."""
        in_vector = (self.vector_rank > 0) & (self.vector_rank <= depth)
        in_lexical = (self.lexical_rank > 0) & (self.lexical_rank <= depth)
        stays = in_vector | in_lexical
        if np.array_equal(in_vector, self.vector_rank > 0) and np.array_equal(
            in_lexical, self.lexical_rank > 0
        ):
            return self
        width = int(stays.sum(axis=1).max(initial=0))
        kept = np.argsort(~stays, axis=1, kind="stable")[:, :width]

        place = _taken(self.place, stays, kept, NOWHERE)
        return CandidateTable(
            vector=_taken(self.vector, in_vector, kept),
            lexical=_taken(self.lexical, in_lexical, kept),
            vector_rank=_taken(self.vector_rank, in_vector, kept),
            lexical_rank=_taken(self.lexical_rank, in_lexical, kept),
            place=place,
            group_start=_group_starts(place),
            capped=np.take_along_axis(self.capped & stays, kept, axis=1),
            source=_taken(self.source, stays, kept, -1),
            available=self.available,
            found=self.found,
        )

    def without_candidates(self) -> "CandidateTable":
        """The numbers alone: whatever is replayed is as before, but no column tells its candidate any more."""
        bare = [dataclasses.replace(each, candidates=()) for each in self.found]
        return dataclasses.replace(self, found=tuple(bare))

    def with_scaled(self, scale: tuple[Fusion, int], vector: Floats, lexical: Floats) -> "CandidateTable":
        """The same table with both signals as settings of a scale have them; a cut or a selection forgets them."""
        return dataclasses.replace(self, scaled={**self.scaled, scale: (vector, lexical)})


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgements:
    """What each case expects. `expected` counts places, found or not; 0 exactly for a `no_answer` case.

    `places` are the expected places of each case; `relevant` marks the columns of a table that hold a chunk of
    one, shape (cases, columns).
    """

    places: tuple[tuple[Place, ...], ...]
    expected: NDArray[np.int64]
    relevant: Flags

    @property
    def no_answer(self) -> Flags:
        """Which cases expect nothing."""
        return self.expected == 0


def build_table(found: Sequence[CandidateSet]) -> CandidateTable:
    """The candidate sets of many questions as one table; without any question it has no row.

    Args:
        found: One set a question, fetched as deep as any replay will ask for.
    """
    ordered = [_in_order_of_ties(each) for each in found]
    shape = (len(found), max((len(each) for each in ordered), default=0))
    place = np.full(shape, NOWHERE, dtype=np.int32)
    source = np.full(shape, -1, dtype=np.int32)
    capped = np.zeros(shape, dtype=bool)
    scores = np.zeros((2, *shape))
    ranks = np.zeros((2, *shape), dtype=np.int32)
    for case, (each, order) in enumerate(zip(found, ordered, strict=True)):
        candidates = [each.candidates[position] for position in order]
        width = len(candidates)
        source[case, :width] = order
        place[case, :width] = _numbers_of_places(candidates)
        capped[case, :width] = [candidate.origin.place.kind == "file" for candidate in candidates]
        scores[0, case, :width] = [candidate.vector_score or 0.0 for candidate in candidates]
        scores[1, case, :width] = [candidate.lexical_score or 0.0 for candidate in candidates]
        ranks[0, case, :width] = [candidate.vector_rank or 0 for candidate in candidates]
        ranks[1, case, :width] = [candidate.lexical_rank or 0 for candidate in candidates]
    ranks[scores == 0] = 0
    return CandidateTable(
        vector=scores[0],
        lexical=scores[1],
        vector_rank=ranks[0],
        lexical_rank=ranks[1],
        place=place,
        group_start=_group_starts(place),
        capped=capped,
        source=source,
        available=np.array([each.vector_available for each in found], dtype=bool),
        found=tuple(found),
    )


def judge_table(table: CandidateTable, cases: Sequence[GoldenCase]) -> Judgements:
    """Mark what each case expects; duplicate places count once.

    Raises:
        ValueError: There are more or fewer cases than questions in the table.
    """
    return judge_places(table, [case.expected for case in cases])


def judge_places(table: CandidateTable, expected: Sequence[Sequence[Place]]) -> Judgements:
    """`judge_table` by the places alone; a question without any expects no answer.

    Raises:
        ValueError: There are more or fewer of them than questions in the table.
    """
    if len(expected) != table.cases:
        raise ValueError(f"{table.cases} questions, but {len(expected)} judgements")
    places = tuple(tuple(dict.fromkeys(each)) for each in expected)
    relevant = np.zeros(table.place.shape, dtype=bool)
    for case, wanted in enumerate(map(frozenset, places)):
        candidates = table.found[case].candidates
        relevant[case] = [
            source >= 0 and candidates[source].origin.place in wanted
            for source in table.source[case].tolist()
        ]
    return Judgements(
        places=places,
        expected=np.array([len(each) for each in places], dtype=np.int64),
        relevant=relevant,
    )


def _taken(
    values: NDArray[Number], flags: Flags, columns: NDArray[np.intp], otherwise: int = 0
) -> NDArray[Number]:
    replaced = np.where(flags, values, otherwise).astype(values.dtype)
    return np.take_along_axis(replaced, columns, axis=1)


def _in_order_of_ties(found: CandidateSet) -> list[int]:
    # plain tuples sort as `Candidate.tie_key` does, ten times faster
    keys = {
        position: (candidate.origin.place.kind, candidate.origin.place.key, candidate.ordinal)
        for position, candidate in enumerate(found.candidates)
        if candidate.vector_score or candidate.lexical_score
    }
    return sorted(keys, key=keys.__getitem__)


def _numbers_of_places(candidates: Sequence[Candidate]) -> list[int]:
    numbers: dict[Place, int] = {}
    return [numbers.setdefault(candidate.origin.place, len(numbers)) for candidate in candidates]


def _group_starts(place: SmallIntegers) -> SmallIntegers:
    columns = np.broadcast_to(np.arange(place.shape[1], dtype=np.int32), place.shape)
    begins = np.ones(place.shape, dtype=bool)
    begins[:, 1:] = place[:, 1:] != place[:, :-1]
    return np.maximum.accumulate(np.where(begins, columns, 0), axis=1).astype(np.int32)
