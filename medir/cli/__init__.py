"""The command line `medir`: one small file a command group; options in, one use case, an exit code out."""

import logging
import signal
import sys
from types import FrameType

import click

from medir.cli.baseline import baseline
from medir.cli.calibrate import calibrate
from medir.cli.database import database
from medir.cli.frame import run
from medir.cli.golden import golden
from medir.cli.index import index, sessions
from medir.cli.project import project
from medir.cli.report import rag, searches, vote
from medir.cli.search import search
from medir.cli.serve import serve, up
from medir.cli.settings import settings
from medir.cli.state import coverage, doctor


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="medir")
def medir() -> None:
    """Calibrate and evaluate hybrid retrieval on Postgres."""


for command in (
    up,
    serve,
    database,
    project,
    index,
    sessions,
    search,
    golden,
    baseline,
    settings,
    calibrate,
    coverage,
    doctor,
    rag,
    vote,
    searches,
):
    medir.add_command(command)


def main() -> None:
    """The entry point of the program."""
    # what the pool tries on its own is told by the error that follows, in one line
    logging.getLogger("psycopg.pool").setLevel(logging.CRITICAL)
    for number in (signal.SIGTERM, signal.SIGHUP):
        # ended politely, a process gives back what it holds: the embedded server, a run's row
        signal.signal(number, _interrupt)
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="replace")
    sys.exit(run(medir, sys.argv[1:]))


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
