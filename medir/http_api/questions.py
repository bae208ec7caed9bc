"""What is sent to the API: bodies and parameters, each with its bounds and an example."""

from typing import Annotated, Literal

from fastapi import Path, Query
from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from medir.contract.asked import Limit, ScopeNames, chosen_scopes
from rag_core.model import Scope
from rag_core.model.limits import MAX_QUESTION_CHARS, UUID_PATTERN

_NO_CONTROL_SIGNS = r"^[^\u0000-\u001f\u007f]+$"
_ID = f"^{UUID_PATTERN}$"
_AN_ID = "0b0f6a3e-8d57-4a55-9d0c-3a1f2f0c9a11"
_PROJECT = r"^[a-z0-9][a-z0-9-]{0,62}$"

ProjectName = Annotated[str, Field(pattern=_PROJECT, description="A project's id.", examples=["sample"])]
Identifier = Annotated[str, Field(pattern=_ID, examples=[_AN_ID])]
SessionName = Annotated[
    str,
    Field(
        max_length=200,
        pattern=_NO_CONTROL_SIGNS,
        description="The session that this belongs to.",
        examples=["s-2026-03-docas"],
    ),
]
AgentName = Annotated[
    str,
    Field(
        max_length=100,
        pattern=_NO_CONTROL_SIGNS,
        description="Which agent of the engine this is from.",
        examples=["planner"],
    ),
]

ProjectId = Annotated[
    str, Path(alias="projectId", pattern=_PROJECT, description="The project.", examples=["sample"])
]
SearchId = Annotated[
    str, Path(alias="searchId", pattern=_ID, description="A search of the project.", examples=[_AN_ID])
]
RunId = Annotated[
    str, Path(alias="runId", pattern=_ID, description="An index run of the project.", examples=[_AN_ID])
]
Since = Annotated[
    str | None,
    Query(
        pattern=r"^[1-9][0-9]{0,3}[mhdw]$",
        description="The window, back from now: 30m, 12h, 7d, 4w. Goes with neither from nor to; default 30d.",
        examples=["7d"],
    ),
]
From = Annotated[
    str | None,
    Query(
        alias="from",
        max_length=40,
        description="The window's beginning, inclusive; ISO 8601 with an offset or Z.",
        examples=["2026-01-01T00:00:00Z"],
        json_schema_extra={"format": "date-time"},
    ),
]
To = Annotated[
    str | None,
    Query(
        max_length=40,
        description="Its end, exclusive; default: now.",
        examples=["2026-02-01T00:00:00Z"],
        json_schema_extra={"format": "date-time"},
    ),
]
Zone = Annotated[
    str | None,
    Query(
        alias="tz",
        max_length=64,
        pattern=r"^[A-Za-z0-9_+/-]+$",
        description="Time zone of the days, by its IANA name; default UTC.",
        examples=["America/Sao_Paulo"],
    ),
]
Synthetic = Annotated[
    Literal["true", "false"], Query(description="Whether rows of benches and demonstrations count too.")
]


class _Body(BaseModel):
    model_config = ConfigDict(
        alias_generator=to_camel, validate_by_name=False, validate_by_alias=True, extra="forbid", strict=True
    )


class _Question(_Body):
    query: str = Field(
        min_length=1,
        max_length=MAX_QUESTION_CHARS,
        # at least one sign that can be seen
        pattern=r"[^\s\u0000-\u0020\u007f-\u00a0]",
        description="The question, as one would ask a colleague.",
        examples=["Quando o frete é calculado?"],
    )
    scopes: ScopeNames | None = Field(
        default=None, description="Where to look; left out or empty: everywhere.", examples=[["docs", "adr"]]
    )
    limit: Limit | None = Field(
        default=None,
        description="At most how many hits; left out: as the project's settings say.",
        examples=[5],
    )
    session_id: SessionName | None = None

    @property
    def chosen_scopes(self) -> tuple[Scope, ...]:
        """The scopes in their order, all of them where none was named."""
        return chosen_scopes(self.scopes)


class SearchRequest(_Question):
    """A question to one project."""


class InternalSearchRequest(_Question):
    """A question of an engine."""

    project_id: ProjectName
    agent: AgentName | None = None


class FeedbackRequest(_Body):
    """A verdict on one hit of one search."""

    search_id: Identifier
    chunk_id: Identifier
    verdict: Literal["util", "irrelevante"] = Field(examples=["util"])
    agent: AgentName | None = None


class ReindexRequest(_Body):
    """What an index run is to do; an empty object is an incremental run over everything."""

    mode: Literal["incremental", "full"] | None = Field(
        default=None,
        description="incremental, the default, keeps each chunk whose text is still there, with its votes; full "
        "makes all anew.",
        examples=["incremental"],
    )
    scopes: ScopeNames | None = Field(
        default=None, description="Which scopes; left out or empty: all.", examples=[["docs", "adr"]]
    )
    session_id: SessionName | None = Field(
        default=None,
        description="Only this session; scopes then plays no part.",
        examples=["s-2026-03-docas"],
    )
    confirm_votes_lost: bool = Field(
        default=False,
        description="Go on although votes hang on chunks that will be deleted.",
        examples=[False],
    )
    confirm_emptied: bool = Field(
        default=False,
        description="Go on although nothing is left of a scope that is in the index.",
        examples=[False],
    )

    @property
    def chosen_scopes(self) -> tuple[Scope, ...]:
        """The scopes in their order, all of them where none was named."""
        return chosen_scopes(self.scopes)
