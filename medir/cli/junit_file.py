"""The JUnit file of a golden run, which tells of a run that came to nothing too."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import click

from medir.cli.gates import CHOSEN, UnmetGate
from rag_core.errors import FaultyDocument, MedirError
from rag_core.evaluation.comparison import BaselineComparison
from rag_core.evaluation.golden_runs import GoldenRun
from rag_core.files import write_together
from rag_core.formats.junit import junit_error_xml, junit_xml
from rag_core.golden.faults import Fault

_ALWAYS_TOLD = frozenset({"must_pass", "floor"})


def junit_of(
    run: GoldenRun,
    comparison: BaselineComparison | None,
    unmet: Sequence[UnmetGate],
    *,
    fail_on: Collection[str],
    suite: str,
) -> str:
    """A run that was judged: its cases, its floor, each gate that was chosen, and whatever else was not met."""
    sentences = {gate.name: gate.sentence for gate in unmet if gate.name not in _ALWAYS_TOLD}
    return junit_xml(
        run.outcome,
        suite=suite,
        floor_fall=run.floor_fall,
        lost=comparison.lost if comparison is not None and "lost" in fail_on else (),
        causes={} if comparison is None else {cause.id: cause.sentence for cause in comparison.lost_because},
        gates={name: None for name in CHOSEN if name in fail_on} | sentences,
    )


@contextmanager
def told_in(file: Path | None, *, suite: str) -> Iterator[None]:
    """Whatever ends the run is told in the file, which never goes on saying what an earlier run did."""
    if file is not None and file.is_file():
        # for a run that is killed: nobody is left to write then
        _tell(file, suite, "The run did not come to its end.")
    try:
        yield
    except click.exceptions.Exit:
        raise
    except BaseException as error:
        if file is not None:
            _tell(file, suite, *_sentence_and_details(error))
        raise


def _tell(file: Path, suite: str, sentence: str, details: str = "") -> None:
    # that the file can't be written is said by the run itself, where it comes so far
    with suppress(MedirError, OSError):
        write_together({file: junit_error_xml(sentence, suite=suite, details=details)})


def _sentence_and_details(error: BaseException) -> tuple[str, str]:
    if isinstance(error, click.ClickException):
        return error.format_message(), ""
    if isinstance(error, FaultyDocument):
        faults = map(Fault.read, error.faults)
        return error.message, "\n".join(
            [*(f"{fault.place}: {fault.message}" for fault in faults), error.hint]
        )
    if isinstance(error, MedirError):
        return error.message, error.hint
    if isinstance(error, KeyboardInterrupt | click.Abort):
        return "Stopped.", ""
    return f"A fault of Medir's own: {type(error).__name__}.", ""
