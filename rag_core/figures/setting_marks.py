"""Settings as marks in the pictures of a calibration: one sign a role, the same in every figure."""

from dataclasses import dataclass
from typing import Literal

from rag_core.figures.palette import BASELINE, GOOD, Theme

# below the axis, where a narrow page has room for more lines of it
LEGEND: dict[str, object] = {
    "orientation": "h",
    "x": 0,
    "xanchor": "left",
    "y": -0.24,
    "yanchor": "top",
    "yref": "paper",
}
MarkRole = Literal["at hand", "today", "baseline", "proposal"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingMark:
    """One setting: its role, the name it is called by, its weight and threshold, and what it reaches.

    `threshold` is None for none. `value` is None where it is not measured. `on_map` says whether the setting lies in
    the plane that a map shows, so that only weight and threshold tell it from the others there.
    """

    role: MarkRole
    name: str
    weight: float
    threshold: float | None
    value: float | None
    on_map: bool = True


def marker_of(role: MarkRole, theme: Theme) -> dict[str, object]:
    """Shape, size and inks of a role; told apart without colour too."""
    colours: dict[MarkRole, str] = {
        "at hand": theme.ink,
        "today": theme.ink,
        "baseline": BASELINE,
        "proposal": GOOD,
    }
    symbols: dict[MarkRole, str] = {
        "at hand": "circle",
        "today": "circle-open",
        "baseline": "square-open",
        "proposal": "diamond",
    }
    sizes: dict[MarkRole, int] = {"at hand": 12, "today": 17, "baseline": 13, "proposal": 13}
    return {
        "symbol": symbols[role],
        "size": sizes[role],
        "color": colours[role],
        "line": {"width": 2, "color": colours[role] if symbols[role].endswith("open") else theme.paper},
    }
