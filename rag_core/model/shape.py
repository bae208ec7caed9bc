"""JSON from typed values: a shape is a frozen dataclass whose fields, in camel case, are an object's keys. Pure.

A field with a default is left out of the JSON where it has that default, as a number that plays no part; every other
key is always there, null too.
What documents an API or checks a document reads the same fields through pydantic, which this module does not load.
"""

import functools
from collections.abc import Mapping
from dataclasses import fields
from datetime import datetime
from enum import Enum
from typing import TYPE_CHECKING, Any, Protocol, Self, runtime_checkable

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler
    from pydantic_core import CoreSchema


def camel(name: str) -> str:
    """A field's key.

    Examples:
        >>> camel("heading_path"), camel("from_")
        ('headingPath', 'from')
    """
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


class Shape:
    """A JSON object. The docstrings of a shape and of its fields are what its readers are told."""

    __slots__ = ()
    __pydantic_config__ = {"alias_generator": camel, "use_attribute_docstrings": True}  # noqa: RUF012

    @classmethod
    def drawn(cls, *values: object, **given: Any) -> Self:
        """From what is given, and for the rest from the first value that has an attribute of the field's name.

        Enums are taken as their words, times as ISO 8601.
        """
        found = {
            name: _word(getattr(value, name))
            for value in reversed(values)
            for name, _, _ in _keys(cls)
            if name not in given and hasattr(value, name)
        }
        return cls(**found, **given)

    @classmethod
    def read(cls, told: Mapping[str, Any], **given: Any) -> Self:
        """The inverse of `to_json` where its values are plain, or lists of such; what is missing has its default."""
        found = {
            name: tuple(told[key]) if isinstance(told[key], list) else told[key]
            for name, key, _ in _keys(cls)
            if name not in given and key in told
        }
        return cls(**found, **given)

    def to_json(self) -> dict[str, object]:
        """The object, its keys in the order of the fields."""
        return {
            key: _plain(value)
            for name, key, default in _keys(type(self))
            if (value := getattr(self, name)) is not default
        }


def keyed(value: object, *names: str) -> dict[str, object]:
    """Some attributes of a value as a part of a JSON object, for one that also has what JSON has not."""
    return {camel(name): _plain(getattr(value, name)) for name in names}


class ByKind:
    """Beside a union of shapes in `Annotated`: `kind` tells them apart."""

    def __get_pydantic_core_schema__(self, source: object, handler: "GetCoreSchemaHandler") -> "CoreSchema":
        from pydantic import Discriminator  # noqa: PLC0415  for those alone who have loaded it

        return Discriminator("kind").__get_pydantic_core_schema__(source, handler)


@runtime_checkable
class _Told(Protocol):
    def to_json(self) -> object: ...


@functools.cache
def _keys(kind: type[Shape]) -> tuple[tuple[str, str, object], ...]:
    return tuple((field.name, camel(field.name), field.default) for field in fields(kind))  # pyright: ignore[reportArgumentType]


def _word(value: object) -> object:
    if isinstance(value, Enum):
        return value.value
    return value.isoformat() if isinstance(value, datetime) else value


def _plain(value: object) -> object:
    if isinstance(value, _Told):
        return value.to_json()
    if isinstance(value, tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, Mapping):
        return {key: _plain(entry) for key, entry in value.items()}
    return _word(value)
