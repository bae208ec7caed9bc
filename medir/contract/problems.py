"""What the HTTP API says of itself and of what went wrong."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from rag_core.model.shape import Shape


@dataclass(frozen=True, slots=True, kw_only=True)
class Status(Shape):
    """A state in a word."""

    status: Annotated[str, Field(examples=["ok"])]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemDocument(Shape):
    """An error, as in RFC 9457. `hint` says what to do; `type` is an address where its meaning can be read."""

    type: Annotated[str, Field(examples=["/api/problems/votes-at-risk"])]
    title: Annotated[str, Field(examples=["Votes would be lost"])]
    status: Annotated[int, Field(examples=[409])]
    detail: Annotated[str, Field(examples=["This run would delete 3 votes."])]
    hint: Annotated[
        str, Field(examples=["Send confirmVotesLost: true to lose them, or leave the index as it is."])
    ]
    request_id: Annotated[str, Field(examples=["5f0c2a9f7d4e4b6f8a1d3c5b7e9f1a2b"])]
    code: str | None = None
    """The core's name of the error."""
    where: Mapping[str, str | int] | None = None
    """The place in the request."""
    votes: int | None = None
    """How many votes would be lost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemMeaning(Shape):
    """What a `type` means."""

    type: str
    title: str
    status: int
    meaning: str
