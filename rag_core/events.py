"""The session event log: its entries, and which of them are spoken and so can be cited."""

from dataclasses import dataclass
from datetime import datetime

INDEXED_EVENT_TYPES = ("chat.message", "agent.response")


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEvent:
    """One entry of a session's log, before it has a number in it. `created_at` is aware."""

    session_id: str
    event_id: str
    type: str
    created_at: datetime
    actor_kind: str
    actor_id: str
    title: str | None
    payload: dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A spoken event of a session: what is indexed."""

    session_id: str
    event_id: str
    title: str | None
    text: str
