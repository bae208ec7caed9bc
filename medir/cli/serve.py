"""`medir up` and `medir serve`: the database, the sample, the golden table, the workbench."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click

from medir import sample
from medir.cli.frame import (
    EXIT_REFUSED,
    Output,
    operator,
    refuse_error,
    services,
    stop,
    with_output,
)
from medir.cli.gates import error_of, exit_code, tell, unmet_gates
from medir.cli.golden import print_run
from medir.configuration import load_configuration, port_number
from medir.doctor import BEFORE_A_PROXY
from medir.listening import LOOPBACK, listening
from medir.serve import serve_until_stopped
from medir.wiring import open_services
from rag_core.errors import DatabaseBusy, DatabaseUnavailable, MedirError
from rag_core.project.access import tokens_asked_for, tokens_exist

_PORT = click.option("--port", metavar="N", help="Port of the workbench; default MEDIR_PORT or 8501.")


@click.command("serve")
@click.option("--host", default=LOOPBACK, show_default=True, metavar="H")
@_PORT
@with_output
def serve(output: Output, host: str, port: str | None) -> None:
    """Serve the workbench and the HTTP API until Ctrl-C."""
    with listening(host, _port(port), tokens_exist=_tokens_exist) as listener, _database(output) as advice:

        def announce(line: str) -> None:
            output.note(line)
            for further in advice:
                output.note(further)

        serve_until_stopped(listener, load_configuration(), announce=announce, open_browser=False)


@click.command("up")
@click.option("--no-serve", is_flag=True, help="Stop after the golden run.")
@_PORT
@with_output
def up(output: Output, no_serve: bool, port: str | None) -> None:
    """Start everything: database, sample project, golden run, workbench."""
    if no_serve:
        stop(_prepare(output, serving=False))
    with listening(LOOPBACK, _port(port)) as listener, services():
        code = _prepare(output, serving=True)
        serve_until_stopped(
            listener, load_configuration(), announce=output.note, open_browser=_may_open_browser()
        )
    stop(code)


@contextmanager
def _database(output: Output) -> Iterator[tuple[str, ...]]:
    """Hold the database while serving, with advice for whoever serves.

    One that is away is said, and the pages and the API look for it again.
    """
    try:
        opened = open_services(load_configuration())
    except (DatabaseUnavailable, DatabaseBusy) as error:
        output.note(f"{error.message} {error.hint}")
        yield ()
        return
    with opened:
        asked = opened.configuration.signs_in or tokens_asked_for(opened.database)
        yield () if asked else (f"Nobody on this machine is asked for a token. {BEFORE_A_PROXY}",)


def _tokens_exist() -> bool:
    with services() as opened:
        return tokens_exist(opened.database, opened.clock)


def _prepare(output: Output, *, serving: bool) -> int:
    """Sample and golden run; the exit code that they deserve."""
    with services() as opened, output.progress() as listener:
        project = sample.ensure_sample(opened, actor=operator(), say=output.note, listener=listener)
        try:
            run = opened.evaluation.run_golden(project, actor=operator(), listener=listener)
        except MedirError as error:
            if not serving:
                raise
            # the workbench shows what is wrong with the set
            refuse_error(output, error)
            return EXIT_REFUSED
    unmet = unmet_gates(run, None)
    output.emit(run.to_json() | error_of(unmet))
    if not output.as_json:
        print_run(output, run)
    tell(output, unmet)
    return exit_code(unmet)


def _port(given: str | None) -> int:
    return load_configuration().port if given is None else port_number(given, name="--port")


def _may_open_browser() -> bool:
    return not os.environ.get("CI") and sys.stdout.isatty()
