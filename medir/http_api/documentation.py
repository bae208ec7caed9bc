"""The OpenAPI document: what FastAPI makes of the routes, with this API's own errors, headers and examples."""

from collections.abc import Mapping
from typing import Any, cast

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.responses import JSONResponse
from pydantic import TypeAdapter

from medir.contract.problems import ProblemDocument
from medir.http_api.bounds import REQUEST_ID
from medir.http_api.problems import MEDIA_TYPE, PROBLEMS
from rag_core.model.shape import Shape

_SUMMARY = """\
Hybrid search over a project's documents and sessions, votes on what it found, its index and its report.

Errors are `application/problem+json` (RFC 9457); each `type` can be read at its address. A body has at most 64 kB, a
question 2,000 characters, and an answer comes within 30 seconds.
"""
# what any request may meet, whatever it asks for
ANYWHERE = ("invalid-request", "cross-origin", "fault", "overloaded", "timeout")
SIGNED_IN = (
    *ANYWHERE,
    "token-in-query",
    "not-signed-in",
    "not-permitted",
    "database-unavailable",
    "unavailable",
)
WITH_BODY = ("slow-body", "body-too-large", "not-json")

Responses = dict[int | str, dict[str, Any]]


def answers(
    status: int, model: type[Shape], told: str, *problems: str, example: Shape | None = None
) -> Responses:
    """A route's responses: the good one, and the problems that it may meet by name."""
    good: dict[str, Any] = {"model": model, "description": told}
    if example is not None:
        good["content"] = {"application/json": {"example": example.to_json()}}
    return {status: good} | _problems(problems)


def told(answer: Shape, *, status: int = 200, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """The answer, written as its shape says."""
    return JSONResponse(answer.to_json(), status_code=status, headers=headers)


def document(api: FastAPI) -> dict[str, Any]:
    """The API's document, made once."""
    if api.openapi_schema is None:
        made = get_openapi(
            title=api.title, version=api.version, summary=api.summary, description=_SUMMARY, routes=api.routes
        )
        schemas = made["components"]["schemas"]
        for name in ("HTTPValidationError", "ValidationError"):
            schemas.pop(name, None)
        schemas["Problem"] = TypeAdapter(ProblemDocument).json_schema(mode="serialization") | {
            "title": "Problem"
        }
        for path in cast("Mapping[str, Mapping[str, Any]]", made["paths"]).values():
            for operation in path.values():
                _finish(operation)
        api.openapi_schema = made
    return api.openapi_schema


def _problems(names: tuple[str, ...]) -> Responses:
    found: Responses = {}
    for status in sorted({PROBLEMS[name].status for name in names}):
        kinds = {name: PROBLEMS[name] for name in names if PROBLEMS[name].status == status}
        found[status] = {
            "description": "; ".join(kind.title for kind in kinds.values()),
            "content": {
                MEDIA_TYPE: {
                    "schema": {"$ref": "#/components/schemas/Problem"},
                    "examples": {
                        name: {
                            "value": {
                                "type": kind.type,
                                "title": kind.title,
                                "status": kind.status,
                                "detail": kind.meaning,
                                "hint": "",
                                "requestId": "5f0c2a9f7d4e4b6f8a1d3c5b7e9f1a2b",
                            }
                        }
                        for name, kind in kinds.items()
                    },
                }
            },
        }
    return found


def _finish(operation: dict[str, Any]) -> None:
    # this API answers 400 where FastAPI documents 422
    operation["responses"].pop("422", None)
    for status, response in operation["responses"].items():
        headers: dict[str, Any] = {
            REQUEST_ID: {"description": "Given or made; stands in the log.", "schema": {"type": "string"}}
        }
        if status in ("409", "503"):
            headers["Retry-After"] = {
                "description": "Seconds; where trying again can help.",
                "schema": {"type": "integer"},
            }
        response["headers"] = headers
