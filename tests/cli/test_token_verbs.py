"""`medir token`, and where the server may listen with and without tokens."""

import socket
from datetime import datetime, timedelta

import pytest
import shapes
from command_line import Caller

from medir.listening import listening
from rag_core.errors import Refused

TOKEN = {
    "id": str,
    "name": str,
    "role": ("viewer", "maintainer", "engine"),
    "kind": ("human", "agent", "system"),
    "createdAt": str,
    "createdBy": str,
    "expiresAt": shapes.TEXT_OR_NULL,
    "lastUsedAt": shapes.TEXT_OR_NULL,
    "revokedAt": shapes.TEXT_OR_NULL,
    "revokedBy": shapes.TEXT_OR_NULL,
}


def test_a_token_is_made_listed_and_revoked(medir_verb: Caller) -> None:
    made = medir_verb("token", "create", "ci", "--role", "viewer", "--json")
    assert made.code == 0
    assert shapes.mismatches(made.document, TOKEN | {"token": str}) == []
    text = str(made.document["token"])
    assert "It is the first" in made.stderr

    listed = medir_verb("token", "list", "--json")
    assert shapes.mismatches(listed.document, {"tokens": [TOKEN]}) == []
    assert text not in listed.stdout
    shown = medir_verb("token", "list")
    assert "ci" in shown.stdout
    assert "in force" in shown.stdout

    second = medir_verb("token", "create", "planner", "--role", "engine")
    assert second.stdout.startswith("medir_")
    assert len(second.stdout.split()) == 1
    assert "It is not shown again." in second.stderr
    assert "It is the first" not in second.stderr

    assert medir_verb("token", "revoke", "ci", "--json").document["revokedAt"] is not None
    last = medir_verb("token", "revoke", "planner")
    assert (last.code, "No token is in force" in last.stderr) == (0, True)
    assert "nobody is let in" in last.stderr
    assert "revoked" in medir_verb("token", "list").stdout


def test_a_token_with_an_end_is_listed_with_it_and_warned_of_a_week_before(medir_verb: Caller) -> None:
    made = medir_verb("token", "create", "soon", "--role", "viewer", "--expires", "6d", "--json")
    begun, ends = (datetime.fromisoformat(str(made.document[name])) for name in ("createdAt", "expiresAt"))
    assert ends - begun == timedelta(days=6)
    later = medir_verb("token", "create", "later", "--role", "viewer", "--expires", "90d")
    assert "It is good until 20" in later.stderr

    shown = medir_verb("token", "list")
    assert f"in force until {ends:%Y-%m-%d %H:%M}" in shown.stdout
    assert f"The token of soon ends by itself on {ends:%Y-%m-%d %H:%M} UTC." in shown.stderr
    assert "The token of later" not in shown.stderr

    checks = medir_verb("doctor", "--json").document["checks"]
    assert isinstance(checks, list)
    (told,) = (check for check in checks if check["name"] == "tokens")
    assert (told["ok"], told["found"]) == (False, f"within a week ends: soon on {ends:%Y-%m-%d %H:%M} UTC")

    for name in ("soon", "later"):
        medir_verb("token", "revoke", name)
    names = [check["name"] for check in medir_verb("doctor", "--json").document["checks"]]  # type: ignore[attr-defined]
    assert "tokens" not in names


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("create", "a b", "--role", "viewer"), "can't name a token"),
        (("create", "a", "--role", "admin"), "no role"),
        (("create", "a", "--role", "viewer", "--kind", "robot"), "no kind of actor"),
        (("create", "a", "--role", "viewer", "--expires", "soon"), "no duration"),
        (("create", "a", "--role", "viewer", "--expires", "999999w"), "after the year 9999"),
        (("create", "a"), "--role"),
        (("revoke", "nobody"), "No token in force"),
    ],
)
def test_what_can_not_be_meant_is_refused(medir_verb: Caller, arguments: tuple[str, ...], told: str) -> None:
    ended = medir_verb("token", *arguments, "--json")
    assert ended.code == 2
    assert told in str(ended.document["error"])


def test_an_empty_list_says_what_that_means(medir_verb: Caller) -> None:
    listed = medir_verb("token", "list")
    assert listed.code == 0
    assert "There are no tokens" in listed.stdout or "revoked" in listed.stdout


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "medir.example.org"])
def test_without_tokens_the_server_does_not_listen_beyond_this_machine(host: str) -> None:
    for tokens_exist in (None, lambda: False):
        with (
            pytest.raises(Refused, match="asks nobody who they are"),
            listening(host, 0, tokens_exist=tokens_exist),
        ):
            pass


def test_an_address_that_was_left_empty_is_refused_in_words_of_its_own(medir_verb: Caller) -> None:
    ended = medir_verb("serve", "--host", "", "--json")
    assert ended.code == 2
    assert "--host has no address" in str(ended.document["error"])


def test_with_tokens_it_may() -> None:
    with listening("0.0.0.0", 0, tokens_exist=lambda: True) as listener:
        assert listener.getsockname()[0] == "0.0.0.0"


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_on_this_machine_nobody_looks_for_tokens(host: str) -> None:
    def unasked() -> bool:
        raise AssertionError("the database was asked")

    with listening(host, 0, tokens_exist=unasked) as listener:
        assert listener.family == socket.AF_INET


def test_serving_beyond_this_machine_is_refused_by_the_verb(medir_verb: Caller) -> None:
    ended = medir_verb("serve", "--host", "0.0.0.0", "--port", "0", "--json")
    assert ended.code == 2
    assert "medir token create" in str(ended.document["error"])
