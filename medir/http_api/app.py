"""The FastAPI application, to be mounted at `/api`."""

from typing import Any

from fastapi import Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from medir.configuration import Configuration
from medir.http_api.bounds import MAX_AT_ONCE, MAX_SECONDS, Bounds
from medir.http_api.desk import Desk
from medir.http_api.documentation import document
from medir.http_api.gate import ApiDoor
from medir.http_api.heads import Heads
from medir.http_api.parameters import check_parameters
from medir.http_api.problems import Problem
from medir.http_api.routes_index import index_routes
from medir.http_api.routes_questions import question_routes
from medir.http_api.routes_reading import reading_routes
from medir.http_api.routes_state import state_routes
from rag_core.errors import MedirError


def make_api(
    configuration: Configuration, *, seconds: float = MAX_SECONDS, at_once: int = MAX_AT_ONCE
) -> FastAPI:
    """The API over an installation, which is opened by the first request that needs it.

    `seconds` is how long a request may take, `at_once` how many may be answered at once.
    """
    # pages that explain an API load their scripts from elsewhere, so there are none
    api = FastAPI(
        title="Medir",
        version="1",
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,
        summary="Search and votes",
        dependencies=[Depends(check_parameters)],
    )
    desk = Desk(configuration)
    # the last added is the outermost
    api.add_middleware(Heads)
    api.add_middleware(ApiDoor, desk=desk)
    api.add_middleware(Bounds, seconds=seconds, at_once=at_once)
    for routes in (question_routes, index_routes, reading_routes, state_routes):
        api.include_router(routes(desk))
    api.add_exception_handler(MedirError, _tell_refusal)
    api.add_exception_handler(RequestValidationError, _tell_invalid)
    api.add_exception_handler(HTTPException, _tell_http)

    def openapi() -> dict[str, Any]:
        return document(api)

    async def tell_document(request: Request) -> JSONResponse:
        return JSONResponse({"servers": [{"url": request.scope.get("root_path", "")}]} | api.openapi())

    api.openapi = openapi
    # a route as the others, so that it is held to what they are held to
    api.get("/openapi.json", include_in_schema=False)(tell_document)
    return api


async def _tell_refusal(request: Request, error: Exception) -> JSONResponse:
    problem = Problem.of(error) if isinstance(error, MedirError) else Problem("fault", "A fault.")
    return problem.response(request.state.request_id)


async def _tell_invalid(request: Request, error: Exception) -> JSONResponse:
    problem = (
        _invalid(request, error)
        if isinstance(error, RequestValidationError)
        else Problem("fault", "A fault.")
    )
    return problem.response(request.state.request_id)


async def _tell_http(request: Request, error: Exception) -> JSONResponse:
    if isinstance(error, Problem):
        problem = error
    elif isinstance(error, HTTPException) and error.status_code == 405:
        problem = Problem(
            "method-not-allowed",
            f"{request.method[:20]} is not what this address takes.",
            hint="Use the method that Allow names.",
            headers=error.headers,
        )
    elif isinstance(error, HTTPException) and error.status_code == 404:
        problem = Problem("not-found", "There is nothing at this address.", hint="See /api/openapi.json.")
    else:
        problem = Problem("invalid-request", "The request can't be read.", hint="Check how it was sent.")
    return problem.response(request.state.request_id)


def _invalid(request: Request, error: RequestValidationError) -> Problem:
    """The first thing that is wrong; what was sent is not repeated."""
    media = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    fault = error.errors()[0]
    place = [str(part) for part in fault["loc"]]
    if place[:1] == ["body"] and media != "application/json" and not media.endswith("+json"):
        return Problem(
            "not-json", "The body is not sent as JSON.", hint="Send Content-Type: application/json."
        )
    field = ".".join(place[1:])
    if fault["type"] == "json_invalid":
        return Problem("invalid-request", "The body is no JSON.", hint="Check its commas and quotes.")
    told = fault["msg"].replace("Value error, ", "")
    return Problem(
        "invalid-request",
        f"{field or 'The body'}: {told}.",
        hint="See /api/openapi.json for what is taken.",
        code="invalidInput",
        where={"field": field} if field else None,
    )
