"""Reading what was measured: the report, and a search as it was recorded."""

import uuid
from typing import Annotated

from fastapi import APIRouter
from fastapi.responses import JSONResponse

from medir.http_api.access import caller_with
from medir.http_api.answers import RecordedSearchAnswer, ReportAnswer
from medir.http_api.desk import Desk
from medir.http_api.documentation import SIGNED_IN, answers
from medir.http_api.examples import RECORDED_SEARCH, REPORT
from medir.http_api.problems import Problem
from medir.http_api.questions import From, ProjectId, SearchId, Since, Synthetic, To, Zone
from medir.workbench import Workbench
from rag_core.errors import UsageError
from rag_core.model import Window
from rag_core.project.access import Caller
from rag_core.project.projects import choose_project
from rag_core.report.making import make_report
from rag_core.report.searches import RecordedSearch, read_search
from rag_core.report.window import make_window
from rag_core.search.answer import origin_to_json


def reading_routes(desk: Desk) -> APIRouter:
    """Report and searches."""
    router = APIRouter()

    @router.get(
        "/projects/{projectId}/rag/report",
        summary="The medir:rag report",
        tags=["reading"],
        responses=answers(200, ReportAnswer, "The report.", *SIGNED_IN, "not-found", example=REPORT),
    )
    async def report(
        *,
        project_id: ProjectId,
        _caller: Annotated[Caller, caller_with("viewer", "maintainer")],
        since: Since = None,
        start: From = None,
        to: To = None,
        tz: Zone = None,
        synthetic: Synthetic = "false",
    ) -> JSONResponse:
        """Over the last 30 days, unless a window is given; by the time a search was asked at."""

        def make(opened: Workbench) -> dict[str, object]:
            database = opened.services.database
            project = choose_project(database, project_id).project_id
            window = _window(opened, since=since, start=start, end=to, zone=tz, synthetic=synthetic == "true")
            return make_report(database, project, window).to_json()

        return JSONResponse(await desk.run(make, lane="reports"))

    @router.get(
        "/projects/{projectId}/rag/searches/{searchId}",
        summary="A search as it was recorded",
        tags=["reading"],
        responses=answers(
            200, RecordedSearchAnswer, "The search.", *SIGNED_IN, "not-found", example=RECORDED_SEARCH
        ),
    )
    async def recorded(
        project_id: ProjectId,
        search_id: SearchId,
        _caller: Annotated[Caller, caller_with("viewer", "maintainer")],
    ) -> JSONResponse:
        """With its hits as they were shown, and the votes on them."""

        def read(opened: Workbench) -> dict[str, object]:
            database = opened.services.database
            project = choose_project(database, project_id).project_id
            return _search_to_json(project, read_search(database, project, uuid.UUID(search_id)))

        return JSONResponse(await desk.run(read))

    return router


def _window(
    opened: Workbench,
    *,
    since: str | None,
    start: str | None,
    end: str | None,
    zone: str | None,
    synthetic: bool,
) -> Window:
    try:
        return make_window(
            opened.services.clock.now(), since=since, start=start, end=end, zone=zone, synthetic=synthetic
        )
    except UsageError as error:
        raise Problem(
            "invalid-request",
            "since goes with neither from nor to.",
            hint=error.hint,
            members={"code": error.code, "where": {"field": "since"}},
        ) from error


def _search_to_json(project_id: str, search: RecordedSearch) -> dict[str, object]:
    return {
        "searchId": str(search.id),
        "projectId": project_id,
        "question": search.question,
        "askedAt": search.asked_at.isoformat(),
        "degraded": search.degraded,
        "degradedReason": search.degraded_reason,
        "settings": dict(search.settings),
        "hits": [
            {
                "rank": hit.rank,
                "chunkId": hit.chunk_id,
                "score": hit.score,
                "vectorScore": hit.vector_score,
                "lexicalScore": hit.lexical_score,
                "origin": origin_to_json(hit.origin) if hit.origin else None,
                "citation": hit.origin.citation if hit.origin else None,
            }
            for hit in search.hits
        ],
        "votes": [
            {
                "chunkId": vote.chunk_id,
                "rank": vote.rank,
                "verdict": vote.verdict,
                "actor": vote.actor,
                "updatedAt": vote.updated_at.isoformat(),
            }
            for vote in search.votes
        ],
    }
