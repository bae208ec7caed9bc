"""What an exact function is computed from: every candidate's line, the rules of ranking, and what is followed."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag_core.calibration.replay import linear_signals, thresholds_in_force
from rag_core.calibration.table import CandidateTable, Flags, Floats, Judgements, SmallIntegers
from rag_core.model import RankingSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """The lines of all candidates of all cases and what ranking does with them, shape (cases, columns).

    `cap` is the most chunks of a file that are shown, None where no file has more candidates than that.
    `thresholds` has shape (cases,), -inf for none.
    """

    vector: Floats
    lexical: Floats
    present: Flags
    place: SmallIntegers
    group_start: SmallIntegers
    capped: Flags
    cap: int | None
    limit: int
    thresholds: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Targets:
    """What is followed: target t is the best of the chunks `members[t]` of the case `case[t]`.

    `case` has shape (targets,), `members` (targets, most members): columns, ascending, -1 past the last. Every
    target has at least one.
    """

    case: NDArray[np.intp]
    members: NDArray[np.intp]


def build_field(table: CandidateTable, settings: RankingSettings) -> Field:
    """The field of a table that is cut at the settings' depth already; the settings' weights play no part.

    Raises:
        ValueError: The fusion has no weights.
    """
    vector, lexical = linear_signals(table, settings)
    cap = settings.max_per_file
    columns = np.arange(table.columns)
    binding = cap is not None and bool(np.any(table.capped & (columns - table.group_start >= cap)))
    return Field(
        vector=vector,
        lexical=lexical,
        present=table.present,
        place=table.place,
        group_start=table.group_start,
        capped=table.capped,
        cap=cap if binding else None,
        limit=settings.limit,
        thresholds=thresholds_in_force(table, settings),
    )


def best_of_all_expected(judged: Judgements) -> Targets:
    """One target a case that has an expected chunk among its candidates: all such chunks together."""
    case = np.flatnonzero(judged.relevant.any(axis=1))
    return _targets(case, judged.relevant[case])


def best_of_each_place(table: CandidateTable, judged: Judgements) -> Targets:
    """One target for each expected place that has a chunk among its case's candidates."""
    first = judged.relevant & (table.group_start == np.arange(table.columns))
    case, column = np.nonzero(first)
    together = table.place[case] == table.place[case, column][:, None]
    return _targets(case, together)


def best_of_everything(table: CandidateTable, judged: Judgements) -> Targets:
    """One target a `no_answer` case that has candidates: all of them."""
    case = np.flatnonzero(judged.no_answer & table.present.any(axis=1))
    return _targets(case, table.present[case])


def _targets(case: NDArray[np.intp], flags: Flags) -> Targets:
    width = int(flags.sum(axis=1).max(initial=0))
    columns = np.argsort(~flags, axis=1, kind="stable")[:, :width]
    members = np.where(np.take_along_axis(flags, columns, axis=1), columns, -1)
    return Targets(case=case, members=members)
