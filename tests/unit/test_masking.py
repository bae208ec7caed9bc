"""Secrets in session logs are masked; what merely looks long is not."""

from datetime import UTC, datetime

import pytest

from rag_core.events import SessionEvent
from rag_core.sources.masking import mask_event, mask_text

# put together here, so that no scanner takes this file for a leak
GITHUB = "ghp_" + "a1B2" * 9
AWS = "AKIA" + "ABCDEFGHIJKLMNOP"


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        (f"use {GITHUB}, por favor", "use [masked: GitHub Token], por favor"),
        (f"chave {AWS}.", "chave [masked: AWS Access Key]."),
        (
            "postgres://ana:s3nh4@db.exemplo.com.br/x",
            "postgres://ana:[masked: Basic Auth Credentials]@db.exemplo.com.br/x",
        ),
        (
            "-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY-----\nfim",
            "[masked: Private Key]\nfim",
        ),
    ],
)
def test_a_secret_is_replaced_by_a_marker_and_the_rest_stays(text: str, masked: str) -> None:
    assert mask_text(text).text == masked
    assert mask_text(text).count == 1


@pytest.mark.parametrize(
    "text",
    [
        "commit 9d0c0630100530607acdacb25395449b1fd15494",
        "RN-058, TRP-3004 e a senha do cofre mudam em 2026-03-01",
        "https://exemplo.com.br/a?x=1&y=2",
    ],
)
def test_commit_hashes_identifiers_and_prose_are_left_alone(text: str) -> None:
    assert mask_text(text).text == text


def test_masking_twice_changes_nothing_more() -> None:
    once = mask_text(f"{GITHUB} e {AWS}")

    assert mask_text(once.text).count == 0


def test_every_text_of_a_payload_is_masked_and_counted() -> None:
    event = SessionEvent(
        session_id="s",
        event_id="e",
        type="tool.result",
        created_at=datetime(2026, 1, 1, tzinfo=UTC),
        actor_kind="agent",
        actor_id="a",
        title=f"token {AWS}",
        payload={"text": f"aqui: {GITHUB}", "deep": [{"env": AWS, "n": 3}]},
    )

    masked, count = mask_event(event)

    assert count == 3
    assert GITHUB not in str(masked)
    assert AWS not in str(masked)
    assert masked.payload["deep"] == [{"env": "[masked: AWS Access Key]", "n": 3}]
