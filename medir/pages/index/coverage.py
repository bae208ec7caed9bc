"""What of a project is in its index: the verdict in a sentence, the bars, the files that were left out."""

from collections.abc import Mapping, Sequence

import streamlit as st

from medir.page_kit.choosing import draw_table
from medir.page_kit.figures import draw_figure
from medir.page_kit.frame import Frame
from medir.page_kit.services import workbench
from medir.page_kit.signs import DASH, FAILED, PASSED, age, theme
from rag_core.figures.coverage import ScopeBar, coverage_bars
from rag_core.index.coverage import SKIPS, Coverage, ScopeCoverage, SourceParts
from rag_core.index.left_out import BY_RULE, FAULTY, is_by_rule
from rag_core.model import Scope
from rag_core.words.plurals import counted

SCOPE_NAMES: Mapping[str, str] = {
    Scope.DOCS: "documents",
    Scope.ADR: "decisions",
    Scope.SESSION: "sessions",
}
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
    lacking, outdated = missing(coverage), of_yesterday(coverage)
    if lacking or outdated:
        headline = (
            "Not everything is in the index, and it is not of today"
            if lacking and outdated
            else "Not everything is in the index"
            if lacking
            else "Everything is in the index, but it is not of today"
        )
        st.warning(f"{FAILED} **{headline}:** {'; '.join((*lacking, *outdated))}")
        return
    chunks = counted(sum(scope.chunks for scope in coverage.scopes), "chunk")
    st.success(
        f"{PASSED} **Everything is in the index:** {_sources(coverage.scopes)}, {chunks}, "
        f"each with a vector{'' if coverage.commit is None else f'; at {coverage.commit[:7]}, the last commit'}"
    )


def missing(coverage: Coverage) -> tuple[str, ...]:
    """What should be in the index and is not, in words; empty where nothing is missing."""
    waiting = sum(scope.parts.waiting for scope in coverage.scopes if scope.parts)
    bare = sum(scope.without_vector for scope in coverage.scopes)
    faulty = len(coverage.left_out.faulty)
    told = (
        (faulty, f"{counted(faulty, 'file')} {FAULTY}"),
        (waiting, f"{counted(waiting, 'source')} not read yet"),
        (bare, f"{counted(bare, 'chunk')} without a vector"),
    )
    return tuple(words for count, words in told if count)


def of_yesterday(coverage: Coverage) -> tuple[str, ...]:
    """What tells that repository or language have changed since, in words; empty where they have not."""
    gone = sum(scope.gone for scope in coverage.scopes)
    told = (counted(gone, "indexed file that is gone", "indexed files that are gone"),) if gone else ()
    if coverage.index_language not in (None, coverage.language):
        told = (*told, f"indexed in {coverage.index_language}, the project is in {coverage.language}")
    elif coverage.words_changed is not None:
        told = (*told, "its words were cut by another version of Medir")
    if not coverage.moved:
        return told
    commit, head = coverage.commit or DASH, coverage.head_commit or DASH
    return (*told, f"indexed at {commit[:7]}, the repository is at {head[:7]}")


def draw_bars(coverage: Coverage) -> None:
    """The figure."""
    bars = [_bar(scope) for scope in coverage.scopes]
    draw_figure(coverage_bars(bars, theme()), key="coverage-bars")


def draw_scopes(coverage: Coverage) -> None:
    """The same in numbers, with the age and commit of each scope."""
    now = workbench().services.clock.now()
    draw_table(
        [
            {
                "scope": SCOPE_NAMES[scope.scope],
                "indexed": age(scope.indexed_at, now) if scope.indexed_at else "never",
                "at commit": (scope.commit or DASH)[:7],
                "sources": _number(scope.sources),
                "with chunks": f"{scope.indexed:,}",
                FAULTY: _skipped(scope, len(scope.left_out.faulty)),
                BY_RULE: _skipped(scope, len(scope.left_out.by_rule)),
                "not read yet": _number(scope.parts and scope.parts.waiting),
                "without text": _number(scope.parts and scope.parts.without_text),
                "gone": f"{scope.gone:,}" if scope.parts else DASH,
                "chunks": f"{scope.chunks:,}",
                "without a vector": f"{scope.without_vector:,}",
            }
            for scope in coverage.scopes
        ],
        key="coverage-scopes",
        columns={
            "scope": st.column_config.TextColumn("scope", pinned=True, width=95),
            "sources": st.column_config.TextColumn("in the repository", help="Sessions: in the event log"),
            "gone": st.column_config.TextColumn(
                "gone", help="Indexed files that the repository does not have any more"
            ),
        },
    )


def draw_left_out(coverage: Coverage) -> None:
    """The skipped files with their reasons, the notes, and Markdown elsewhere; nothing where there are none."""
    left_out = coverage.left_out
    notes = [note for scope in coverage.scopes for note in scope.notes]
    if coverage.outside is not None and coverage.outside.files:
        # paths are data
        st.text(f"{coverage.outside.told}. Name their folders to index them: medir project set --docs DIR.")
    if left_out.faulty or left_out.by_rule:
        st.markdown(f"**Skipped files** · {left_out.told}")
        draw_table(
            [
                {
                    "": DASH if is_by_rule(entry) else FAILED,
                    "file": entry["path"],
                    "why": SKIPS.get(str(entry["reason"]), (entry["reason"], ""))[0],
                    "what to do": SKIPS.get(str(entry["reason"]), ("", ""))[1] or "nothing: by rule",
                }
                for entry in (*left_out.faulty, *left_out.by_rule)[:_LISTED]
            ],
            key="skipped-files",
            columns={
                "": st.column_config.TextColumn("", width=30),
                "file": st.column_config.TextColumn("file", width="large"),
            },
        )
    if notes:
        st.markdown(
            f"**Notes** · {len(notes)} indexed {'file' if len(notes) == 1 else 'files'} to know about"
        )
        draw_table(
            [{"file": note["path"], "note": note["note"]} for note in notes[:_LISTED]],
            key="file-notes",
            columns={"file": st.column_config.TextColumn("file", width="large")},
        )


def _bar(scope: ScopeCoverage) -> ScopeBar:
    parts: SourceParts | None = scope.parts
    return ScopeBar(
        name=SCOPE_NAMES[scope.scope],
        unit=f"{scope.scope.holds}s",
        covered=parts and parts.covered,
        without_text=parts and parts.without_text,
        faulty=parts and parts.faulty,
        pointers=parts and parts.pointers,
        waiting=parts and parts.waiting,
        chunks=scope.chunks,
        without_vector=scope.without_vector,
    )


def _sources(scopes: Sequence[ScopeCoverage]) -> str:
    # a pointer's text is not there to be indexed
    files = sum(
        scope.parts.total - scope.parts.pointers
        for scope in scopes
        if scope.parts and scope.scope.holds == "file"
    )
    sessions = sum(scope.sources or 0 for scope in scopes if scope.scope.holds == "session")
    return (
        f"{files or 'no'} {'file' if files == 1 else 'files'} and {sessions or 'no'} "
        f"{'session' if sessions == 1 else 'sessions'}"
    )


def _skipped(scope: ScopeCoverage, count: int) -> str:
    return DASH if scope.scope.holds == "session" or scope.indexed_at is None else f"{count:,}"


def _number(count: int | None) -> str:
    return DASH if count is None else f"{count:,}"
