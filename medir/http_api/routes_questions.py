"""Asking, and judging what was found."""

from typing import Annotated

from fastapi import APIRouter
from fastapi.responses import JSONResponse

from medir.contract.search import SearchAnswer
from medir.http_api.access import caller_with, engine_actor
from medir.http_api.desk import Desk
from medir.http_api.documentation import SIGNED_IN, WITH_BODY, answers, told
from medir.http_api.examples import SEARCH, VOTE
from medir.http_api.questions import (
    FeedbackRequest,
    InternalSearchRequest,
    ProjectId,
    SearchRequest,
)
from medir.workbench import Workbench
from rag_core.model import Actor
from rag_core.project.access import Caller
from rag_core.project.projects import choose_project
from rag_core.search.votes import Vote, cast_vote
from rag_core.settings.overrides import Overrides

_PROBLEMS = (*SIGNED_IN, *WITH_BODY, "not-found")


def question_routes(desk: Desk) -> APIRouter:
    """Search, internal search and feedback."""
    router = APIRouter()

    @router.post(
        "/projects/{projectId}/rag/search",
        summary="Search a project",
        tags=["questions"],
        responses=answers(200, SearchAnswer, "The hits, best first.", *_PROBLEMS, example=SEARCH),
    )
    async def search(
        project_id: ProjectId,
        body: SearchRequest,
        caller: Annotated[Caller, caller_with("viewer", "maintainer")],
    ) -> JSONResponse:
        """A question is recorded as a search, with its caller."""
        actor = caller.actor("api")
        return told(await desk.run(lambda opened: _ask(opened, project_id, body, actor)))

    @router.post(
        "/internal/rag/search",
        summary="Search for an engine's agent",
        tags=["questions"],
        responses=answers(200, SearchAnswer, "The hits, best first.", *_PROBLEMS, example=SEARCH),
    )
    async def internal_search(
        body: InternalSearchRequest, caller: Annotated[Caller, caller_with("engine")]
    ) -> JSONResponse:
        """Answers as the project's own route; the search is recorded under the agent's name."""
        actor = engine_actor(caller, body.agent)
        return told(await desk.run(lambda opened: _ask(opened, body.project_id, body, actor)))

    @router.post(
        "/projects/{projectId}/rag/feedback",
        summary="Vote on a hit",
        tags=["questions"],
        responses=answers(200, Vote, "The vote as it stands.", *_PROBLEMS, example=VOTE),
    )
    async def feedback(
        project_id: ProjectId,
        body: FeedbackRequest,
        caller: Annotated[Caller, caller_with("viewer", "maintainer", "engine")],
    ) -> JSONResponse:
        """The same caller's second vote on a hit takes the place of the first. `agent` is for engines only."""
        speaks = caller.role == "engine" or body.agent is not None
        actor = engine_actor(caller, body.agent) if speaks else caller.actor("api")
        return told(await desk.run(lambda opened: _vote(opened, project_id, body, actor)))

    return router


def _ask(
    opened: Workbench, project_id: str, body: SearchRequest | InternalSearchRequest, actor: Actor
) -> SearchAnswer:
    services = opened.services
    answer = services.search.ask(
        choose_project(services.database, project_id).project_id,
        body.query,
        actor=actor,
        scopes=body.chosen_scopes,
        overrides=None if body.limit is None else Overrides(limit=body.limit),
        session_id=body.session_id,
    )
    return SearchAnswer.of(answer)


def _vote(opened: Workbench, project_id: str, body: FeedbackRequest, actor: Actor) -> Vote:
    services = opened.services
    return cast_vote(
        services.database,
        services.clock,
        choose_project(services.database, project_id).project_id,
        search_id=body.search_id,
        chunk_id=body.chunk_id,
        verdict=body.verdict,
        actor=actor,
    )
