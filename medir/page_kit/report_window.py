"""Which stretch of time the report is of: absolute times in the address, a relative window on offer.

A relative window ends at the next full minute, so that the page can keep what it read until then. The address
always says the absolute times: a link that is passed on shows the same searches to whoever opens it.
"""

from datetime import datetime
from zoneinfo import ZoneInfo

import streamlit as st

from medir.page_kit.address import Parameter, refuse
from medir.page_kit.services import workbench
from rag_core.errors import InvalidInput, MedirError
from rag_core.report.window import Window, make_window, parse_time, parse_zone

LENGTHS = {"1d": "a day", "7d": "7 days", "30d": "30 days", "90d": "90 days"}
_DEFAULT = "30d"
_FIXED = "fixed"
_SHOWN = "report-window"
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


def _shown(end: str) -> str | None:
    window: Window | None = st.session_state.get(_SHOWN)
    return None if window is None else getattr(window, end).isoformat().replace("+00:00", "Z")


FROM: Parameter[str] = Parameter("from", "", _time, lambda value: _shown("start") or value or None)
TO: Parameter[str] = Parameter("to", "", _time, lambda value: _shown("end") or value or None)
# once it has been taken, the times say it
LAST: Parameter[str] = Parameter(
    "last", _DEFAULT, lambda text: text if text in LENGTHS else None, lambda _: None
)
ZONE: Parameter[str] = Parameter(
    "tz", "", _zone, lambda _: None if _zone_in_view() == "UTC" else _zone_in_view()
)
TIMES = (FROM, TO, LAST, ZONE)


def window_in_view() -> Window:
    """The window that is chosen; a pair of times that makes none is said and replaced by the default."""
    now = workbench().services.clock.now()
    zone = _zone_in_view()
    window = None
    if FROM.read() or TO.read():
        try:
            window = make_window(now, start=FROM.read() or None, end=TO.read() or None, zone=zone)
        except MedirError:
            refuse(FROM, FROM.read())
            refuse(TO, TO.read())
    if window is None:
        minutes = -(-int(now.timestamp() * 1_000_000) // 60_000_000)
        ends = datetime.fromtimestamp(minutes * 60, tz=now.tzinfo)
        window = make_window(ends, since=LAST.read(), zone=zone)
    st.session_state[_SHOWN] = window
    return window


def draw_window(window: Window) -> None:
    """The picker of relative windows, and the times in view in words."""
    fixed = bool(FROM.read() or TO.read())
    st.session_state[_PICKER] = _FIXED if fixed else LAST.read()
    st.segmented_control(
        "The last",
        [*LENGTHS, *([_FIXED] if fixed else [])],
        key=_PICKER,
        required=True,
        on_change=_take,
        format_func=lambda length: LENGTHS.get(length, "as in the address"),
        label_visibility="collapsed",
        help="Counted back from now. The address holds the times themselves.",
    )
    zone = ZoneInfo(window.zone)
    start, end = window.start.astimezone(zone), window.end.astimezone(zone)
    st.caption(f"{start:%d %b %Y %H:%M} to {end:%d %b %Y %H:%M}, {window.zone}")


def _take() -> None:
    picked = st.session_state[_PICKER]
    if picked != _FIXED:
        LAST.choose(picked)
        FROM.choose("")
        TO.choose("")


def _zone_in_view() -> str:
    return ZONE.read() or _zone(st.context.timezone or "") or "UTC"
