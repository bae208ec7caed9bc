"""What a person chose: read from the address once, owned by the session, and written back to the address.

A widget's own state is lost when its page is left, so a choice lives under a key of its own and the widget
mirrors it. A value in the address that can't be meant is said and replaced by the default. When the address
changes without us (a link, the browser's back button), what it says is taken over, and where it is silent on
what it said before, the default. An address that leads to another page and says nothing asks for nothing: there
all is as it was left.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar
from uuid import UUID

import streamlit as st

T = TypeVar("T")
Key = str

_EVERYWHERE = "address-everywhere"
_NAMES = "address-everywhere-names"
_SETTLED = "address-settled"
_PAGE = "address-page"
_WRITTEN = "address-written"
_CARRIED = "address-carried"
_TOUCHED = "address-touched"
_NOTICES = "address-notices"
_PREFIX = "chosen-"
_MOST_TOLD = 8


@dataclass(frozen=True, slots=True)
class Parameter(Generic[T]):
    """One choice. `parse` gives None for text that can't be meant; `show` None for what needs no mention."""

    name: str
    default: T
    parse: Callable[[str], T | None]
    show: Callable[[T], str | None]

    def read(self) -> T:
        """What is chosen now."""
        key = _PREFIX + self.name
        text = st.query_params.get(self.name)
        written: dict[str, str] = st.session_state.setdefault(_WRITTEN, {})
        # what was chosen in this run is stronger than the address, which still says what was chosen before
        moved = text != written.get(self.name) and not st.session_state.get(_TOUCHED)
        if moved or key not in st.session_state:
            st.session_state[key] = self._taken(text)
            if text is None:
                written.pop(self.name, None)
            else:
                written[self.name] = text
        return st.session_state[key]

    def choose(self, value: T) -> None:
        """Choose, from a callback or a page."""
        st.session_state[_PREFIX + self.name] = value
        st.session_state[_TOUCHED] = True

    def take_over(self, value: T) -> None:
        """Choose what the address means without saying so: what else it says still counts in this run."""
        self.read()
        st.session_state[_PREFIX + self.name] = value

    def mirror(self, widget: str, *, stand_in: T | None = None) -> Callable[[], None]:
        """Bring a widget to what is chosen, before it is drawn; returns what its `on_change` must call.

        `stand_in` is what the widget shows for the default, where that is "as it is in force".
        """
        value = self.read()
        st.session_state[widget] = stand_in if value == self.default and stand_in is not None else value

        def take() -> None:
            picked = st.session_state[widget]
            self.choose(self.default if stand_in is not None and picked == stand_in else picked)

        return take

    def shown(self) -> str | None:
        """The choice as the address is about to show it; None where it is not mentioned."""
        text = self.show(self.read())
        written: dict[str, str] = st.session_state.setdefault(_WRITTEN, {})
        if text is None:
            written.pop(self.name, None)
        else:
            written[self.name] = text
        return text

    def _taken(self, text: str | None) -> T:
        if text is None:
            return self.default
        value = self.parse(text)
        if value is None:
            _note(self.name, text)
            return self.default
        return value


def enter(page: str) -> None:
    """At the start of a run: note which page it is of, so that coming to a page differs from going back on it."""
    if st.session_state.get(_PAGE) != page:
        st.session_state[_PAGE] = page
        st.session_state[_CARRIED] = st.session_state.get(_WRITTEN, {})
        st.session_state[_WRITTEN] = {}


def refuse(parameter: Parameter[T], value: object) -> T:
    """What was chosen is not there (any more): say so, and go back to the default."""
    _note(parameter.name, str(value))
    parameter.take_over(parameter.default)
    return parameter.default


def _note(name: str, asked: str) -> None:
    notices: list[str] = st.session_state.setdefault(_NOTICES, [])
    notices.append(f"The address asks for {name[:40]} = {asked[:80]}, which is not known here.")


class _Shown(Protocol):
    @property
    def name(self) -> str: ...

    def shown(self) -> str | None: ...


def hold(*parameters: _Shown) -> None:
    """The choices that every page has: they are written with the page's own."""
    st.session_state[_NAMES] = tuple(parameter.name for parameter in parameters)
    st.session_state[_EVERYWHERE] = _texts(parameters)
    st.session_state[_SETTLED] = False


def settle(*parameters: _Shown) -> None:
    """At the end of a run: write the page's choices into the address; what is none of them is said and dropped.

    All at once, so that one step back undoes all that one click chose.
    """
    known = {*st.session_state.get(_NAMES, ()), *(parameter.name for parameter in parameters)}
    # what was written for the page before may still stand there: nobody asks this page for it
    carried = st.session_state.get(_CARRIED, {})
    for name, asked in st.query_params.to_dict().items():
        if name not in known and carried.get(name) != asked:
            _note(name, asked)
    _write(st.session_state.get(_EVERYWHERE, {}) | _texts(parameters))
    st.session_state[_SETTLED] = True
    st.session_state[_TOUCHED] = False


def settle_rest() -> None:
    """After a page that could not come to its end: the choices that every page has, and the others as they were."""
    if not st.session_state.get(_SETTLED, True):
        _write(st.query_params.to_dict() | st.session_state[_EVERYWHERE])


def _texts(parameters: Iterable[_Shown]) -> dict[str, str]:
    shown = {parameter.name: parameter.shown() for parameter in parameters}
    return {name: text for name, text in shown.items() if text is not None}


def _write(wanted: dict[str, str]) -> None:
    if st.query_params.to_dict() != wanted:
        st.query_params.from_dict(wanted)


def draw_notices() -> None:
    """Say what the address asked for in vain; once."""
    notices = st.session_state.pop(_NOTICES, [])
    if not notices:
        return
    st.warning("Part of this address is not known", icon=":material/link_off:")
    for notice in notices[:_MOST_TOLD]:
        st.text(notice)
    if len(notices) > _MOST_TOLD:
        st.text(f"So it is with {len(notices) - _MOST_TOLD} more.")


def text_parameter(name: str, default: str = "", *, at_most: int = 2000) -> Parameter[str]:
    """Free text, cut at a length nobody would type."""
    return Parameter(name, default, lambda text: text[:at_most], lambda value: value or None)


def id_parameter(name: str) -> Parameter[str]:
    """The id of a search; empty for none."""

    def parse(text: str) -> str | None:
        try:
            return str(UUID(text))
        except ValueError:
            return None

    return Parameter(name, "", parse, lambda value: value or None)


def choice_parameter(name: str, options: tuple[str, ...]) -> Parameter[str]:
    """One of some words; the first is the default and is not shown."""
    return Parameter(
        name,
        options[0],
        lambda text: text if text in options else None,
        lambda value: None if value == options[0] else value,
    )


def number_parameter(name: str, low: float, high: float) -> Parameter[float | None]:
    """A number between two others; None, the default, leaves it as it is."""

    def parse(text: str) -> float | None:
        try:
            value = float(text)
        except ValueError:
            return None
        return value if low <= value <= high else None

    return Parameter(name, None, parse, lambda value: None if value is None else f"{value:g}")
