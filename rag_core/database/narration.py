"""What narration asks of a session before it writes into its log."""

from rag_core.database.connections import Connection


def hold_session(connection: Connection, project_id: str, session_id: str) -> bool:
    """Keep a session from being deleted until the transaction ends; false when there is none of that id."""
    row = connection.execute(
        "select true from sessions where project_id = %s and id = %s for key share", (project_id, session_id)
    ).fetchone()
    return row is not None
