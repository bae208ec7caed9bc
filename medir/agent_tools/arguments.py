"""What a model may pass to the tools: their input schemas, and the check of what came.

The names are those of the HTTP API. Whether a question, an id or a verdict will do is for the use case to say, so
that its refusal reads the same on every surface; here it is only told in the schema.
"""

import json
from collections.abc import Mapping
from typing import Annotated, Literal, TypeVar

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from rag_core.errors import InvalidInput
from rag_core.model import ALL_SCOPES, Scope
from rag_core.search import MAX_QUESTION_CHARS

MAX_LIMIT = 50


def _as_list(value: object) -> object:
    """Some clients send a list as its JSON text, or a lone value for a list of one."""
    if not isinstance(value, str):
        return value
    if value.lstrip().startswith("["):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return [value]


class _Arguments(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, extra="forbid")


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
    scopes: Annotated[list[Literal["docs", "adr", "session"]] | None, BeforeValidator(_as_list)] = Field(
        default=None,
        description=(
            "Where to look: docs (documentation), adr (architecture decision records), session (past "
            "conversations). Left out: everywhere."
        ),
    )
    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT)] | None = Field(
        default=None,
        description="At most how many passages. Left out: as many as the project's settings say.",
    )

    @property
    def chosen_scopes(self) -> tuple[Scope, ...]:
        """The scopes in their order, all of them where none was named."""
        return tuple(scope for scope in ALL_SCOPES if not self.scopes or scope in self.scopes)


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
