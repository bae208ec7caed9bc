"""Tokens: made, checked, used, revoked; a secret is kept nowhere."""

import re
from datetime import UTC, datetime, timedelta

import psycopg
import pytest

from rag_core.clock import SystemClock
from rag_core.database.connections import Database
from rag_core.errors import InvalidInput, NotPermitted, NotSignedIn, Refused, UsageError
from rag_core.model import Actor
from rag_core.project.access import (
    Caller,
    admit,
    admit_by_id,
    create_token,
    expiring,
    id_of,
    list_tokens,
    revoke_token,
    token_to_json,
    tokens_asked_for,
    tokens_exist,
)

ANA = Actor(kind="human", id="ana", surface="cli")
BIA = Actor(kind="human", id="bia", surface="cli")
HERE = Caller.local("ana")
CLOCK = SystemClock()


class Stopped:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.at = datetime(2026, 3, 1, 10, 0, tzinfo=UTC)

    def now(self) -> datetime:
        return self.at

    def monotonic_ms(self) -> float:
        return 0.0


def test_a_token_is_long_random_and_kept_as_a_hash_alone(database: Database) -> None:
    made = create_token(database, CLOCK, name="ci", role="maintainer", actor=ANA)
    assert re.fullmatch(r"medir_[0-9a-f]{12}_[A-Za-z0-9_-]{43}", made.text)
    secret = made.text.split("_", 2)[2]
    with psycopg.connect(database.url) as connection:
        (row,) = connection.execute("select t::text from access_tokens t").fetchall()
    assert secret not in row[0]
    assert made.token.secret_hash in row[0]
    assert "secret" not in str(token_to_json(made.token)).lower()
    assert made.token.created_by == "human:ana"


@pytest.mark.parametrize(
    ("role", "kind", "expected"),
    [
        ("viewer", None, "human"),
        ("maintainer", None, "human"),
        ("engine", None, "agent"),
        ("viewer", "system", "system"),
    ],
)
def test_whoever_holds_a_token_acts_under_its_name_and_kind(
    database: Database, role: str, kind: str | None, expected: str
) -> None:
    made = create_token(database, CLOCK, name="x", role=role, kind=kind, actor=ANA)
    caller = admit(database, CLOCK, made.text, local=None)
    assert caller == Caller(kind=expected, name="x", role=role)  # type: ignore[arg-type]
    assert caller.actor("api") == Actor(kind=expected, id="x", surface="api")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "role", "kind", "field"),
    [
        ("", "viewer", None, "name"),
        ("a:b", "viewer", None, "name"),
        ("a b", "viewer", None, "name"),
        ("-a", "viewer", None, "name"),
        ("a" * 64, "viewer", None, "name"),
        ("a\n", "viewer", None, "name"),
        ("a", "admin", None, "role"),
        ("a", "viewer", "robot", "kind"),
    ],
)
def test_what_is_no_name_role_or_kind_is_refused(
    database: Database, name: str, role: str, kind: str | None, field: str
) -> None:
    with pytest.raises(InvalidInput) as refusal:
        create_token(database, CLOCK, name=name, role=role, kind=kind, actor=ANA)
    assert refusal.value.where == {"field": field}
    assert list_tokens(database) == ()


def test_two_tokens_in_force_never_share_a_name(database: Database) -> None:
    first = create_token(database, CLOCK, name="ci", role="viewer", actor=ANA)
    with pytest.raises(Refused, match="in force already"):
        create_token(database, CLOCK, name="ci", role="maintainer", actor=ANA)
    revoke_token(database, CLOCK, "ci", actor=ANA)
    second = create_token(database, CLOCK, name="ci", role="viewer", actor=ANA)
    assert admit(database, CLOCK, second.text, local=None).name == "ci"
    with pytest.raises(NotSignedIn):
        admit(database, CLOCK, first.text, local=None)


def test_without_tokens_the_machine_itself_is_let_in_and_nobody_else(database: Database) -> None:
    assert not tokens_exist(database, CLOCK)
    assert not tokens_asked_for(database)
    assert admit(database, CLOCK, None, local=HERE) == HERE
    with pytest.raises(NotSignedIn, match="only this machine's operator"):
        admit(database, CLOCK, None, local=None)


def test_from_the_first_token_on_the_machine_itself_is_asked_too_for_good(database: Database) -> None:
    create_token(database, CLOCK, name="ci", role="engine", actor=ANA)
    assert tokens_exist(database, CLOCK)
    with pytest.raises(NotSignedIn, match="needs a token"):
        admit(database, CLOCK, None, local=HERE)
    revoke_token(database, CLOCK, "ci", actor=ANA)
    assert not tokens_exist(database, CLOCK)
    # the last token's end opens nothing
    assert tokens_asked_for(database)
    with pytest.raises(NotSignedIn, match="needs a token"):
        admit(database, CLOCK, None, local=HERE)


