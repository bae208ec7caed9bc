"""The command line `medir`: one small file a command group; options in, one use case, an exit code out."""

import logging
import sys

import click

from medir.cli.frame import plain, run
from medir.cli.verbs import Verbs
from medir.interrupt import end_politely

_VERBS = {
    "up": "medir.cli.serve:up",
    "serve": "medir.cli.serve:serve",
    "db": "medir.cli.database:database",
    "project": "medir.cli.project:project",
    "index": "medir.cli.index:index",
    "sessions": "medir.cli.index:sessions",
    "search": "medir.cli.search:search",
    "golden": "medir.cli.golden:golden",
    "baseline": "medir.cli.baseline:baseline",
    "settings": "medir.cli.settings:settings",
    "calibrate": "medir.cli.calibrate:calibrate",
    "coverage": "medir.cli.state:coverage",
    "doctor": "medir.cli.state:doctor",
    "rag": "medir.cli.report:rag",
    "vote": "medir.cli.vote:vote",
    "searches": "medir.cli.vote:searches",
    "token": "medir.cli.token:token",
    "mcp": "medir.cli.mcp:mcp",
}


@click.group(context_settings={"help_option_names": ["-h", "--help"]}, commands=Verbs(_VERBS))
@click.version_option(package_name="medir")
def medir() -> None:
    """Calibrate and evaluate hybrid retrieval on Postgres."""


def main() -> None:
    """The entry point of the program."""
    # what the pool tries on its own is told by the error that follows, in one line
    logging.getLogger("psycopg.pool").setLevel(logging.CRITICAL)
    if logging.lastResort is not None:
        logging.lastResort.setFormatter(_PlainLines())
    end_politely()
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="replace")
    sys.exit(run(medir, sys.argv[1:]))


class _PlainLines(logging.Formatter):
    """What is logged names files and quotes documents, and whoever looks has a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        """As its parent, without what commands one."""
        return plain(super().format(record))
