"""What routes say of their callers: which roles a route takes, and under whose name it acts."""

from fastapi import Depends, Request, Security
from fastapi.params import Depends as Dependency
from fastapi.security import HTTPBearer

from medir.http_api.problems import Problem
from rag_core.errors import NotPermitted
from rag_core.model import Actor, Role
from rag_core.project.access import Caller

# the gate has checked the token before a route was looked for; this tells the document of it
_BEARER = HTTPBearer(
    scheme_name="token",
    description="A token of `medir token create`. While there is none, the operator of the machine needs none.",
    auto_error=False,
)


def caller_with(*roles: Role) -> Dependency:
    """A route's parameter: its caller, who has one of these roles."""

    def find(request: Request, _token: object = Security(_BEARER)) -> Caller:
        caller: Caller = request.state.caller
        try:
            caller.require(*roles)
        except NotPermitted as error:
            raise Problem.of(error) from error
        return caller

    return Depends(find)


def engine_actor(caller: Caller, agent: str | None) -> Actor:
    """An engine's caller as an actor: the agent that it names, else itself.

    Raises:
        Problem: An agent is named by a caller that is no engine.
    """
    if agent is None:
        return caller.actor("engine")
    if not caller.may("engine"):
        raise Problem(
            "not-permitted",
            "Only an engine speaks for an agent.",
            hint="Leave agent out.",
            code="notPermitted",
        )
    return Actor(kind="agent", id=agent, surface="engine")
