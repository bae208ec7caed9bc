"""What every verb shares: options, output, errors and exit codes.

Exit codes: 0 good, 1 a gate was not met, 2 wrong use, bad input, no service or a refusal, 3 done in part,
70 a fault of ours. With `--json`, standard output is exactly one JSON document, also on failure; everything
else goes to standard error.
"""

import functools
import json
import sys
import traceback
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, NoReturn, ParamSpec, TextIO, cast

import click

from medir.cli.streams import UNWRITABLE, AnswerStream, Aside, OutputLost, let_go, settle
from medir.cli.typed_commands import for_project
from medir.configuration import load_configuration
from medir.interrupt import code_of_interrupt
from medir.local import account_name
from medir.wiring import Services, open_services
from rag_core.errors import FaultyDocument, MedirError
from rag_core.model import Actor, Project
from rag_core.model.shape import Shape
from rag_core.project.projects import choose_project

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from rag_core.project.runs import Progress as Listener

EXIT_GATE = 1
EXIT_REFUSED = 2
EXIT_PARTIAL = 3
EXIT_FAULT = 70
_PIPE_WIDTH = 200

P = ParamSpec("P")

_STEPS = {
    "read": "Reading",
    "chunk": "Cutting into chunks",
    "embed": "Embedding",
    "search": "Searching",
    "replay": "Replaying",
    "choose": "Choosing",
    "write": "Writing",
}


@dataclass(frozen=True, kw_only=True)
class Output:
    """Where a verb writes: tables for people, or one JSON document for machines.

    Consoles are made when something is to be drawn: a document needs none. `project_id` is the project that was named,
    which commands that are advised must name too.
    """

    as_json: bool
    out: TextIO
    err: TextIO
    project_id: str | None = None

    @cached_property
    def people(self) -> "Console":
        """Tables and lines, on standard output."""
        from rich.console import Console  # noqa: PLC0415

        # a table in a file or a pipe has no edge to be cut at
        return Console(file=self.out, width=None if self.out.isatty() else _PIPE_WIDTH, soft_wrap=True)

    @cached_property
    def aside(self) -> "Console":
        """Notes and progress, on standard error."""
        from rich.console import Console  # noqa: PLC0415

        return Console(file=self.err, soft_wrap=not self.err.isatty())

    def emit(self, document: object) -> None:
        """Print the document where JSON was asked for; else nothing."""
        if self.as_json:
            told = document.to_json() if isinstance(document, Shape) else document
            self.out.write(as_document(told) + "\n")
            self.out.flush()

    def say(self, text: str) -> None:
        """One line for a person; silent under `--json`."""
        if not self.as_json:
            self.people.print(plain(text), markup=False, highlight=False)

    def advise(self, text: str) -> None:
        """A line of our own words with commands in it."""
        self.say(for_project(text, self.project_id))

    def dim(self, text: str) -> None:
        """One line that is there for whoever wants it: an id, an invitation; silent under `--json`."""
        if not self.as_json:
            self.people.print(plain(text), markup=False, highlight=False, style="dim")

    def note(self, text: str) -> None:
        """One line on standard error, under `--json` too."""
        self.aside.print(plain(for_project(text, self.project_id)), markup=False, highlight=False)

    @contextmanager
    def progress(self) -> Iterator["Listener | None"]:
        """A bar on standard error while work goes on; none under `--json` or without a terminal."""
        if self.as_json or not self.aside.is_terminal:
            yield None
            return
        from rich.progress import (  # noqa: PLC0415
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
        )

        with Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=self.aside,
            transient=True,
        ) as bar:
            task = bar.add_task("", total=None)

            def listen(step: str, done: int, total: int) -> None:
                bar.update(task, description=_STEPS.get(step, step), completed=done, total=total or None)

            yield listen


def as_document(value: object) -> str:
    """The value as JSON, with all that could command a terminal as escapes: a reader of JSON reads the same."""
    written = json.dumps(value, ensure_ascii=False, indent=2)
    # json.dumps has escaped what JSON forbids; what is left of it stands inside of strings, but for line ends
    return "".join(sign if sign.isprintable() or sign == "\n" else json.dumps(sign)[1:-1] for sign in written)


def plain(text: str) -> str:
    """The text with its control characters written out: documents and file names may hold commands for a terminal.

    Newlines and tabs stay.
    """
    return "".join(
        sign if sign.isprintable() or sign in "\n\t" else sign.encode("unicode_escape").decode("ascii")
        for sign in text
    )


def one_line(text: str) -> str:
    """The same with newlines and tabs written out too, for names that stand in the midst of a line."""
    return plain(text).replace("\n", "\\n").replace("\t", "\\t")


def cell(text: str, style: str = "") -> "Text":
    """Somebody's text in a table: one line, and no markup."""
    from rich.text import Text  # noqa: PLC0415

    return Text(one_line(text), style=style)


def make_table(*headings: str, numbers: Collection[str] = ()) -> "Table":
    """A table without lines; the columns of `numbers` stand at the right."""
    from rich.table import Table  # noqa: PLC0415

    table = Table(box=None, pad_edge=False)
    for heading in headings:
        table.add_column(heading, justify="right" if heading in numbers else "left")
    return table


def make_output(*, as_json: bool, project_id: str | None = None) -> Output:
    """Over the process's own streams."""
    out, err = cast("TextIO", AnswerStream(sys.stdout)), cast("TextIO", Aside(sys.stderr))
    return Output(as_json=as_json, out=out, err=err, project_id=project_id)


