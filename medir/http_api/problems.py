"""Errors as RFC 9457 problems: one table, from which answers, the OpenAPI document and the documentation are made.

The `type` of a problem is a stable address of this API, where its meaning can be read.
"""

from collections.abc import Mapping

from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse

from medir.contract.problems import ProblemDocument, ProblemMeaning
from rag_core.errors import (
    Busy,
    DatabaseUnavailable,
    InvalidInput,
    MedirError,
    NotPermitted,
    NotSignedIn,
    Refused,
    SourcesGone,
    Unavailable,
    UsageError,
    VotesAtRisk,
)

MEDIA_TYPE = "application/problem+json"


def _type(name: str, status: int, title: str, meaning: str) -> tuple[str, ProblemMeaning]:
    """A sort of problem by name; its `type` is a reference relative to the server."""
    uri = f"/api/problems/{name}"
    return name, ProblemMeaning(type=uri, title=title, status=status, meaning=meaning)


PROBLEMS: Mapping[str, ProblemMeaning] = dict(
    (
        _type(
            "invalid-request",
            400,
            "The request is not valid",
            "A value or a parameter is missing, unknown or out of range.",
        ),
        _type(
            "token-in-query",
            400,
            "A token stands in the address",
            "Addresses are written into logs. Send the header `Authorization: Bearer TOKEN`; revoke this token.",
        ),
        _type(
            "not-signed-in",
            401,
            "No valid token",
            "There is no token where one is needed, or it is not valid.",
        ),
        _type("not-permitted", 403, "The role may not do this", "The token is valid; its role is another."),
        _type(
            "cross-origin",
            403,
            "The request comes from another site",
            "A page of another site may not call this API through its visitor's browser.",
        ),
        _type(
            "not-found",
            404,
            "There is no such thing",
            "A project, run, search, session or address is unknown.",
        ),
        _type("method-not-allowed", 405, "The address takes another method", "`Allow` names it."),
        _type("slow-body", 408, "The body did not arrive", "The request was not complete within 30 seconds."),
        _type(
            "votes-at-risk",
            409,
            "Votes would be lost",
            "The index run would delete votes; `votes` is their number. Send `confirmVotesLost: true` to lose them.",
        ),
        _type(
            "sources-gone",
            409,
            "A scope would be emptied",
            "Nothing is left of a scope that is in the index; `detail` says what stands there now. Send "
            "`confirmEmptied: true` where the documents were meant to go.",
        ),
        _type("busy", 409, "Another run is at work", "Try again after `Retry-After` seconds."),
        _type(
            "refused", 409, "Not carried out", "A sound request that is not carried out; `detail` says why."
        ),
        _type("body-too-large", 413, "The body is too large", "At most 64 kB are read."),
        _type("not-json", 415, "The body is no JSON", "Send `Content-Type: application/json`."),
        _type("fault", 500, "A fault of Medir's own", "The log has the details under the request's id."),
        _type(
            "database-unavailable",
            503,
            "The database does not answer",
            "Try again after `Retry-After` seconds.",
        ),
        _type("unavailable", 503, "A service is missing", "`detail` says which, `hint` what to do."),
        _type("overloaded", 503, "Too much at once", "Try again after `Retry-After` seconds."),
        _type("timeout", 504, "It took too long", "The answer was not ready within 30 seconds."),
    )
)

# one class of errors above another is met by the first that fits
_OF_ERRORS: tuple[tuple[type[MedirError], str], ...] = (
    (NotSignedIn, "not-signed-in"),
    (NotPermitted, "not-permitted"),
    (VotesAtRisk, "votes-at-risk"),
    (SourcesGone, "sources-gone"),
    (Busy, "busy"),
    (Refused, "refused"),
    (InvalidInput, "invalid-request"),
    (UsageError, "not-found"),
    (DatabaseUnavailable, "database-unavailable"),
    (Unavailable, "unavailable"),
)
_RETRY_AFTER_S = {
    "busy": 5,
    "refused": 60,
    "votes-at-risk": 0,
    "sources-gone": 0,
    "database-unavailable": 5,
    "unavailable": 30,
}
_HINTS = {
    "votes-at-risk": "Send confirmVotesLost: true to lose them, or leave the index as it is.",
    "sources-gone": "Bring the documents back, or send confirmEmptied: true where they were meant to go.",
}
# what the core calls by the word of tables and pages
_FIELDS = {"question": "query", "--from": "from", "--to": "to", "--tz": "tz"}


class Problem(HTTPException):
    """A request that is not answered as it was meant.

    `name` is one of `PROBLEMS`, `code` the core's name of it, None where it has none; `headers` are sent with
    it, and `votes` counts those that would be lost.
    """

    def __init__(
        self,
        name: str,
        detail: str,
        *,
        hint: str = "",
        headers: Mapping[str, str] | None = None,
        code: str | None = None,
        where: Mapping[str, str | int] | None = None,
        votes: int | None = None,
    ) -> None:
        self.kind = PROBLEMS[name]
        super().__init__(self.kind.status, detail, dict(headers or {}))
        self.hint = hint
        self.code, self.where, self.votes = code, where, votes

    @classmethod
    def of(cls, error: MedirError) -> "Problem":
        """What the core refuses, as a problem."""
        name = next((name for kind, name in _OF_ERRORS if isinstance(error, kind)), "invalid-request")
        where = {
            key: _FIELDS.get(str(value), value) if key == "field" else value
            for key, value in (error.where or {}).items()
        }
        headers = {"Retry-After": str(_RETRY_AFTER_S[name])} if name in _RETRY_AFTER_S else {}
        if isinstance(error, NotSignedIn):
            headers["WWW-Authenticate"] = 'Bearer realm="medir"'
        return cls(
            name,
            error.message,
            hint=_HINTS.get(name, error.hint),
            headers=headers,
            code=error.code,
            where=where or None,
            votes=error.votes if isinstance(error, VotesAtRisk) else None,
        )

    def response(self, request_id: str) -> JSONResponse:
        """The answer to be sent."""
        document = ProblemDocument(
            type=self.kind.type,
            title=self.kind.title,
            status=self.kind.status,
            detail=self.detail,
            hint=self.hint,
            request_id=request_id,
            code=self.code,
            where=self.where,
            votes=self.votes,
        )
        return JSONResponse(
            document.to_json(),
            status_code=self.kind.status,
            headers=dict(self.headers or {}),
            media_type=MEDIA_TYPE,
        )
