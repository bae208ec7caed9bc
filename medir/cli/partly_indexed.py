"""A golden run over an index that lacks a part of the text: its gates are met, and it is done in part."""

from collections.abc import Sequence

from medir.cli.frame import EXIT_PARTIAL, one_line
from medir.cli.gates import UnmetGate
from rag_core.index.left_out import FAULTY, LeftOut, Skipped
from rag_core.index.outcome import IndexReport
from rag_core.words.plurals import counted

_MOST_NAMED = 3


def partly_indexed(indexed: IndexReport | None) -> tuple[UnmetGate, ...]:
    """Whether the index run before left out what it should have indexed: then the run judged a part of the text."""
    if indexed is None or indexed.complete:
        return ()
    faulty = LeftOut.of(indexed.skipped).faulty
    files = f"{counted(len(faulty), 'file')} {FAULTY} ({_named(faulty)})" if faulty else ""
    lacking = indexed.embedding.skipped
    vectors = counted(lacking, "chunk has no vector", "chunks have no vector") if lacking else ""
    told = " and ".join(part for part in (files, vectors) if part)
    return (
        UnmetGate(
            name="index",
            code=EXIT_PARTIAL,
            error="partlyIndexed",
            sentence=f"Not everything is indexed: {told}.",
            hint="Mend that and run it again; `medir index` says what each needs.",
        ),
    )


def _named(skipped: Sequence[Skipped]) -> str:
    paths = [one_line(str(entry["path"])) for entry in skipped[:_MOST_NAMED]]
    return ", ".join(paths) + (", ..." if len(skipped) > _MOST_NAMED else "")
