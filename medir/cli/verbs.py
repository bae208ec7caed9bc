"""The verbs by name, each loaded when it is asked for: none waits for what only another one needs."""

from collections.abc import Iterator, Mapping, MutableMapping
from importlib import import_module

import click


class Verbs(MutableMapping[str, click.Command]):
    """Commands of a click group, to be passed as its `commands`.

    `places` says where each verb is to be found, as `module:name`.
    """

    def __init__(self, places: Mapping[str, str]) -> None:
        self._places = dict(places)
        self._loaded: dict[str, click.Command] = {}

    def __getitem__(self, name: str) -> click.Command:
        """The verb, loaded by the first call."""
        if name not in self._loaded:
            module, attribute = self._places[name].split(":")
            self._loaded[name] = getattr(import_module(module), attribute)
        return self._loaded[name]

    def __setitem__(self, name: str, command: click.Command) -> None:
        """Add a verb that is loaded already."""
        self._places[name] = ""
        self._loaded[name] = command

    def __delitem__(self, name: str) -> None:
        """Take a verb out."""
        del self._places[name]
        self._loaded.pop(name, None)

    def __contains__(self, name: object) -> bool:
        """Whether there is a verb of that name; loads none."""
        return name in self._places

    def __iter__(self) -> Iterator[str]:
        """The verbs' names; loads none."""
        return iter(self._places)

    def __len__(self) -> int:
        """How many verbs there are."""
        return len(self._places)