def _project_named(arguments: list[str]) -> str | None:
    """What stands behind `--project`, before anything is parsed."""
    given = [value for name, value in pairwise(arguments) if name == "--project"]
    given += [
        argument.removeprefix("--project=") for argument in arguments if argument.startswith("--project=")
    ]
    return given[-1] if given else None


def project_option(verb: Callable[P, None]) -> Callable[P, None]:
    """`--project`, which every verb takes that concerns a project."""
    return click.option(
        "--project",
        "project_id",
        metavar="P",
        help="Project id; default: the only one there is, else sample.",
    )(verb)


def services() -> Services:
    """The installation's services, to be given back at the end."""
    return open_services(load_configuration())


def chosen_project(opened: Services, project_id: str | None) -> Project:
    """The project that the verb concerns."""
    return choose_project(opened.database, project_id)


def operator() -> Actor:
    """Whoever sits at this terminal."""
    return Actor(kind="human", id=account_name(), surface="cli")


def run(command: click.Command, arguments: list[str]) -> int:
    """Run the command line and return its exit code; no traceback reaches the user."""
    output = make_output(as_json="--json" in arguments, project_id=_project_named(arguments))
    try:
        code = _run(command, arguments, output)
        AnswerStream(sys.stdout).flush()
    except OutputLost as lost:
        let_go(sys.stdout)
        output.note(f"The output can't be written: {lost.reason}.")
        return EXIT_REFUSED
    except BrokenPipeError:
        # whoever read the output has left; nobody is there to be told
        let_go(sys.stdout)
        return 0
    finally:
        settle(sys.stderr)
    return code


def _run(command: click.Command, arguments: list[str], output: Output) -> int:
    # bytes that are no UTF-8 arrive as lone surrogates, which neither a table nor a document can hold
    arguments = [argument.encode(errors="replace").decode() for argument in arguments]
    try:
        result = command.main(args=arguments, prog_name="medir", standalone_mode=False)
    except click.exceptions.Exit as end:
        return end.exit_code
    except (click.Abort, KeyboardInterrupt) as stopped:
        code = code_of_interrupt(arguments, stopped)
        if code:
            _refuse(output, "interrupted", "Stopped.", "")
        return code
    except (OutputLost, BrokenPipeError):
        raise
    except SystemExit as end:
        # click ends so for a broken pipe alone
        raise BrokenPipeError from end
    except Exception as error:  # noqa: BLE001  the command line is one of the three edges where faults end
        return _tell(output, error)
    return result if isinstance(result, int) else 0


def _tell(output: Output, error: Exception) -> int:
    if isinstance(error, click.ClickException):
        return _refuse(output, "usage", error.format_message(), _usage_hint(error))
    if isinstance(error, MedirError):
        return refuse_error(output, error)
    if isinstance(error, OSError) and error.errno in UNWRITABLE:
        if error.filename is None:
            # what click writes by itself: a help, a version
            raise OutputLost(error) from error
        told = f"{error.filename} can't be written: {error.strerror}."
        return _refuse(output, "unavailable", told, "Free some space.")
    return _fault(output, error)


def stop(code: int) -> NoReturn:
    """End the verb with an exit code."""
    raise click.exceptions.Exit(code)


def refuse_error(output: Output, error: MedirError) -> int:
    """Tell the user, as JSON where that was asked for; the exit code."""
    if isinstance(error, FaultyDocument) and not output.as_json and len(error.faults) > 1:
        for fault in error.faults:
            output.note(f"  {fault['case'] or '-'}, line {fault['line'] or '-'}: {fault['message']}")
    return _refuse(output, error.code, error.message, error.hint, details_of(error))


def details_of(error: MedirError) -> dict[str, object]:
    """The contract's `error`."""
    details: dict[str, object] = {"code": error.code, "message": error.message, "hint": error.hint}
    if error.where is not None:
        details["where"] = error.where
    if isinstance(error, FaultyDocument):
        details["faults"] = [dict(fault) for fault in error.faults]
    return details


def _refuse(
    output: Output, code: str, message: str, hint: str, details: dict[str, object] | None = None
) -> int:
    details = (details or {"code": code, "message": message}) | {"hint": for_project(hint, output.project_id)}
    output.emit({"error": details})
    if not output.as_json:
        output.note(message)
        if hint:
            output.note(hint)
    return EXIT_REFUSED


def _fault(output: Output, error: Exception) -> int:
    told = "".join(traceback.format_exception(error))
    hint = "Please report it."
    try:
        log = load_configuration().home / "faults.log"
        with log.open("a", encoding="utf-8") as file:
            file.write(told)
        hint = f"Please report it; the details are in {log}."
    except (OSError, MedirError):
        hint = f"Please report it: {error}"
    _refuse(output, "fault", f"A fault of Medir's own: {type(error).__name__}.", hint)
    return EXIT_FAULT


def _usage_hint(error: click.ClickException) -> str:
    context = getattr(error, "ctx", None)
    return (
        f"See `{context.command_path} --help`."
        if isinstance(context, click.Context)
        else "See `medir --help`."
    )


def with_output(verb: Callable[..., None]) -> Callable[..., None]:
    """Give a verb its `Output` in place of the flag `--json`."""

    @functools.wraps(verb)
    @click.option("--json", "as_json", is_flag=True, help="Print exactly one JSON document.")
    def wrapped(*, as_json: bool, **options: object) -> None:
        named = options.get("project_id")
        verb(make_output(as_json=as_json, project_id=named if isinstance(named, str) else None), **options)

    return wrapped
