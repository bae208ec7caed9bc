"""The golden set as a table: a row a case, with a strip that shows where it stands in each list."""

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from medir.page_kit.address import Parameter
from medir.page_kit.choosing import draw_rows
from medir.page_kit.signs import DASH, FAILED, FATES, LOST, PASSED, WON, theme
from medir.pages.golden_set.rows import CaseChange, CaseRow
from rag_core.figures.palette import BAD, GOOD
from rag_core.figures.rank_strip import rank_strip
from rag_core.model import Fate
from rag_core.search.excerpts import cut_short

_CELL_CHARS = 300
_CHANGES: Mapping[CaseChange, str] = {
    "won": f"{WON} won",
    "lost": f"{LOST} lost",
    "same": "",
    "new": "new",
    "changed": "changed",
}
_ORDER = (
    "verdict",
    "change",
    "case",
    "question",
    "stands",
    "removed",
    "expected",
    "hit",
    "whole",
    "vector",
    "lexical",
    "tags",
)
_BESIDE = ("verdict", "change", "question", "stands")
_INKS = {PASSED: GOOD, WON: GOOD, FAILED: BAD, LOST: BAD}
_ROW_PX, _ROWS_AT_ONCE = 35, 16


def draw_table(
    rows: Sequence[CaseRow], chosen: Parameter[str], *, limit: int, vector_ran: bool, beside: bool
) -> None:
    """The table. A selected row becomes the `chosen` case; `beside` leaves room for its explanation.

    `vector_ran` false: the run was measured by words alone.
    """
    draw_rows(
        pd.DataFrame([_cells(row, limit, vector_ran=vector_ran) for row in rows]).style.map(
            _ink, subset=["verdict", "change"]
        ),
        [row.id for row in rows],
        chosen,
        name="golden-table",
        height=_ROW_PX * (min(len(rows), _ROWS_AT_ONCE) + 1) + 3,
        order=_BESIDE if beside else _ORDER,
        columns={
            "verdict": st.column_config.TextColumn("", width=60),
            "case": st.column_config.TextColumn("case", width=150),
            "question": st.column_config.TextColumn("question", width=227 if beside else 320),
            # with these two, whole columns fill the page at its usual width
            "expected": st.column_config.TextColumn("expected place", width=207),
            "stands": st.column_config.ImageColumn(
                "rank 1 → 200 | none",
                width=200,
                help="Blue disc: vector. Orange square: lexical. Diamond: whole set. Ring: among the hits, which "
                "lie in the green shade; cross: removed. The scale is logarithmic; behind the gap: in no list.",
            ),
            "hit": st.column_config.TextColumn("hit", width=50, help="Rank among the hits"),
            "whole": st.column_config.TextColumn("whole", width=60, help="Rank in the whole set"),
            "vector": st.column_config.TextColumn("vector", width=60, help="Rank by meaning"),
            "lexical": st.column_config.TextColumn("lexical", width=60, help="Rank by words"),
            "removed": st.column_config.TextColumn("removed by", width=100),
            "change": st.column_config.TextColumn(
                "change", width=70, help="Against the run before, or the baseline chosen"
            ),
            "tags": st.column_config.ListColumn("tags", width="small"),
        },
    )


def _cells(row: CaseRow, limit: int, *, vector_ran: bool) -> dict[str, object]:
    return {
        "verdict": (PASSED if row.passed else FAILED) + (" must" if row.must_pass else ""),
        "case": row.id,
        "question": cut_short(row.question, at_most=_CELL_CHARS),
        "expected": " | ".join(row.expected) or "no answer",
        "stands": rank_strip(
            vector_rank=row.vector_rank,
            lexical_rank=row.lexical_rank,
            whole_rank=row.whole_rank,
            rank=row.rank,
            limit=limit,
            theme=theme(),
            vector_ran=vector_ran,
        )
        if row.expected
        else None,
        "hit": _rank(row.rank),
        "whole": _rank(row.whole_rank),
        "vector": _rank(row.vector_rank) if vector_ran or not row.expected else "not run",
        "lexical": _rank(row.lexical_rank),
        "removed": _removed(row, vector_ran=vector_ran),
        "change": _CHANGES[row.change],
        "tags": list(row.tags),
    }


def _ink(sign: str) -> str:
    colour = _INKS.get(sign[:1])
    return f"color: {colour}; font-weight: 600" if colour else ""


def _rank(rank: int | None) -> str:
    return DASH if rank is None else str(rank)


def _removed(row: CaseRow, *, vector_ran: bool) -> str:
    if not row.expected:
        return "" if row.passed else "has hits"
    if row.removed_by == Fate.CANDIDATES and not vector_ran:
        return "not in the lexical list"
    tie = " (tie)" if row.decided_by_tie else ""
    return (FATES[row.removed_by] if row.removed_by else "") + tie
