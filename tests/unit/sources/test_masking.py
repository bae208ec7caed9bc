"""Secrets in session logs are masked; what merely looks long is not."""

import time
from datetime import UTC, datetime

import pytest

from rag_core.model.session_events import SessionEvent
from rag_core.sources.masking import mask_event, mask_text
from secret_corpus import PLAIN, SECRETS

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


def test_of_secrets_that_chose_no_rule_95_in_100_are_masked() -> None:
    # half of one left standing is a leak too
    missed = [
        text
        for text, secret in SECRETS
        for left in [mask_text(text).text]
        if secret[: len(secret) // 2] in left or secret[len(secret) // 2 :] in left
    ]
    assert len(SECRETS) >= 150
    assert len(missed) <= 0.05 * len(SECRETS), missed


def test_of_plain_texts_that_chose_no_rule_2_in_100_are_touched_at_most() -> None:
    touched = [text for text in PLAIN if mask_text(text).text != text]
    assert len(PLAIN) >= 150
    assert len(touched) <= 0.02 * len(PLAIN), touched


def test_a_mention_of_a_keys_mark_costs_nothing_of_the_message() -> None:
    text = "Procure por -----BEGIN PRIVATE KEY----- no log.\nO resto da mensagem fica."
    assert mask_text(text).text == text


def test_a_key_that_was_cut_off_is_masked_as_far_as_it_goes() -> None:
    lines = "\n".join(f"{GITHUB[4:]}{number:04}{GITHUB[4:24]}" for number in range(4))
    masked = mask_text(f"antes\n-----BEGIN PRIVATE KEY-----\n{lines}\ne mais texto, que fica.")
    assert masked.text == "antes\n[masked: Private Key]\ne mais texto, que fica."


def test_what_stands_under_a_key_that_says_so_is_masked() -> None:
    event = SessionEvent(
        session_id="s",
        event_id="e",
        type="tool.result",
        created_at=datetime(2026, 1, 1, tzinfo=UTC),
        actor_kind="agent",
        actor_id="a",
        title=None,
        payload={"password": "Zx9#kkq2", "note": "Zx9", "content": [{"type": "text", "text": f"use {AWS}"}]},
    )
    masked, count = mask_event(event)
    assert count == 2
    assert masked.payload == {
        "password": "[masked: Password]",
        "note": "Zx9",
        "content": [{"type": "text", "text": "use [masked: AWS Access Key]"}],
    }


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("CPF 111.444.777-35", "CPF [masked: CPF]"),
        ("cpf=11144477735;", "cpf=[masked: CPF];"),
        ("CNPJ 11.222.333/0001-81", "CNPJ [masked: CNPJ]"),
        # the number of the published example with letters
        ("12.ABC.345/01DE-35", "[masked: CNPJ]"),
        ("111.444.777-36 e 111.111.111-11", "111.444.777-36 e 111.111.111-11"),
        ("11.222.333/0001-82", "11.222.333/0001-82"),
    ],
)
def test_tax_numbers_are_masked_where_asked_for_and_known_by_their_check_digits(
    text: str, masked: str
) -> None:
    assert mask_text(text).text == text
    assert mask_text(text, tax_numbers=True).text == masked


@pytest.mark.parametrize(
    "piece",
    [
        *("/", "://", "eyJ", "eyJa.eyJ", "AKIA", "ghp_", "sk-ant-", "-", "a", " ", "token=", "password is "),
        *(
            "-----BEGIN PRIVATE KEY-----",
            "-----BEGIN PRIVATE KEY-----\n" + "A" * 64 + "\n",
            "a://b:c",
            "login ",
        ),
        *(
            "data:a;base64,",
            "curl ",
            "senha do ",
            "111.444.777-35 ",
            "xapp-1-AAAAAAAA",
            "SG.aaaaaaaaaaaaaaaa.",
        ),
    ],
)
def test_the_time_for_a_text_grows_with_its_length_and_no_faster(piece: str) -> None:
    def seconds(size: int) -> float:
        text = piece * (size // len(piece))
        times = []
        for _ in range(3):
            start = time.process_time()
            mask_text(text, tax_numbers=True)
            times.append(time.process_time() - start)
        return min(times)

    # reading it anew for each of its parts would take 64 times as long
    assert seconds(32_000) < 24 * max(seconds(4_000), 0.002)
