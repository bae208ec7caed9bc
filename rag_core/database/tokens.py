"""Tokens as they are kept: names, roles and hashes of secrets. A secret itself is nowhere."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from psycopg import sql
from psycopg.rows import class_row

from rag_core.database.connecting import Connection
from rag_core.model import Actor, ActorKind, Role


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessToken:
    """One token. `actor_kind` and `name` are the actor of all that is done with it; `created_by` is `kind:id`.

    `last_used_at` is right to the minute. It is in force where `revoked_at` is None and `expires_at` is None or not
    reached.
    """

    id: str
    name: str
    role: Role
    actor_kind: ActorKind
    secret_hash: str
    created_at: datetime
    created_by: str
    expires_at: datetime | None
    last_used_at: datetime | None
    revoked_at: datetime | None
    revoked_by: str | None


_TOKEN = sql.SQL("""
    id, name, role::text as role, actor_kind::text as actor_kind, secret_hash, created_at,
    created_by_kind::text || ':' || created_by_id as created_by, expires_at, last_used_at, revoked_at,
    revoked_by_kind::text || ':' || revoked_by_id as revoked_by
""")
_REVOKED = sql.SQL("revoked_at = %(at)s, revoked_by_kind = %(kind)s, revoked_by_id = %(actor)s")


def insert_token(
    connection: Connection,
    *,
    token_id: str,
    name: str,
    role: Role,
    actor_kind: ActorKind,
    secret_hash: str,
    actor: Actor,
    at: datetime,
    expires_at: datetime | None,
) -> AccessToken | None:
    """Keep a new token; None when one in force has its name. One that has expired leaves its name to it."""
    with connection.cursor(row_factory=class_row(AccessToken)) as cursor:
        cursor.execute(
            sql.SQL("""
            update access_tokens
            set {revoked}
            where name = %(name)s and revoked_at is null and expires_at <= %(at)s
            """).format(revoked=_REVOKED),
            {"at": at, "kind": actor.kind, "actor": actor.id, "name": name},
        )
        return cursor.execute(
            sql.SQL("""
            insert into access_tokens
                (id, name, role, actor_kind, secret_hash, created_at, created_by_kind, created_by_id, expires_at)
            values (%s, %s, %s, %s, %s, %s, %s, %s, %s)
            on conflict (name) where revoked_at is null do nothing
            returning {token}
            """).format(token=_TOKEN),
            (token_id, name, role, actor_kind, secret_hash, at, actor.kind, actor.id, expires_at),
        ).fetchone()


def list_tokens(connection: Connection) -> list[AccessToken]:
    """Every token there ever was, by the time it was made."""
    with connection.cursor(row_factory=class_row(AccessToken)) as cursor:
        # a row is a token, oldest first; there are few, so no index is needed
        return cursor.execute(
            sql.SQL("""
            select {token}
            from access_tokens
            order by created_at, id
            """).format(token=_TOKEN)
        ).fetchall()


def find_token(connection: Connection, token_id: str) -> AccessToken | None:
    """One token by its id, in force or not."""
    with connection.cursor(row_factory=class_row(AccessToken)) as cursor:
        return cursor.execute(
            sql.SQL("""
            select {token}
            from access_tokens where id = %s
            """).format(token=_TOKEN),
            (token_id,),
        ).fetchone()


def any_in_force(connection: Connection, *, at: datetime) -> bool:
    """Whether any token is in force."""
    row = connection.execute(
        """
        select exists (
            select from access_tokens where revoked_at is null and (expires_at is null or expires_at > %s)
        )
        """,
        (at,),
    ).fetchone()
    return bool(row and row[0])


def any_made(connection: Connection) -> bool:
    """Whether there ever was a token, in force or not."""
    row = connection.execute("select exists (select from access_tokens)").fetchone()
    return bool(row and row[0])


def note_use(connection: Connection, token_id: str, *, at: datetime, every: timedelta) -> None:
    """Write down that a token was used, unless that was done within `every`; waits for nobody else who does so."""
    connection.execute(
        """
        update access_tokens set last_used_at = %(at)s
        where id = (
            select id from access_tokens
            where id = %(id)s and (last_used_at is null or last_used_at < %(at)s - %(every)s)
            for no key update skip locked
        )
        """,
        {"id": token_id, "at": at, "every": every},
    )


def revoke(connection: Connection, which: str, *, actor: Actor, at: datetime) -> AccessToken | None:
    """End the token in force of that id or name; None where there is none. An id goes before a name."""
    with connection.cursor(row_factory=class_row(AccessToken)) as cursor:
        # a name that looks like another token's id must not end both
        return cursor.execute(
            sql.SQL("""
            update access_tokens
            set {revoked}
            where id = (
                select id from access_tokens
                where revoked_at is null and %(which)s in (id, name)
                order by id = %(which)s desc, id limit 1
            )
            returning {token}
            """).format(revoked=_REVOKED, token=_TOKEN),
            {"at": at, "kind": actor.kind, "actor": actor.id, "which": which},
        ).fetchone()
