"""Which stretch of time the report is of: a relative window, or times that somebody fixed.

The address says what was chosen: `last=30d` stays relative, however often it is opened, and absolute times stand
there once a person has fixed them. What has no end of its own ends at the next full minute, so that the page can keep
what it read until then.
"""

from datetime import datetime
from zoneinfo import ZoneInfo

import streamlit as st

from medir.page_kit.address import Parameter, refuse
from medir.page_kit.services import workbench
from rag_core.errors import InvalidInput, MedirError
from rag_core.model import Window
from rag_core.report.window import make_window, parse_time, parse_zone

LENGTHS = {"1d": "a day", "7d": "7 days", "30d": "30 days", "90d": "90 days"}
_DEFAULT = "30d"
_FIXED = "fixed"
_PICKER = "report-length"


def _time(text: str) -> str | None:
    try:
        return parse_time(text, name="time").isoformat()
    except InvalidInput:
        return None


def _zone(text: str) -> str | None:
    try:
        return parse_zone(text)
    except InvalidInput:
        return None


def _stamp(time: str) -> str | None:
    return time.replace("+00:00", "Z") or None


FROM: Parameter[str] = Parameter("from", "", _time, _stamp)
TO: Parameter[str] = Parameter("to", "", _time, _stamp)
LAST: Parameter[str] = Parameter(
    "last",
    _DEFAULT,
    lambda text: text if text in LENGTHS else None,
    lambda last: None if _is_fixed() else last,
)
ZONE: Parameter[str] = Parameter(
    "tz", "", _zone, lambda _: None if _zone_in_view() == "UTC" else _zone_in_view()
)
TIMES = (FROM, TO, LAST, ZONE)


def window_in_view() -> Window:
    """The window that is chosen; a pair of times that makes none is said and replaced by the default."""
    now, zone = _next_minute(workbench().services.clock.now()), _zone_in_view()
    if _is_fixed():
        try:
            return make_window(now, start=FROM.read() or None, end=TO.read() or None, zone=zone)
        except MedirError:
            refuse(FROM, FROM.read())
            refuse(TO, TO.read())
    return make_window(now, since=LAST.read(), zone=zone)


def draw_window(window: Window) -> None:
    """The picker of relative windows, and the times in view in words."""
    fixed = _is_fixed()
    st.session_state[_PICKER] = _FIXED if fixed else LAST.read()

    def take() -> None:
        picked = st.session_state[_PICKER]
        fixes = picked == _FIXED
        FROM.choose(window.start.isoformat() if fixes else "")
        TO.choose(window.end.isoformat() if fixes else "")
        if not fixes:
            LAST.choose(picked)

    st.segmented_control(
        "The last",
        [*LENGTHS, _FIXED],
        key=_PICKER,
        required=True,
        on_change=take,
        format_func=lambda length: LENGTHS.get(length, "as in the address" if fixed else "fix these times"),
        label_visibility="collapsed",
        help="Counted back from now, in a shared link too. Fix the times to share these very searches.",
    )
    zone = ZoneInfo(window.zone)
    start, end = window.start.astimezone(zone), window.end.astimezone(zone)
    st.caption(f"{start:%d %b %Y %H:%M} to {end:%d %b %Y %H:%M}, {window.zone}")


def _is_fixed() -> bool:
    return bool(FROM.read() or TO.read())


def _next_minute(now: datetime) -> datetime:
    minutes = -(-int(now.timestamp() * 1_000_000) // 60_000_000)
    return datetime.fromtimestamp(minutes * 60, tz=now.tzinfo)


def _zone_in_view() -> str:
    return ZONE.read() or _zone(st.context.timezone or "") or "UTC"
