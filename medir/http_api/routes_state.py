"""Whether the process answers, whether its database does, and what the types of problems mean; for everybody."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Path
from fastapi.responses import JSONResponse

from medir.contract.problems import ProblemMeaning, Status
from medir.http_api.desk import Desk
from medir.http_api.documentation import ANYWHERE, answers, told
from medir.http_api.problems import PROBLEMS, Problem
from medir.workbench import Workbench

_READY_WITHIN_S = 3.0


def state_routes(desk: Desk) -> APIRouter:
    """Health, readiness and the meanings of problems."""
    router = APIRouter(tags=["state"])

    @router.get(
        "/health",
        summary="Whether the process answers",
        responses=answers(200, Status, "It does.", *ANYWHERE, example=Status(status="ok")),
    )
    async def health() -> JSONResponse:
        """Asks nobody, so that a database that is away does not have the process restarted."""
        return told(Status(status="ok"))

    @router.get(
        "/ready",
        summary="Whether requests can be answered",
        responses=answers(
            200,
            Status,
            "The database answers.",
            *ANYWHERE,
            "database-unavailable",
            "unavailable",
            example=Status(status="ready"),
        ),
    )
    async def ready() -> JSONResponse:
        """Asks the database, for three seconds at most."""
        # a probe that is given up ends by itself, within the pool's own bound
        asked = asyncio.ensure_future(desk.run(_ask_database, lane="probes"))
        done, _ = await asyncio.wait({asked}, timeout=_READY_WITHIN_S)
        if not done:
            asked.add_done_callback(_forget)
            raise Problem(
                "database-unavailable",
                f"The database does not answer within {_READY_WITHIN_S:g} seconds.",
                hint="Check DATABASE_URL, or run `medir doctor`.",
                headers={"Retry-After": "5"},
            )
        asked.result()
        return told(Status(status="ready"))

    @router.get(
        "/problems/{name}",
        summary="What a problem's type means",
        responses=answers(
            200,
            ProblemMeaning,
            "Its meaning.",
            *ANYWHERE,
            "not-found",
            example=PROBLEMS["votes-at-risk"],
        ),
    )
    async def problem(
        name: Annotated[str, Path(max_length=64, pattern=r"^[a-z-]+$", examples=["votes-at-risk"])],
    ) -> JSONResponse:
        """The address that stands in `type`."""
        if name not in PROBLEMS:
            raise Problem("not-found", "There is no such problem.", hint="Use the type of a problem.")
        return told(PROBLEMS[name])

    return router


def _ask_database(opened: Workbench) -> None:
    with opened.services.database.connection() as connection:
        connection.execute("select 1")


def _forget(asked: "asyncio.Future[None]") -> None:
    # an exception that nobody fetches is logged as a fault
    if not asked.cancelled():
        asked.exception()
