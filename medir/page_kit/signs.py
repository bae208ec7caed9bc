"""The language of signs: a colour and a glyph mean the same on every page, and never a colour alone."""

from datetime import datetime
from typing import Literal

import streamlit as st

from rag_core.figures.palette import DARK, LIGHT, Theme
from rag_core.model import EmbeddingModel, Fate
from rag_core.words import numbers

PASSED = "✓"
FAILED = "✗"
WON = "▲"
LOST = "▼"
DASH = numbers.DASH

FATES: dict[str, str] = {
    Fate.HIT: "shown",
    Fate.THRESHOLD: "threshold",
    Fate.FILE_CAP: "file cap",
    Fate.LIMIT: "limit",
    Fate.CANDIDATES: "in neither list",
}
BadgeName = Literal[
    "local",
    "degraded",
    "synthetic",
    "mixed settings",
    "moved",
    "other words",
    "another model",
    "settings differ",
    "faulty settings",
    "trial",
]
_BADGES: dict[BadgeName, tuple[str, Literal["gray", "orange", "blue", "violet"], str, str]] = {
    "local": ("local", "gray", ":material/computer:", "This machine only; nobody is asked who they are."),
    "degraded": ("degraded", "orange", ":material/warning:", "Part of the search did not take part."),
    "synthetic": ("synthetic", "violet", ":material/science:", "Made by a bench or a demonstration."),
    "mixed settings": ("mixed settings", "orange", ":material/rule:", "Numbers under different rules."),
    "moved": (
        "repository has moved on",
        "orange",
        ":material/commit:",
        "There are commits that the index has not seen. Run: medir index",
    ),
    "other words": (
        "words made otherwise",
        "orange",
        ":material/translate:",
        "The words of the index are in another language than the project, or of another version. Run: medir index",
    ),
    "another model": (
        "numbers of another model",
        "orange",
        ":material/rule:",
        "The settings were chosen before the embedding model changed. Calibrate again, or adopt a preset.",
    ),
    "settings differ": (
        "settings differ",
        "orange",
        ":material/rule:",
        "The adopted numbers, which searches use, are not those of settings.yaml, which golden runs use.",
    ),
    "faulty settings": (
        "settings.yaml has faults",
        "orange",
        ":material/rule:",
        "Searches go on without the file; golden runs and calibrations refuse until it is mended.",
    ),
    "trial": ("trial", "blue", ":material/experiment:", "Numbers that are not in force."),
}


def draw_badge(name: BadgeName) -> None:
    """The small badge of a state, the same on every page."""
    label, colour, icon, told = _BADGES[name]
    st.badge(label, color=colour, icon=icon, help=told)


def theme() -> Theme:
    """The inks of the theme that the browser shows."""
    return DARK if st.context.theme.type == "dark" else LIGHT


def age(then: datetime, now: datetime) -> str:
    """How long ago, in the largest whole unit."""
    seconds = max(0, int((now - then).total_seconds()))
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= size:
            return f"{seconds // size} {unit} ago"
    return "just now"


def model_name(model_id: str | None) -> str:
    """A model as people name it: provider and name, without its digest."""
    if model_id is None:
        return "no vectors"
    model = EmbeddingModel.parse(model_id)
    return f"{model.provider}/{model.name}"
