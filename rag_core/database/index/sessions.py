"""Sessions and their event logs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from psycopg import sql
from psycopg.types.json import Jsonb

from rag_core.database.connecting import Connection
from rag_core.model.session_events import INDEXED_EVENT_TYPES, Message, SessionEvent, spoken_text

READABLE = f"[^{''.join(sign for sign in map(chr, range(1, 0x3001)) if sign.isspace())}]"
"""For the database: a text that Python, which cuts it, does not hold for blank."""

PLAIN = sql.SQL("jsonb_typeof(e.payload -> 'text') = 'string' and e.payload ->> 'text' ~ %(readable)s")
"""Of an event `e`: whether it says such a text, as one string."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Appended:
    """What came of some events: how many sessions and events were new, and which events can't be taken.

    `misplaced` maps an event's position among those given to the other session that has its id already;
    `differing` are the positions of events that are there already with another type or payload.
    """

    sessions: int
    events: int
    misplaced: Mapping[int, str]
    differing: tuple[int, ...]


def append_events(connection: Connection, project_id: str, events: Sequence[SessionEvent]) -> Appended:
    """Add events to their sessions' logs in the order given; an event already there is left as it is.

    Takes part in a transaction, and makes others who append to the project wait for its end: numbers in a log have
    no gaps and no twins.
    """
    connection.execute(
        "select pg_advisory_xact_lock(hashtextextended(%s, 0))", (f"medir:sessions:{project_id}",)
    )
    standing = _standing(connection, project_id, [event.event_id for event in events])
    new_sessions = new_events = 0
    misplaced: dict[int, str] = {}
    differing: list[int] = []
    for position, event in enumerate(events):
        content = (event.type, event.payload)
        other, known = standing.setdefault(event.event_id, (event.session_id, content))
        if other != event.session_id:
            misplaced[position] = other
            continue
        if known != content:
            differing.append(position)
            continue
        new_sessions += connection.execute(
            """
            insert into sessions (project_id, id, title, created_at) values (%s, %s, %s, %s)
            on conflict (project_id, id) do nothing
            """,
            (project_id, event.session_id, event.title, event.created_at),
        ).rowcount
        new_events += _append(connection, project_id, event)
        if event.title is not None:
            connection.execute(
                "update sessions set title = %s where project_id = %s and id = %s and title is null",
                (event.title, project_id, event.session_id),
            )
    return Appended(sessions=new_sessions, events=new_events, misplaced=misplaced, differing=tuple(differing))


def _standing(
    connection: Connection, project_id: str, event_ids: Sequence[str]
) -> dict[str, tuple[str, tuple[str, Mapping[str, object]]]]:
    """Of the events that are there already, session, type and payload by id."""
    rows = connection.execute(
        """
        select id, session_id, type, payload from session_events
        where project_id = %s and id = any(%s::text[])
        """,
        (project_id, list(event_ids)),
    ).fetchall()
    return {event_id: (session_id, (kind, payload)) for event_id, session_id, kind, payload in rows}


def _append(connection: Connection, project_id: str, event: SessionEvent) -> int:
    return connection.execute(
        """
        insert into session_events (project_id, id, session_id, seq, type, actor_kind, actor_id, created_at,
            payload)
        select %(project)s, %(id)s, %(session)s,
            coalesce((
                select max(seq) from session_events where project_id = %(project)s and session_id = %(session)s
            ), 0) + 1,
            %(type)s, %(actor_kind)s, %(actor_id)s, %(at)s, %(payload)s
        on conflict (project_id, id) do nothing
        """,
        {
            "project": project_id,
            "id": event.event_id,
            "session": event.session_id,
            "type": event.type,
            "actor_kind": event.actor_kind,
            "actor_id": event.actor_id,
            "at": event.created_at,
            "payload": Jsonb(event.payload),
        },
    ).rowcount


def hold_session(connection: Connection, project_id: str, session_id: str) -> bool:
    """Keep a session from being deleted until the transaction ends; false when there is none of that id."""
    row = connection.execute(
        "select true from sessions where project_id = %s and id = %s for key share", (project_id, session_id)
    ).fetchone()
    return row is not None


def list_sessions(connection: Connection, project_id: str) -> list[str]:
    """The ids of all sessions, by code point."""
    rows = connection.execute(
        'select id from sessions where project_id = %s order by id collate "C"', (project_id,)
    ).fetchall()
    return [row[0] for row in rows]


def read_messages(connection: Connection, project_id: str, session_id: str | None) -> list[Message]:
    """The spoken events with text, by session and place in its log; of one session or of all."""
    rows = connection.execute(
        sql.SQL("""
        select e.session_id, e.id, s.title,
            case when {plain} then jsonb_build_object('text', e.payload -> 'text') else e.payload end
        from session_events e join sessions s on s.project_id = e.project_id and s.id = e.session_id
        where e.project_id = %(project)s
          and e.type = any(%(types)s::text[])
          and (%(session)s::text is null or e.session_id = %(session)s)
        order by e.session_id collate "C", e.seq
        """).format(plain=PLAIN),
        {
            "project": project_id,
            "types": list(INDEXED_EVENT_TYPES),
            "session": session_id,
            "readable": READABLE,
        },
    ).fetchall()
    return [
        Message(session_id=row[0], event_id=row[1], title=row[2], text=text)
        for row in rows
        if (text := spoken_text(row[3]))
    ]
