"""Who may do what: tokens of the installation, made, checked and revoked. One check for every surface.

A token is `medir_ID_SECRET`: the id is public and finds the row, the secret is 32 random bytes of which only the
SHA-256 is kept. It is random and long, so a slow hash would protect nothing more.
"""

import hashlib
import hmac
import re
import secrets
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, TypeVar

from rag_core.database.connections import Database
from rag_core.database.tokens import (
    AccessToken,
    any_in_force,
    any_made,
    find_token,
    insert_token,
    note_use,
    revoke,
)
from rag_core.database.tokens import list_tokens as read_tokens
from rag_core.errors import InvalidInput, NotPermitted, NotSignedIn, OperatorNeeded, Refused, UsageError
from rag_core.model import Actor, ActorKind, Role, Surface
from rag_core.model.shape import keyed
from rag_core.ports import Clock
from rag_core.words.durations import parse_duration

_Word = TypeVar("_Word", Role, ActorKind)
PREFIX = "medir_"
ROLES: tuple[Role, ...] = ("viewer", "maintainer", "engine")
_KINDS: tuple[ActorKind, ...] = ("human", "agent", "system")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,62}")
_TEXT = re.compile(r"medir_([0-9a-f]{12})_([A-Za-z0-9_-]{43})")
_USE_NOTED_EVERY = timedelta(minutes=1)
_NOBODY = "0" * 64
WARNED_BEFORE = timedelta(days=7)
"""How long before its end a token's holder, and whoever keeps the installation, are told."""
RENEWAL = "Make another under a name of its own, hand it over, then revoke it: medir token create, medir token revoke."


@dataclass(frozen=True, slots=True, kw_only=True)
class NewToken:
    """A token and its text, which is told once and kept nowhere."""

    token: AccessToken
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Somebody who was let in. The role `local` is the operator of a machine that asks nobody who they are.

    `expires_at` is when that ends by itself; None: never, or not known.
    """

    kind: ActorKind
    name: str
    role: Role | Literal["local"]
    expires_at: datetime | None = None

    @classmethod
    def of(cls, token: AccessToken) -> "Caller":
        """Whoever holds the token."""
        return cls(kind=token.actor_kind, name=token.name, role=token.role, expires_at=token.expires_at)

    @classmethod
    def local(cls, name: str) -> "Caller":
        """The operator of this machine, who may do everything."""
        return cls(kind="human", name=name, role="local")

    def may(self, *roles: Role) -> bool:
        """Whether one of these roles is the caller's; the local operator has them all."""
        return self.role == "local" or self.role in roles

    def require(self, *roles: Role) -> None:
        """Refuse whoever has none of these roles.

        Raises:
            NotPermitted: The caller is another.
        """
        if not self.may(*roles):
            raise NotPermitted(
                f"The role {self.role} may not do this; it takes the role {' or '.join(roles)}.",
                hint="Use a token of that role, or ask whoever keeps this installation for one.",
            )

    def actor(self, surface: Surface) -> Actor:
        """The caller as the actor of what is done through a surface."""
        return Actor(kind=self.kind, id=self.name, surface=surface)


def create_token(
    database: Database,
    clock: Clock,
    *,
    name: str,
    role: str,
    kind: str | None = None,
    expires: str | None = None,
    actor: Actor,
) -> NewToken:
    """Make a token. From the first one on, every request and every page wants one.

    `name` is letters, digits and `._@-`, at most 63: the actor of all that is done with it. `kind` None is
    `agent` for an engine, else `human`. `expires` is how long it is good for, such as `90d`; None: until it is
    revoked.

    Raises:
        InvalidInput: The name, role, kind or duration is none.
        Refused: A token in force has that name.
    """
    if _NAME.fullmatch(name) is None:
        raise InvalidInput(
            f"{name[:80]!r} can't name a token.",
            hint="Use up to 63 letters, digits and the signs . _ @ -, beginning with a letter or digit.",
            where={"field": "name"},
        )
    given = _one_of(ROLES, role, what="role", field="role")
    sort = _kind_of(given) if kind is None else _one_of(_KINDS, kind, what="kind of actor", field="kind")
    at = clock.now()
    expires_at = None if expires is None else _later(at, parse_duration(expires))
    token_id, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
    with database.connection() as connection:
        token = insert_token(
            connection,
            token_id=token_id,
            name=name,
            role=given,
            actor_kind=sort,
            secret_hash=_hash(secret),
            actor=actor,
            at=at,
            expires_at=expires_at,
        )
    if token is None:
        raise Refused(
            f"There is a token {name!r} in force already.",
            hint=f"Choose another name, or revoke it first: medir token revoke {name}",
        )
    return NewToken(token=token, text=f"{PREFIX}{token_id}_{secret}")


def list_tokens(database: Database) -> tuple[AccessToken, ...]:
    """Every token there ever was, the oldest first."""
    with database.connection() as connection:
        return tuple(read_tokens(connection))


