"""Searches and votes told in their session's event log: for people who read along, never for measuring.

The types are written out in full where they are emitted, so that the list in `docs/events.md` can be checked
against the code. Nothing is told without a session that exists, and a failure costs the line alone.
"""

import logging
import uuid
from datetime import datetime
from typing import Any

import psycopg

from rag_core.database.connections import Database
from rag_core.database.index.sessions import append_events, hold_session
from rag_core.errors import MedirError
from rag_core.model import Actor, Ranking
from rag_core.model.session_events import SessionEvent

_LOG = logging.getLogger("medir.narration")
_LOCK_TIMEOUT = "500ms"
_STATEMENT_TIMEOUT = "1000ms"


class Narration:
    """Writes into session logs, within a second, and never raises for a database that refuses."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def tell_search(
        self,
        project_id: str,
        session_id: str,
        *,
        search_id: str | None,
        question: str,
        ranking: Ranking,
        degraded: bool,
        actor: Actor,
        at: datetime,
    ) -> None:
        """A question was asked in the session; `search_id` None: it was not recorded."""
        hits = [
            {"rank": hit.rank, "chunkId": hit.candidate.chunk_id, "citation": hit.candidate.origin.citation}
            for hit in ranking.hits
        ]
        told = {"searchId": search_id, "question": question, "degraded": degraded, "hits": hits}
        event_id, who = f"rag-search-{search_id or uuid.uuid4()}", _who(session_id, actor, at)
        self._append(project_id, SessionEvent(event_id=event_id, type="rag.search", payload=told, **who))

    def tell_vote(
        self,
        project_id: str,
        session_id: str,
        *,
        search_id: str,
        chunk_id: str,
        rank: int,
        verdict: str,
        actor: Actor,
        at: datetime,
    ) -> None:
        """A verdict was given, or changed, on a hit of a search of the session."""
        told = {"searchId": search_id, "chunkId": chunk_id, "rank": rank, "verdict": verdict}
        event_id, who = f"rag-feedback-{uuid.uuid4()}", _who(session_id, actor, at)
        self._append(project_id, SessionEvent(event_id=event_id, type="rag.feedback", payload=told, **who))

    def _append(self, project_id: str, event: SessionEvent) -> None:
        try:
            with self._database.transaction() as connection:
                connection.execute(
                    "select set_config('lock_timeout', %s, true), set_config('statement_timeout', %s, true)",
                    (_LOCK_TIMEOUT, _STATEMENT_TIMEOUT),
                )
                if hold_session(connection, project_id, event.session_id):
                    append_events(connection, project_id, [event])
        except (MedirError, psycopg.Error) as error:
            message = next(iter(str(error).splitlines()), "")
            _LOG.warning("%s was not told in its session (origin: infra): %s", event.type, message)


def _who(session_id: str, actor: Actor, at: datetime) -> dict[str, Any]:
    return {
        "session_id": session_id,
        "created_at": at,
        "actor_kind": actor.kind,
        "actor_id": actor.id,
        "title": None,
    }
