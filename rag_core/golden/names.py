"""Names of places that are not there, and those that may have been meant. Pure."""

import difflib
import unicodedata
from collections.abc import Mapping
from collections.abc import Set as AbstractSet

from rag_core.golden.document import shown
from rag_core.model import Place, Scope
from rag_core.model.place_names import form_of, same_but_for_form

_MAX_SUGGESTIONS = 50
_SIMILARITY = 0.75


class Names:
    """The names that a place may have been meant to have, and a bounded number of guesses at them."""

    def __init__(self, indexed: Mapping[Place, Scope], in_repository: AbstractSet[str] | None) -> None:
        self._sessions = sorted(place.key for place in indexed if place.kind == "session")
        in_index = {place.key for place in indexed if place.kind == "file"}
        self._files = sorted(in_index if in_repository is None else in_repository)
        self._folded = {_fold(name): name for name in reversed(self._files)}
        self._by_base_name: dict[str, list[str]] = {}
        for name in self._files:
            self._by_base_name.setdefault(_fold(name).rpartition("/")[2], []).append(name)
        self._guesses = 0

    def suggest(self, place: Place) -> str:
        """The end of a sentence: `; did you mean …?`, or a full stop where no name is near."""
        name = self._nearest(place)
        if name is None:
            return "."
        meant = shown(f"session:{name}" if place.kind == "session" else name)
        if same_but_for_form(name, place.key):
            alike = sum(same_but_for_form(known, place.key) for known in self._files)
            others = "" if alike < 2 else f"; {alike} names differ from it in their Unicode form alone"
            return f"; it is written {form_of(place.key)}, and {meant} {form_of(name)}{others}."
        return f"; did you mean {meant}?"

    def _nearest(self, place: Place) -> str | None:
        folded = _fold(place.key)
        if place.kind == "file":
            if folded in self._folded:
                return self._folded[folded]
            moved = self._by_base_name.get(folded.rpartition("/")[2], [])
            if moved:
                # the file was moved, or its folder mistyped: of several, the path most like what was written
                return max(moved, key=lambda name: difflib.SequenceMatcher(None, name, place.key).ratio())
        if self._guesses == _MAX_SUGGESTIONS:
            return None
        self._guesses += 1
        known = self._sessions if place.kind == "session" else self._files
        close = difflib.get_close_matches(place.key, known, n=1, cutoff=_SIMILARITY)
        return close[0] if close else None


def _fold(path: str) -> str:
    """What spellings of one path share: Unicode form, case, slashes, a leading `./` or `/`."""
    text = unicodedata.normalize("NFC", path).casefold().replace("\\", "/")
    return text.removeprefix("./").lstrip("/")
