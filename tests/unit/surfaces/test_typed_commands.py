"""Commands that are advised name the project that was named: typed as they stand, they do what is meant."""

import click

from medir.cli import medir
from medir.cli.typed_commands import VERBS, for_project


def verbs_with_a_project(group: click.Group, above: str = "") -> list[str]:
    found: list[str] = []
    for name in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), name)
        if isinstance(command, click.Group):
            found += verbs_with_a_project(command, f"{above}{name} ")
        elif command is not None and any("--project" in each.opts for each in command.params):
            found.append(f"{above}{name}")
    return found


def test_every_verb_that_takes_a_project_is_known() -> None:
    assert sorted(VERBS) == sorted(set(verbs_with_a_project(medir)) - {"project remove"})


def test_a_command_gets_the_project_behind_its_verb() -> None:
    assert for_project("See why: medir golden explain almoco --baseline v1", "p-2") == (
        "See why: medir golden explain --project p-2 almoco --baseline v1"
    )
    assert for_project("Write it (medir settings adopt --write), or look: `medir index`.", "p") == (
        "Write it (medir settings adopt --project p --write), or look: `medir index --project p`."
    )


def test_one_that_names_a_project_and_one_that_takes_none_stay() -> None:
    for text in (
        "medir project set --project a --repo PATH",
        "medir db migrate",
        "Run: medir index --project a",
    ):
        assert for_project(text, "b") == text


def test_without_a_named_project_nothing_is_added() -> None:
    assert for_project("Run: medir index", None) == "Run: medir index"
