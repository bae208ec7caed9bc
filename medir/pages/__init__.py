"""The pages of the workbench: one folder a page, and the list that the navigation is made from."""

from dataclasses import dataclass
from pathlib import Path

_FOLDER = Path(__file__).resolve().parent

ENTRY = str(_FOLDER / "entry.py")
"""The script that sets a page up and runs it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageEntry:
    """A page: its script, its address below `/`, its title, the question that it answers, its sign."""

    script: str
    path: str
    title: str
    question: str
    icon: str


def _entry(folder: str, *, title: str, question: str, icon: str) -> PageEntry:
    return PageEntry(
        script=str(_FOLDER / folder / "page.py"),
        path=folder.replace("_", "-"),
        title=title,
        question=question,
        icon=icon,
    )


# `/` leads to the first
PAGES: tuple[PageEntry, ...] = (
    _entry(
        "report",
        title="Report",
        question="How is the search doing?",
        icon=":material/monitoring:",
    ),
    _entry(
        "search",
        title="Search",
        question="What does it find, and would I cite it?",
        icon=":material/search:",
    ),
    _entry(
        "golden_set",
        title="Golden set",
        question="Did something break, and why?",
        icon=":material/fact_check:",
    ),
    _entry(
        "calibration",
        title="Calibration",
        question="Which numbers, and how sure can I be?",
        icon=":material/tune:",
    ),
    _entry(
        "index",
        title="Index",
        question="Is everything in there, and is it true?",
        icon=":material/inventory_2:",
    ),
)
HOME = str(_FOLDER / "today" / "page.py")
