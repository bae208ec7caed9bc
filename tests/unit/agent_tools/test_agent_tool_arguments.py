"""Arguments of the agent tools as clients send them, beside the same of the HTTP API."""

import pytest
from pydantic import ValidationError

from medir.agent_tools.arguments import FeedbackArguments, SearchArguments, read_arguments
from medir.agent_tools.schemas import input_schema, output_schema
from medir.contract.passages import SearchOutput
from medir.http_api.questions import SearchRequest
from rag_core.errors import InvalidInput
from rag_core.model import ALL_SCOPES, Scope
from rag_core.search.votes import Vote


def asked(**arguments: object) -> SearchArguments:
    return read_arguments(SearchArguments, {"query": "prazo?", **arguments})


@pytest.mark.parametrize(
    "nothing", [None, "", " ", "null", "NULL", "None", "undefined", [], ["null"], [None, ""]]
)
def test_what_clients_send_for_nothing_is_left_out(nothing: object) -> None:
    found = asked(scopes=nothing, limit=nothing)
    assert (found.chosen_scopes, found.limit) == (ALL_SCOPES, None)


def test_a_question_may_be_the_word_for_nothing() -> None:
    assert read_arguments(SearchArguments, {"query": "null"}).query == "null"


@pytest.mark.parametrize("scopes", ["adr", '["adr"]', ["adr", "null"], ["adr"]])
def test_a_list_may_come_as_its_text_as_its_only_entry_or_with_nothing_among_its_entries(
    scopes: object,
) -> None:
    assert asked(scopes=scopes).chosen_scopes == (Scope.ADR,)


@pytest.mark.parametrize(
    "arguments", [{"scopes": True}, {"scopes": {}}, {"scopes": "[" * 30_000}, {"limit": "true"}]
)
def test_what_is_neither_is_refused(arguments: dict[str, object]) -> None:
    with pytest.raises(InvalidInput, match="won't do"):
        asked(**arguments)


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        ({"limit": True}, None),
        ({"limit": False}, None),
        ({"limit": 0}, None),
        ({"limit": 51}, None),
        ({"limit": 2.5}, None),
        ({"limit": 5.0}, (ALL_SCOPES, 5)),
        ({"limit": 5}, (ALL_SCOPES, 5)),
        ({"scopes": []}, (ALL_SCOPES, None)),
        ({"scopes": None}, (ALL_SCOPES, None)),
        ({"scopes": ["docs", "docs", "adr", "adr"]}, None),
        ({"scopes": ["adr", "docs"]}, ((Scope.DOCS, Scope.ADR), None)),
        ({"scopes": ["code"]}, None),
    ],
)
def test_limit_and_scopes_are_read_as_over_http(
    sent: dict[str, object], read: tuple[tuple[Scope, ...], int | None] | None
) -> None:
    if read is None:
        with pytest.raises(InvalidInput):
            asked(**sent)
        with pytest.raises(ValidationError):
            SearchRequest.model_validate({"query": "prazo?", **sent})
    else:
        tool, http = asked(**sent), SearchRequest.model_validate({"query": "prazo?", **sent})
        assert (tool.chosen_scopes, tool.limit) == (http.chosen_scopes, http.limit) == read


def test_the_schemas_hold_plain_types() -> None:
    search = input_schema(SearchArguments)
    assert search["required"] == ["query"]
    properties = search["properties"]
    assert isinstance(properties, dict)
    assert {name: entry["type"] for name, entry in properties.items()} == {
        "query": "string",
        "scopes": "array",
        "limit": "integer",
    }
    assert (properties["limit"]["minimum"], properties["limit"]["maximum"]) == (1, 50)
    for schema in (search, input_schema(FeedbackArguments)):
        assert not {"anyOf", "oneOf", "default", "null", "$ref"} & set(words(schema))
    for schema in (output_schema(SearchOutput), output_schema(Vote)):
        assert not {"anyOf", "oneOf", "default"} & set(words(schema))


def words(value: object) -> list[str]:
    """Every key and every text in a document."""
    if isinstance(value, dict):
        return [*value, *(word for entry in value.values() for word in words(entry))]
    if isinstance(value, list):
        return [word for entry in value for word in words(entry)]
    return [value] if isinstance(value, str) else []
