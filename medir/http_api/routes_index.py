"""The index: making it anew, following that, and what is in it."""

import uuid
from typing import Annotated

from fastapi import APIRouter, Body, Request
from fastapi.responses import JSONResponse

from medir.contract.coverage import CoverageAnswer
from medir.contract.runs import RunAccepted, RunAnswer
from medir.http_api.access import caller_with
from medir.http_api.desk import Desk
from medir.http_api.documentation import SIGNED_IN, WITH_BODY, answers, told
from medir.http_api.examples import COVERAGE, RUN
from medir.http_api.problems import Problem
from medir.http_api.questions import ProjectId, ReindexRequest, RunId
from medir.http_api.reindexing import Reindexing
from medir.workbench import Workbench
from rag_core.index.coverage import measure_coverage
from rag_core.model import Actor
from rag_core.project.access import Caller
from rag_core.project.projects import choose_project


def index_routes(desk: Desk) -> APIRouter:
    """Reindex, its run, and coverage."""
    router = APIRouter()
    reindexing = Reindexing()

    def begin(opened: Workbench, project_id: str, wanted: ReindexRequest, actor: Actor) -> uuid.UUID:
        project = choose_project(opened.services.database, project_id)
        return reindexing.begin(opened, project, wanted, actor=actor)

    @router.post(
        "/projects/{projectId}/rag/reindex",
        status_code=202,
        summary="Bring the index up to date",
        tags=["index"],
        responses=answers(
            202,
            RunAccepted,
            "The run has begun; `Location` is where it can be followed.",
            *SIGNED_IN,
            *WITH_BODY,
            "not-found",
            "votes-at-risk",
            "sources-gone",
            "busy",
            "refused",
            example=RunAccepted(run_id=RUN.run_id),
        ),
    )
    async def reindex(
        request: Request,
        project_id: ProjectId,
        caller: Annotated[Caller, caller_with("maintainer")],
        body: Annotated[ReindexRequest | None, Body()] = None,
    ) -> JSONResponse:
        """Searches see the old index until the run has ended. One that would lose votes or empty a scope is refused."""
        wanted, actor = body or ReindexRequest(), caller.actor("api")
        run_id = await desk.run(lambda opened: begin(opened, project_id, wanted, actor))
        where = f"{request.scope.get('root_path', '')}/projects/{project_id}/rag/reindex/{run_id}"
        return told(RunAccepted(run_id=str(run_id)), status=202, headers={"Location": where})

    @router.get(
        "/projects/{projectId}/rag/reindex/{runId}",
        summary="Follow an index run",
        tags=["index"],
        responses=answers(200, RunAnswer, "The run as it stands.", *SIGNED_IN, "not-found", example=RUN),
    )
    async def run(
        project_id: ProjectId, run_id: RunId, _caller: Annotated[Caller, caller_with("viewer", "maintainer")]
    ) -> JSONResponse:
        """`state` is waiting, running, done, failed, cancelled or interrupted."""

        def find(opened: Workbench) -> RunAnswer | None:
            return reindexing.find(
                opened, choose_project(opened.services.database, project_id), uuid.UUID(run_id)
            )

        found = await desk.run(find)
        if found is None:
            raise Problem(
                "not-found", f"{project_id} has no index run {run_id}.", hint="Use the runId of a reindex."
            )
        return told(found)

    @router.get(
        "/projects/{projectId}/rag/coverage",
        summary="What is in the index",
        tags=["index"],
        responses=answers(
            200, CoverageAnswer, "Sources against the index.", *SIGNED_IN, "not-found", example=COVERAGE
        ),
    )
    async def coverage(
        project_id: ProjectId, _caller: Annotated[Caller, caller_with("viewer", "maintainer")]
    ) -> JSONResponse:
        """Counts the repository's files as they are committed now."""

        def measure(opened: Workbench) -> CoverageAnswer:
            database = opened.services.database
            return CoverageAnswer.of(measure_coverage(database, choose_project(database, project_id)))

        return told(await desk.run(measure))

    return router
