"""What a program may choose of a search, as the HTTP API and the agent tools read it: scopes and limit, in one way."""

from typing import Annotated

from pydantic import BeforeValidator, Field

from medir.contract.hits import ScopeName
from rag_core.model import ALL_SCOPES, Scope
from rag_core.model.limits import MAX_LIMIT


def whole_number(value: object) -> object:
    """JSON knows one sort of number: 5.0 is the integer 5."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


ScopeNames = Annotated[list[ScopeName], Field(max_length=len(ALL_SCOPES))]
# true is no number, though Python counts with it
Limit = Annotated[int, Field(ge=1, le=MAX_LIMIT, strict=True), BeforeValidator(whole_number)]


def chosen_scopes(named: list[ScopeName] | None) -> tuple[Scope, ...]:
    """The scopes in their order, all of them where none was named."""
    return tuple(scope for scope in ALL_SCOPES if not named or scope in named)
