"""What of a project is in its index: the verdict in a sentence, the bars, the files that were left out."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from medir.page_kit.frame import Frame
from medir.page_kit.services import workbench
from medir.page_kit.signs import DASH, FAILED, PASSED, age, theme
from rag_core.coverage import SKIPS, Coverage, ScopeCoverage, SourceParts
from rag_core.figures.coverage import ScopeBar, coverage_bars
from rag_core.figures.layout import CONFIG
from rag_core.model import Scope
from rag_core.plurals import counted

SCOPE_NAMES: dict[str, str] = {"docs": "documents", "adr": "decisions", "session": "sessions"}
# a table of more rows is for a program to read
_LISTED = 1_000


def draw_verdict(view: Frame, coverage: Coverage) -> None:
    """One sentence: whether everything is in the index and of today, and what is not."""
    if coverage.problem is not None:
        st.error(
            "**The repository can't be read**, so what is missing is not measured", icon=":material/link_off:"
        )
        st.text(coverage.problem)
        st.text(
            "The index stays as it is, and can be searched. If the repository has another place now, name it:"
        )
        st.code(f"medir project set --project {view.project.project_id} --repo PATH", language=None)
        return
    if all(scope.indexed_at is None for scope in coverage.scopes):
        st.info(f"**Not indexed yet:** {_sources(coverage.scopes)} wait", icon=":material/inventory_2:")
        return
    missing = shortcomings(coverage)
    if missing:
        st.warning(f"{FAILED} **Not everything is there, or of today:** {'; '.join(missing)}")
        return
    chunks = counted(sum(scope.chunks for scope in coverage.scopes), "chunk")
    st.success(
        f"{PASSED} **Everything is in the index:** {_sources(coverage.scopes)}, {chunks}, "
        f"each with a vector{'' if coverage.commit is None else f'; at {coverage.commit[:7]}, the last commit'}"
    )


def shortcomings(coverage: Coverage) -> tuple[str, ...]:
    """What keeps the index from being whole and of today, in words; empty where nothing does."""
    parts = [scope.parts for scope in coverage.scopes if scope.parts]
    faulty = len(faults(coverage.scopes))
    lacking = (
        (faulty, "file skipped", "files skipped"),
        (sum(part.waiting for part in parts), "source not read yet", "sources not read yet"),
        (
            sum(scope.gone for scope in coverage.scopes),
            "indexed file that is gone",
            "indexed files that are gone",
        ),
        (
            sum(scope.without_vector for scope in coverage.scopes),
            "chunk without a vector",
            "chunks without a vector",
        ),
    )
    told = [counted(count, one, many) for count, one, many in lacking if count]
    if coverage.moved:
        told.append(
            f"indexed at {(coverage.commit or DASH)[:7]}, the repository is at {(coverage.head_commit or DASH)[:7]}"
        )
    return tuple(told)


def faults(scopes: Sequence[ScopeCoverage]) -> list[dict[str, str]]:
    """The skipped files that should have been indexed."""
    return [
        entry for scope in scopes for entry in scope.skipped_files if SKIPS.get(entry["reason"], ("", ""))[1]
    ]


def draw_bars(coverage: Coverage) -> None:
    """The figure."""
    bars = [_bar(scope) for scope in coverage.scopes]
    st.plotly_chart(coverage_bars(bars, theme()), key="coverage-bars", config=CONFIG, theme=None)


def draw_scopes(coverage: Coverage) -> None:
    """The same in numbers, with the age and commit of each scope."""
    now = workbench().services.clock.now()
    st.dataframe(
        pd.DataFrame(
            [
                {
                    "scope": SCOPE_NAMES[scope.scope],
                    "indexed": age(scope.indexed_at, now) if scope.indexed_at else "never",
                    "at commit": (scope.commit or DASH)[:7],
                    "sources": _number(scope.sources),
                    "with chunks": f"{scope.indexed:,}",
                    "skipped": _number(scope.parts and scope.parts.left_out),
                    "not read yet": _number(scope.parts and scope.parts.waiting),
                    "without text": _number(scope.parts and scope.parts.without_text),
                    "gone": f"{scope.gone:,}" if scope.parts else DASH,
                    "chunks": f"{scope.chunks:,}",
                    "without a vector": f"{scope.without_vector:,}",
                }
                for scope in coverage.scopes
            ]
        ),
        key="coverage-scopes",
        hide_index=True,
        column_config={
            "scope": st.column_config.TextColumn("scope", pinned=True, width=95),
            "sources": st.column_config.TextColumn("in the repository", help="Sessions: in the event log"),
            "gone": st.column_config.TextColumn(
                "gone", help="Indexed files that the repository does not have any more"
            ),
        },
    )


def draw_left_out(coverage: Coverage) -> None:
    """The skipped files with their reasons, and the notes; nothing where there are none."""
    faulty = faults(coverage.scopes)
    by_rule = [entry for scope in coverage.scopes for entry in scope.skipped_files if entry not in faulty]
    notes = [note for scope in coverage.scopes for note in scope.notes]
    if faulty or by_rule:
        st.markdown(
            f"**Skipped files** · {len(faulty)} that should be indexed, {len(by_rule)} left out by rule"
        )
        st.dataframe(
            pd.DataFrame(
                [
                    {
                        "": FAILED if entry in faulty else DASH,
                        "file": entry["path"],
                        "why": SKIPS.get(entry["reason"], (entry["reason"], ""))[0],
                        "what to do": SKIPS.get(entry["reason"], ("", ""))[1] or "nothing: by rule",
                    }
                    for entry in (*faulty, *by_rule)[:_LISTED]
                ]
            ),
            key="skipped-files",
            hide_index=True,
            column_config={
                "": st.column_config.TextColumn("", width=30),
                "file": st.column_config.TextColumn("file", width="large"),
            },
        )
    if notes:
        st.markdown(
            f"**Notes** · {len(notes)} indexed {'file' if len(notes) == 1 else 'files'} to know about"
        )
        st.dataframe(
            pd.DataFrame([{"file": note["path"], "note": note["note"]} for note in notes[:_LISTED]]),
            key="file-notes",
            hide_index=True,
            column_config={"file": st.column_config.TextColumn("file", width="large")},
        )


def _bar(scope: ScopeCoverage) -> ScopeBar:
    parts: SourceParts | None = scope.parts
    return ScopeBar(
        name=SCOPE_NAMES[scope.scope],
        unit="sessions" if scope.scope is Scope.SESSION else "files",
        covered=parts and parts.covered,
        without_text=parts and parts.without_text,
        left_out=parts and parts.left_out,
        waiting=parts and parts.waiting,
        chunks=scope.chunks,
        without_vector=scope.without_vector,
    )


def _sources(scopes: Sequence[ScopeCoverage]) -> str:
    files = sum(scope.sources or 0 for scope in scopes if scope.scope is not Scope.SESSION)
    sessions = sum(scope.sources or 0 for scope in scopes if scope.scope is Scope.SESSION)
    return (
        f"{files or 'no'} {'file' if files == 1 else 'files'} and {sessions or 'no'} "
        f"{'session' if sessions == 1 else 'sessions'}"
    )


def _number(count: int | None) -> str:
    return DASH if count is None else f"{count:,}"