def expiring(found: Iterable[AccessToken], *, now: datetime) -> tuple[AccessToken, ...]:
    """Those in force that end by themselves within a week, the next first."""
    ends = (token for token in found if token.revoked_at is None and ends_soon(token.expires_at, now=now))
    return tuple(sorted(ends, key=lambda token: (token.expires_at or now, token.id)))


def ends_soon(expires_at: datetime | None, *, now: datetime) -> bool:
    """Whether a token ends by itself within a week, and has not ended yet."""
    return expires_at is not None and now < expires_at <= now + WARNED_BEFORE


def tokens_exist(database: Database, clock: Clock) -> bool:
    """Whether any token is in force, so that somebody can be let in with one."""
    with database.connection() as connection:
        return any_in_force(connection, at=clock.now())


def tokens_asked_for(database: Database) -> bool:
    """Whether nobody is let in without a token: from the first one on, also when the last has been revoked."""
    with database.connection() as connection:
        return any_made(connection)


def revoke_token(database: Database, clock: Clock, which: str, *, actor: Actor) -> AccessToken:
    """End the token in force of that name or id; from the next request on it opens nothing.

    Raises:
        UsageError: No token in force has that name or id.
    """
    with database.connection() as connection:
        found = revoke(connection, which, actor=actor, at=clock.now())
    if found is None:
        raise UsageError(
            f"No token in force has the name or id {which[:80]!r}.", hint="See `medir token list`."
        )
    return found


def admit(database: Database, clock: Clock, text: str | None, *, local: Caller | None) -> Caller:
    """Who calls with this token, or without one; the check of every surface.

    `local` is who a caller without a token is while there never was a token; None where such a caller comes
    from beyond this machine and is never let in.

    Raises:
        NotSignedIn: There is no token where one is needed, or it is unknown, wrong, revoked or expired.
        DatabaseUnavailable: It can't be told.
    """
    if text is None:
        if tokens_asked_for(database):
            raise NotSignedIn("This needs a token.", hint="Send the header: Authorization: Bearer TOKEN")
        if local is None:
            raise NotSignedIn(
                "Without a token, only this machine's operator is let in.",
                hint="Make a token with `medir token create`, and send it.",
            )
        return local
    match = _TEXT.fullmatch(text)
    with database.connection() as connection:
        token = find_token(connection, match[1]) if match else None
        expected = token.secret_hash if token else _NOBODY
        # compared also where there is nothing to compare with, so that time tells nothing
        right = hmac.compare_digest(_hash(match[2] if match else ""), expected)
        if token is None or not right or token.revoked_at is not None:
            raise _not_valid()
        now = clock.now()
        _check_end(token, now=now)
    # a database that lets itself be read only lets people in as well
    with suppress(OperatorNeeded), database.connection() as connection:
        note_use(connection, token.id, at=now, every=_USE_NOTED_EVERY)
    return Caller.of(token)


def admit_by_id(database: Database, clock: Clock, token_id: str) -> Caller:
    """The holder of a token that was checked before, in the same session of a page.

    Raises:
        NotSignedIn: It has been revoked or has expired since.
    """
    with database.connection() as connection:
        token = find_token(connection, token_id)
    if token is None or token.revoked_at is not None:
        raise _not_valid()
    _check_end(token, now=clock.now())
    return Caller.of(token)


def id_of(text: str) -> str | None:
    """The public id in a token's text; None where the text is no token."""
    match = _TEXT.fullmatch(text)
    return match[1] if match else None


def token_to_json(token: AccessToken) -> dict[str, object]:
    """A token without anything secret."""
    ends = ("created_at", "created_by", "expires_at", "last_used_at", "revoked_at", "revoked_by")
    return keyed(token, "id", "name", "role") | {"kind": token.actor_kind} | keyed(token, *ends)


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def _kind_of(role: Role) -> ActorKind:
    return "agent" if role == "engine" else "human"


def _not_valid() -> NotSignedIn:
    return NotSignedIn(
        "This token is not valid: it is unknown, mistyped or revoked.",
        hint="Ask whoever keeps this installation for a new one.",
    )


def _check_end(token: AccessToken, *, now: datetime) -> None:
    if token.expires_at is not None and token.expires_at <= now:
        raise NotSignedIn(
            f"This token expired on {token.expires_at:%Y-%m-%d at %H:%M} UTC.",
            hint="Ask whoever keeps this installation for a new one.",
        )


def _later(at: datetime, length: timedelta) -> datetime:
    try:
        return at + length
    except OverflowError as error:
        raise InvalidInput(
            "The token would end after the year 9999.", hint="Give a shorter duration, or none."
        ) from error


def _one_of(words: tuple[_Word, ...], text: str, *, what: str, field: str) -> _Word:
    for word in words:
        if text == word:
            return word
    raise InvalidInput(
        f"{text[:80]!r} is no {what}.", hint=f"Use {' or '.join(words)}.", where={"field": field}
    )
