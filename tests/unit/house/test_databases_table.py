"""The table of docs/databases.md: every verb and every page has a row, and none ends with a fault."""

import re
from collections.abc import Iterator
from pathlib import Path

import click

from medir.cli import medir
from medir.pages import PAGES

DOCUMENT = Path(__file__).parents[3] / "docs" / "databases.md"
SERVERS = (
    "`vector` in a schema of its own",
    "no CREATE on the schema `public`",
    "another application's `projects` and `schema_migrations`",
    "pgbouncer in transaction mode",
    "with one connection to the server",
    "a hot standby",
    "`idle_session_timeout`",
    "a role with one connection",
    "messages in German",
)


def verbs(command: click.Command, words: tuple[str, ...] = ()) -> Iterator[str]:
    """Every verb of the command line, however deep it stands."""
    if not isinstance(command, click.Group):
        yield " ".join(words)
        return
    for name in command.commands:
        yield from verbs(command.commands[name], (*words, name))


def tables() -> list[list[list[str]]]:
    """The measured tables, as cells."""
    measured = DOCUMENT.read_text(encoding="utf-8").partition("<!-- measured -->")[2]
    blocks = measured.partition("<!-- end -->")[0].strip().split("\n\n")
    return [
        [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in block.splitlines()[2:]]
        for block in blocks
    ]


def test_every_verb_and_every_page_has_a_row_and_none_has_two() -> None:
    _, rows, _ = tables()
    wanted = [*verbs(medir), *(f"page {page.path}" for page in PAGES)]
    assert sorted(row[0] for row in rows) == sorted(wanted)


def test_every_row_tells_of_every_server_and_ends_with_an_answer_or_a_refusal() -> None:
    servers, rows, _ = tables()
    for row in rows:
        assert len(row) == len(servers) + 1
        assert set(row[1:]) <= {"0", "1", "2", "3"}, row
    told = "\n".join(row[1] for row in servers)
    assert [server for server in SERVERS if server not in told] == []


def test_every_refusal_has_a_sentence_and_a_remedy() -> None:
    _, rows, refusals = tables()
    refused = {(number, row[0]) for row in rows for number, code in enumerate(row[1:], 1) if code == "2"}
    explained: set[tuple[int, str]] = set()
    for number, named, sentence, remedy in refusals:
        assert sentence
        assert remedy
        names = [row[0] for row in rows] if named == "all" else named.split(", ")
        explained |= {(int(number), name) for name in names}
    assert explained == refused
