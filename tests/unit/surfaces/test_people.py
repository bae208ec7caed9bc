"""Who signed in with a provider, and as what."""

from datetime import UTC, datetime, timedelta

import pytest

from medir.people import People, Person
from rag_core.errors import NotPermitted, NotSignedIn

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
PEOPLE = People(
    by_address={"ana@example.org": "viewer"},
    by_claim={"keepers": "maintainer", "readers": "viewer"},
    claim="realm.roles",
    lasts=timedelta(hours=12),
)


def person(**claims: object) -> Person:
    found = Person.of({"is_logged_in": True, "email": "Bia@example.org", **claims})
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("claims", "role"),
    [
        ({"email": "ANA@example.org"}, "viewer"),
        # the list of addresses goes before the claim
        ({"email": "ana@example.org", "realm": {"roles": ["keepers"]}}, "viewer"),
        ({"realm": {"roles": ["readers"]}}, "viewer"),
        ({"realm": {"roles": "keepers"}}, "maintainer"),
        ({"realm": {"roles": ["readers", "staff", "keepers"]}}, "maintainer"),
        ({"realm.roles": ["readers"]}, "viewer"),
    ],
)
def test_a_role_is_given_by_address_or_by_a_claim(claims: dict[str, object], role: str) -> None:
    assert PEOPLE.role_of(person(**claims), now=NOW) == role


@pytest.mark.parametrize(
    "claims",
    [
        {},
        {"realm": "keepers"},
        {"roles": ["keepers"]},
        {"realm": {"roles": ["staff", 7, None]}},
        {"realm": {"roles": 7}},
    ],
)
def test_whoever_has_none_may_do_nothing(claims: dict[str, object]) -> None:
    with pytest.raises(NotPermitted, match=r"bia@example\.org has no role"):
        PEOPLE.role_of(person(**claims), now=NOW)


def test_a_sign_in_ends_after_its_time() -> None:
    begun = {"email": "ana@example.org", "iat": int((NOW - timedelta(hours=12)).timestamp())}
    assert PEOPLE.role_of(person(**begun), now=NOW - timedelta(seconds=1)) == "viewer"
    with pytest.raises(NotSignedIn, match="expired"):
        PEOPLE.role_of(person(**begun), now=NOW)


@pytest.mark.parametrize(
    "claims",
    [{}, {"email": "a@b.c"}, {"is_logged_in": False, "email": "a@b.c"}, {"is_logged_in": True},
     {"is_logged_in": True, "email": "a@b.c", "email_verified": False},
     {"is_logged_in": True, "email": "a@b.c", "email_verified": "true"}],
)  # fmt: skip
def test_nobody_is_there_without_a_confirmed_address(claims: dict[str, object]) -> None:
    assert Person.of(claims) is None
