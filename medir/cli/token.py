"""`medir token`: who may call, and as what."""

from datetime import datetime

import click

from medir.cli.frame import Output, cell, make_table, operator, services, with_output
from rag_core.database.tokens import AccessToken
from rag_core.project.access import (
    RENEWAL,
    ROLES,
    create_token,
    expiring,
    list_tokens,
    revoke_token,
    token_to_json,
    tokens_asked_for,
    tokens_exist,
)


@click.group("token")
def token() -> None:
    """Tokens of callers; from the first one on, requests and pages ask for one, for good."""


@token.command("create")
@click.argument("name")
@click.option("--role", required=True, metavar="|".join(ROLES), help="What it may do.")
@click.option(
    "--kind",
    metavar="human|agent|system",
    help="What sort of actor holds it; default: agent for an engine, else human.",
)
@click.option(
    "--expires", metavar="90d", help="How long it is good for: 12h, 90d, 26w; default: until it is revoked."
)
@with_output
def create(output: Output, *, name: str, role: str, kind: str | None, expires: str | None) -> None:
    """Make a token and print it once; only its hash is kept."""
    with services() as opened:
        first = not tokens_asked_for(opened.database)
        made = create_token(
            opened.database,
            opened.clock,
            name=name,
            role=role,
            kind=kind,
            expires=expires,
            actor=operator(),
        )
    output.emit(token_to_json(made.token) | {"token": made.text})
    output.say(made.text)
    ends = made.token.expires_at
    good = "" if ends is None else f" It is good until {ends:%Y-%m-%d %H:%M} UTC."
    output.note(f"The token of {made.token.name}, role {made.token.role}.{good} It is not shown again.")
    if first:
        output.note(
            "It is the first: from now on every request and every page asks for a token, also when none is in force."
        )


@token.command("list")
@with_output
def show(output: Output) -> None:
    """Every token there ever was, without its secret."""
    with services() as opened:
        found, now = list_tokens(opened.database), opened.clock.now()
    output.emit({"tokens": [token_to_json(one) for one in found]})
    if not output.as_json:
        _print(output, found, now)
    for one in expiring(found, now=now):
        output.note(
            f"The token of {one.name} ends by itself on {one.expires_at:%Y-%m-%d %H:%M} UTC. {RENEWAL}"
        )


@token.command("revoke")
@click.argument("which", metavar="NAME|ID")
@with_output
def revoke(output: Output, *, which: str) -> None:
    """End a token; from the next request on it opens nothing."""
    with services() as opened:
        ended = revoke_token(opened.database, opened.clock, which, actor=operator())
        last = not tokens_exist(opened.database, opened.clock)
    output.emit(token_to_json(ended))
    output.say(f"Revoked the token of {ended.name}, role {ended.role}.")
    if last:
        output.note(
            "No token is in force, and without one nobody is let in: make another with medir token create."
        )


def _print(output: Output, found: tuple[AccessToken, ...], now: datetime) -> None:
    if not found:
        output.say("There are no tokens: only this machine is served, and nobody on it is asked for one.")
        return
    table = make_table("id", "name", "role", "kind", "made (UTC)", "by", "last used (UTC)", "state")
    for one in found:
        table.add_row(
            one.id,
            cell(one.name),
            one.role,
            one.actor_kind,
            f"{one.created_at:%Y-%m-%d %H:%M}",
            cell(one.created_by),
            f"{one.last_used_at:%Y-%m-%d %H:%M}" if one.last_used_at else "never",
            cell(_state(one, now)),
        )
    output.people.print(table)


def _state(token: AccessToken, now: datetime) -> str:
    if token.revoked_at is not None:
        return f"revoked {token.revoked_at:%Y-%m-%d %H:%M} by {token.revoked_by}"
    if token.expires_at is None:
        return "in force"
    return f"{'expired' if token.expires_at <= now else 'in force until'} {token.expires_at:%Y-%m-%d %H:%M}"
