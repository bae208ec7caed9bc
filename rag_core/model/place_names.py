"""Places by their names, whatever Unicode form those are written in. Pure.

A file system may keep `operação.md` in decomposed form, and a keyboard writes it composed: they look the same, and are
not the same bytes. Where only one place can be meant, it is.
"""

import unicodedata
from collections.abc import Iterable

from rag_core.model.words import Place


class PlaceNames:
    """The places that there are, found by name."""

    def __init__(self, places: Iterable[Place]) -> None:
        self._places = frozenset(places)
        self._by_form: dict[Place, list[Place]] = {}
        for place in self._places:
            if not place.key.isascii():
                self._by_form.setdefault(composed(place), []).append(place)

    def meant(self, place: Place) -> Place:
        """The place of exactly that name, else the only one that differs in its Unicode form alone, else as given."""
        if place in self._places or place.key.isascii():
            return place
        alike = self._by_form.get(composed(place), [])
        return alike[0] if len(alike) == 1 else place


def composed(place: Place) -> Place:
    """The place with its name in composed form, by which names are compared."""
    return Place(place.kind, unicodedata.normalize("NFC", place.key))


def same_but_for_form(one: str, other: str) -> bool:
    """Whether two names look the same, and are not."""
    return one != other and unicodedata.normalize("NFC", one) == unicodedata.normalize("NFC", other)


def form_of(name: str) -> str:
    r"""The Unicode form of a name, in words.

    Examples:
        >>> form_of("ação"), form_of("ac\u0327a\u0303o")
        ('composed (NFC)', 'decomposed (NFD)')
    """
    if unicodedata.is_normalized("NFC", name):
        return "composed (NFC)"
    return "decomposed (NFD)" if unicodedata.is_normalized("NFD", name) else "of mixed form"


def forms_of(text: str) -> list[str]:
    """The text as it is, composed and decomposed: for what is to be found in any of them."""
    return sorted({text, unicodedata.normalize("NFC", text), unicodedata.normalize("NFD", text)})
