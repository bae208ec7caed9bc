"""Reading what was measured: the report, and a search as it was recorded."""

import uuid
from typing import Annotated

from fastapi import APIRouter
from fastapi.responses import JSONResponse

from medir.contract.recorded_search import RecordedSearchAnswer
from medir.contract.report import ReportAnswer
from medir.http_api.access import caller_with
from medir.http_api.desk import Desk
from medir.http_api.documentation import SIGNED_IN, answers, told
from medir.http_api.examples import RECORDED_SEARCH, REPORT
from medir.http_api.problems import Problem
from medir.http_api.questions import From, ProjectId, SearchId, Since, Synthetic, To, Zone
from medir.workbench import Workbench
from rag_core.errors import UsageError
from rag_core.project.access import Caller
from rag_core.project.projects import choose_project
from rag_core.report.making import make_report
from rag_core.report.searches import read_search
from rag_core.report.window import make_window


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

        def make(opened: Workbench) -> ReportAnswer:
            database = opened.services.database
            project = choose_project(database, project_id).project_id
            now, counted = opened.services.clock.now(), synthetic == "true"
            try:
                window = make_window(now, since=since, start=start, end=to, zone=tz, synthetic=counted)
            except UsageError as error:
                raise _two_windows(error) from error
            return ReportAnswer.of(make_report(database, project, window))

        return told(await desk.run(make, lane="reports"))

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

        def read(opened: Workbench) -> RecordedSearchAnswer:
            database = opened.services.database
            project = choose_project(database, project_id).project_id
            return RecordedSearchAnswer.of(project, read_search(database, project, uuid.UUID(search_id)))

        return told(await desk.run(read))

    return router


def _two_windows(error: UsageError) -> Problem:
    return Problem(
        "invalid-request",
        "since goes with neither from nor to.",
        hint=error.hint,
        code=error.code,
        where={"field": "since"},
    )
