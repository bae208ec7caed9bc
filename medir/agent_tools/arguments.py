"""What a model may pass to the tools: their input schemas, and the check of what came.

The names are those of the HTTP API, and so is the reading of numbers and scopes. Clients differ in how they say
nothing: an optional argument may come as null, as an empty text, as the word for null, or as a list of those. Whether
a question, an id or a verdict will do is for the use case to say, so that its refusal reads the same on every surface;
here it is only told in the schema.
"""

import json
from collections.abc import Mapping
from typing import Annotated, TypeVar

from pydantic import (
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)
from pydantic.alias_generators import to_camel

from medir.contract.asked import Limit, ScopeNames, chosen_scopes
from rag_core.errors import InvalidInput
from rag_core.model import Scope
from rag_core.model.limits import MAX_QUESTION_CHARS

_MOST_DIGITS = 20
_NOTHING = frozenset({"", "null", "none", "undefined"})


def _as_list(value: object) -> object:
    """Some clients send a list as its JSON text, or a lone value for a list of one."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return value
    if isinstance(value, list):
        return [entry for entry in value if not _is_nothing(entry)]
    return [value] if isinstance(value, str) else value


def _as_number(value: object) -> object:
    """Some clients send a number as its text."""
    if isinstance(value, str) and value.strip().isdecimal() and len(value) < _MOST_DIGITS:
        return int(value)
    return value


def _says_nothing(value: object) -> bool:
    if isinstance(value, list):
        return all(map(_is_nothing, value))
    return _is_nothing(value)


def _is_nothing(value: object) -> bool:
    return value is None or (isinstance(value, str) and value.strip().lower() in _NOTHING)


class _Arguments(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _leave_out(cls, given: object) -> object:
        """Without the optional arguments that say nothing."""
        if not isinstance(given, Mapping):
            return given
        optional = {name for name, field in cls.model_fields.items() if not field.is_required()}
        return {
            name: value for name, value in given.items() if name not in optional or not _says_nothing(value)
        }


class SearchArguments(_Arguments):
    """Arguments of `rag_search`."""

    query: str = Field(
        # the word for it in answers and tables is taken too
        validation_alias=AliasChoices("query", "question"),
        description=(
            "One whole question, in the language of the project's documents and with the words they would use."
        ),
        json_schema_extra={"minLength": 1, "maxLength": MAX_QUESTION_CHARS},
    )
    scopes: Annotated[ScopeNames, BeforeValidator(_as_list)] | None = Field(
        default=None,
        description=(
            "Where to look: docs (documentation), adr (architecture decision records), session (past "
            "conversations). Left out or empty: everywhere."
        ),
    )
    limit: Annotated[Limit, BeforeValidator(_as_number)] | None = Field(
        default=None,
        description="At most how many passages. Left out: as many as the project's settings say.",
    )

    @property
    def chosen_scopes(self) -> tuple[Scope, ...]:
        """The scopes in their order, all of them where none was named."""
        return chosen_scopes(self.scopes)


class FeedbackArguments(_Arguments):
    """Arguments of `rag_feedback`."""

    search_id: str = Field(description="The searchId that rag_search returned.")
    chunk_id: str = Field(description="The chunkId of a passage of that search.")
    verdict: str = Field(
        description="util: the passage helped to answer. irrelevante: it did not.",
        json_schema_extra={"enum": ["util", "irrelevante"]},
    )


Arguments = TypeVar("Arguments", bound=_Arguments)


def read_arguments(model: type[Arguments], given: Mapping[str, object]) -> Arguments:
    """The arguments as the tool takes them.

    Raises:
        InvalidInput: One is missing, unknown or of another type; names the first such.
    """
    try:
        return model.model_validate(given)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_context=False, include_input=False)[0]
    field = ".".join(str(part) for part in fault["loc"]) or "arguments"
    known = ", ".join(model.model_json_schema()["properties"])
    raise InvalidInput(
        f"The argument {field[:80]!r} won't do: {fault['msg']}.",
        hint=f"The arguments are {known}.",
        where={"field": field[:80]},
    )
