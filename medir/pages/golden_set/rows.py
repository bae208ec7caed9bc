"""A recorded golden run as the rows of a table, each with its change against another run. Pure."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from rag_core.evaluation.history import GoldenRecord
from rag_core.golden.cases import GoldenSet
from rag_core.golden.verdicts import VerdictShape
from rag_core.model import SearchSettings

CaseChange = Literal["won", "lost", "same", "new", "changed"]
SHOWN = ("all", "failing", "lost", "won")


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseRow(VerdictShape):
    """One case of a run. `expected` empty means that no answer is right; `split` is today's file's."""

    split: str | None
    change: CaseChange


def case_rows(
    result: Mapping[str, object],
    before: Mapping[str, bool] | None,
    golden: GoldenSet | None,
    *,
    changed: Collection[str] = (),
) -> tuple[CaseRow, ...]:
    """The run's cases in its order.

    `before` says whether each passed on the other side, None where there is no other side or nothing can be
    said; `changed` are cases that the other side has in another form.
    """
    splits = {} if golden is None else {case.id: case.split for case in golden.cases}
    return tuple(
        CaseRow.read(
            # a record of a time when ties were not kept does not tell
            {"decidedByTie": False} | case,
            split=splits.get(case["id"]),
            change=_change(case["id"], before, changed, passed=case["passed"]),
        )
        for case in _cases(result)
    )


def passed_by_case(result: Mapping[str, object]) -> dict[str, bool]:
    """Whether each case of a recorded run passed, by id."""
    return {case["id"]: case["passed"] for case in _cases(result)}


def filtered(rows: Sequence[CaseRow], *, show: str, tag: str, split: str) -> tuple[CaseRow, ...]:
    """The rows that a reader asked for; empty `tag` and `split` ask for all."""
    return tuple(
        row
        for row in rows
        if (show in ("all", row.change) or (show == "failing" and not row.passed))
        and (not tag or tag in row.tags)
        and (not split or row.split == split)
    )


def previous_of(records: Sequence[GoldenRecord], run: GoldenRecord) -> GoldenRecord | None:
    """The run before `run`; `records` are newest first."""
    return next(
        (record for record in records if (record.started_at, record.id) < (run.started_at, run.id)), None
    )


def settings_since(asked: Mapping[str, object], in_force: SearchSettings) -> tuple[str, ...]:
    """Which numbers in force are others than those of a run; the limit is that of its cases."""
    named = {"source", "preset", "fetchDepth", "limit"}
    those = in_force.to_json()
    return tuple(sorted(key for key in asked if key not in named and asked[key] != those.get(key)))


def _cases(result: Mapping[str, object]) -> list[dict[str, Any]]:
    return cast("list[dict[str, Any]]", result["cases"])


def _change(
    case_id: str, before: Mapping[str, bool] | None, changed: Collection[str], *, passed: bool
) -> CaseChange:
    if before is None:
        # a first run has nothing to be new against
        return "same"
    if case_id in before:
        return "same" if before[case_id] == passed else "won" if passed else "lost"
    return "changed" if case_id in changed else "new"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunInView:
    """The run that a page shows: its rows, and the floor that the file asks for today.

    `standing` says in sentences what the index and the provider were like; `of_today` is false where they were not
    those that searches stood on.
    """

    run: GoldenRecord
    rows: tuple[CaseRow, ...]
    floor: int
    standing: tuple[str, ...] = ()
    of_today: bool = True

    @property
    def gate_passed(self) -> bool:
        """Whether the run met its own gate and the floor of today."""
        return self.run.gate_passed and self.run.passed >= self.floor

    @property
    def limit(self) -> int:
        """How many hits a question could have."""
        limit = self.run.settings.get("limit")
        return limit if isinstance(limit, int) else 5

    @property
    def vector_ran(self) -> bool:
        """Whether any case was measured with its vector; a degraded run may have gone by words alone."""
        return not self.run.degraded or any(row.vector_rank is not None for row in self.rows)

    def count(self, change: CaseChange) -> int:
        """How many cases changed so."""
        return sum(row.change == change for row in self.rows)
