"""Parameters in an address: those that a route takes, each once, as the members of a body are."""

from fastapi import Request
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from medir.http_api.problems import Problem

_SHOWN_CHARS = 80


async def check_parameters(request: Request) -> None:
    """Refuse a parameter that the route does not take, or that stands twice.

    Raises:
        Problem: Names the first such.
    """
    route = request.scope["route"]
    known = _parameters(route.dependant) if isinstance(route, APIRoute) else []
    seen: set[str] = set()
    for name, _ in request.query_params.multi_items():
        shown = name[:_SHOWN_CHARS]
        if name not in known:
            hint = f"The parameters are {', '.join(known)}." if known else "This address takes no parameters."
            raise _refused(f"{shown!r} is no parameter of this address.", hint, shown)
        if name in seen:
            raise _refused(f"{shown!r} stands twice in the address.", "Give it once.", shown)
        seen.add(name)


def _parameters(dependant: Dependant) -> list[str]:
    found = [field.alias for field in dependant.query_params]
    for part in dependant.dependencies:
        found += _parameters(part)
    return found


def _refused(detail: str, hint: str, name: str) -> Problem:
    return Problem("invalid-request", detail, hint=hint, code="invalidInput", where={"field": name})