@pytest.mark.parametrize(
    "change", ["", "x", "{id}", "{all}x", "{all_but_last}", "MEDIR_{rest}", " {all}", "{all}\n"]
)
def test_a_text_that_is_not_exactly_the_token_is_none(database: Database, change: str) -> None:
    text = create_token(database, CLOCK, name="ci", role="viewer", actor=ANA).text
    given = (
        change.replace("{id}", text.split("_")[1])
        .replace("{all_but_last}", text[:-1])
        .replace("{all}", text)
        .replace("{rest}", text.removeprefix("medir_"))
    )
    assert given != text
    with pytest.raises(NotSignedIn, match="not valid"):
        admit(database, CLOCK, given, local=HERE)


def test_a_revocation_holds_at_once_and_says_whose_it_was(database: Database) -> None:
    made = create_token(database, CLOCK, name="ci", role="viewer", actor=ANA)
    token_id = id_of(made.text)
    assert token_id is not None
    assert admit_by_id(database, CLOCK, token_id).name == "ci"
    ended = revoke_token(database, CLOCK, token_id, actor=BIA)
    assert ended.revoked_by == "human:bia"
    for check in (
        lambda: admit(database, CLOCK, made.text, local=HERE),
        lambda: admit_by_id(database, CLOCK, token_id),
    ):
        with pytest.raises(NotSignedIn):
            check()
    with pytest.raises(UsageError, match="in force"):
        revoke_token(database, CLOCK, "ci", actor=ANA)
    (kept,) = list_tokens(database)
    assert (kept.revoked_by, kept.revoked_at) == ("human:bia", ended.revoked_at)


def test_a_token_with_an_end_opens_nothing_from_then_on_and_says_so(database: Database) -> None:
    clock = Stopped()
    made = create_token(database, clock, name="ci", role="viewer", expires="90d", actor=ANA)
    end = datetime(2026, 5, 30, 10, 0, tzinfo=UTC)
    token_id = id_of(made.text)
    assert token_id is not None
    assert made.token.expires_at == end
    clock.at = end - timedelta(microseconds=1)
    assert admit(database, clock, made.text, local=None).expires_at == end
    assert admit_by_id(database, clock, token_id).name == "ci"
    assert tokens_exist(database, clock)
    clock.at = end
    for check in (
        lambda: admit(database, clock, made.text, local=HERE),
        lambda: admit_by_id(database, clock, token_id),
    ):
        with pytest.raises(NotSignedIn, match="This token expired on 2026-05-30 at 10:00 UTC"):
            check()
    # whoever does not know its secret is told nothing of it
    with pytest.raises(NotSignedIn, match="not valid"):
        admit(database, clock, f"{made.text[:-1]}{'A' if made.text[-1] != 'A' else 'B'}", local=HERE)
    assert not tokens_exist(database, clock)
    with pytest.raises(NotSignedIn, match="needs a token"):
        admit(database, clock, None, local=HERE)


def test_a_token_that_has_expired_leaves_its_name_to_the_next(database: Database) -> None:
    clock = Stopped()
    first = create_token(database, clock, name="ci", role="viewer", expires="1h", actor=ANA)
    with pytest.raises(Refused, match="in force already"):
        create_token(database, clock, name="ci", role="viewer", actor=ANA)
    clock.at += timedelta(hours=1)
    second = create_token(database, clock, name="ci", role="viewer", actor=BIA)
    assert admit(database, clock, second.text, local=None).expires_at is None
    with pytest.raises(NotSignedIn, match="not valid"):
        admit(database, clock, first.text, local=None)
    assert list_tokens(database)[0].revoked_by == "human:bia"


def test_whatever_ends_within_a_week_is_told_before(database: Database) -> None:
    clock = Stopped()
    for name, length in (("b", "7d"), ("a", "8d"), ("c", "1h"), ("d", None), ("e", "2d")):
        create_token(database, clock, name=name, role="viewer", expires=length, actor=ANA)
    revoke_token(database, clock, "e", actor=ANA)
    assert [token.name for token in expiring(list_tokens(database), now=clock.at)] == ["c", "b"]
    clock.at += timedelta(days=1)
    assert [token.name for token in expiring(list_tokens(database), now=clock.at)] == ["b", "a"]


def test_an_id_ends_its_own_token_also_where_another_has_it_for_a_name(database: Database) -> None:
    first = create_token(database, CLOCK, name="first", role="viewer", actor=ANA)
    create_token(database, CLOCK, name=first.token.id, role="viewer", actor=ANA)
    assert revoke_token(database, CLOCK, first.token.id, actor=ANA).name == "first"


def test_the_last_use_is_kept_to_the_minute(database: Database) -> None:
    clock = Stopped()
    made = create_token(database, clock, name="ci", role="viewer", actor=ANA)
    assert list_tokens(database)[0].last_used_at is None
    first = clock.at
    for seconds, expected in ((0, first), (59, first), (61, first + timedelta(seconds=61))):
        clock.at = first + timedelta(seconds=seconds)
        admit(database, clock, made.text, local=None)
        assert list_tokens(database)[0].last_used_at == expected


def test_a_role_is_refused_by_name_and_the_operator_has_them_all() -> None:
    viewer = Caller(kind="human", name="v", role="viewer")
    viewer.require("viewer", "maintainer")
    with pytest.raises(NotPermitted, match="The role viewer may not do this; it takes the role maintainer"):
        viewer.require("maintainer")
    HERE.require("engine")
    HERE.require("maintainer")
