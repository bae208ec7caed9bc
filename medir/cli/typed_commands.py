"""Commands that a sentence advises, as they are to be typed for the project that was named."""

import re

# every verb that takes `--project`; a test holds the list against the command line
VERBS = (
    "baseline diff",
    "baseline freeze",
    "baseline list",
    "baseline show",
    "baseline verify",
    "calibrate",
    "coverage",
    "golden explain",
    "golden lint",
    "golden raise-floor",
    "golden run",
    "index",
    "mcp",
    "project set",
    "project show",
    "rag",
    "search",
    "searches purge",
    "sessions import",
    "settings adopt",
    "settings history",
    "settings show",
    "vote",
)
_COMMAND = re.compile(rf"\bmedir (?:{'|'.join(VERBS)})\b(?![^.;,`)]*--project)")


def for_project(text: str, project_id: str | None) -> str:
    """The text with `--project` in each command that lacks it; unchanged where no project was named.

    Examples:
        >>> for_project("Run `medir index`.", "entrega")
        'Run `medir index --project entrega`.'
    """
    if project_id is None:
        return text
    return _COMMAND.sub(lambda found: f"{found[0]} --project {project_id}", text)
