"""Over HTTP, from the first token on, the tools are for whoever holds one of the role engine, under its name."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass

import anyio
import httpx
import pytest
from agent_material import Installation, over_http, served, text_of
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from material import ANA, make_project
from medir.agent_tools.gate import AgentDoor
from rag_core.clock import SystemClock
from rag_core.database.connections import Database
from rag_core.project.access import create_token, revoke_token

CopyDatabase = Callable[[], AbstractContextManager[str]]
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
HEADERS = {"accept": "application/json, text/event-stream"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Guarded:
    """Tools that are served while there are tokens; the project is not indexed."""

    installation: Installation
    database: Database
    address: str

    def token(self, name: str, role: str) -> str:
        return create_token(self.database, SystemClock(), name=name, role=role, actor=ANA).text

    def ask(self, authorization: str | None) -> httpx.Response:
        sent = HEADERS if authorization is None else {**HEADERS, "Authorization": authorization}
        return httpx.post(self.address, json=LIST, headers=sent)


@pytest.fixture(scope="module")
def guarded(copy_database: CopyDatabase, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    folder = tmp_path_factory.mktemp("guarded")
    with copy_database() as url, Database(url, max_size=2) as database:
        make_project(database, folder / "repository")
        installation = Installation(
            url=url,
            environment={"DATABASE_URL": url, "MEDIR_HOME": str(folder), "MEDIR_EMBEDDING": "embedded"},
        )
        with served(installation, "--agent", "dita") as address:
            found = Guarded(installation=installation, database=database, address=address)
            # nobody is asked before there is a token
            assert found.ask(None).status_code == 200
            found.token("porteiro", "engine")
            yield found


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_an_engines_call_is_its_own_whatever_the_server_was_told(guarded: Guarded, mode: str) -> None:
    token = guarded.token(f"motor-{mode}", "engine")
    with over_http(guarded.address, token=token, mode=mode) as agent:
        found = agent.search("Quando o frete é calculado?")
    assert found["notes"] == ["The project is not indexed yet; its maintainer can run `medir index`."]
    assert guarded.installation.rows(
        "select surface::text, actor_kind::text, actor_id from rag_searches where id = %s", found["searchId"]
    ) == [("mcp", "agent", f"motor-{mode}")]


def test_an_engine_is_refused_in_a_result_as_everybody_is(guarded: Guarded) -> None:
    with over_http(guarded.address, token=guarded.token("exigente", "engine")) as agent:
        assert text_of(agent.call("rag_search", query="")) == "The question is empty. Ask something."


@pytest.mark.parametrize("sent", [None, "Bearer medir_0_0", "Bearer x y", "Basic YW5hOmFuYQ==", "medir"])
def test_without_a_valid_token_nobody_is_let_in(guarded: Guarded, sent: str | None) -> None:
    answer = guarded.ask(sent)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == 'Bearer realm="medir"'
    assert answer.headers["content-type"] == "application/problem+json"
    told = answer.json()
    assert (told["type"], told["title"], told["status"], told["code"]) == (
        "about:blank",
        "Unauthorized",
        401,
        "notSignedIn",
    )
    assert told["detail"]
    assert told["hint"]


@pytest.mark.parametrize("role", ["viewer", "maintainer"])
def test_other_roles_are_refused(guarded: Guarded, role: str) -> None:
    answer = guarded.ask(f"Bearer {guarded.token(f'pessoa-{role}', role)}")
    assert answer.status_code == 403
    assert answer.json()["detail"] == f"The role {role} may not do this; it takes the role engine."


def test_a_revoked_token_opens_nothing_from_the_next_call_on(guarded: Guarded) -> None:
    token = guarded.token("de-saida", "engine")
    assert guarded.ask(f"Bearer {token}").status_code == 200
    revoke_token(guarded.database, SystemClock(), "de-saida", actor=ANA)
    assert guarded.ask(f"Bearer {token}").status_code == 401


def test_a_token_is_good_under_whatever_name_the_machine_is_reached(guarded: Guarded) -> None:
    token = guarded.token("de-fora", "engine")
    sent = {**HEADERS, "host": "medir.example.org", "Authorization": f"Bearer {token}"}
    assert httpx.post(guarded.address, json=LIST, headers=sent).status_code == 200


def test_beyond_this_machine_it_is_served_while_there_are_tokens_and_nobody_is_let_in_without_one(
    guarded: Guarded,
) -> None:
    with served(guarded.installation, "--host", "0.0.0.0", at="0.0.0.0") as address:
        answer = httpx.post(address.replace("0.0.0.0", "127.0.0.1"), json=LIST, headers=HEADERS)
    assert answer.status_code == 401


@pytest.mark.parametrize(
    ("trusts_machine", "peer", "status"),
    [
        (True, "127.0.0.1", 200),
        (True, "::1", 200),
        # without tokens, nobody else is served, whatever the server listens on
        (True, "192.0.2.7", 401),
        # where people sign in, this machine proves nothing
        (False, "127.0.0.1", 401),
    ],
)
def test_without_tokens_only_this_machine_is_trusted_and_not_where_people_sign_in(
    database: Database, trusts_machine: bool, peer: str, status: int
) -> None:
    async def welcome(scope: Scope, receive: Receive, send: Send) -> None:
        await Response()(scope, receive, send)

    gate = AgentDoor(welcome, database=database, clock=SystemClock(), trusts_machine=trusts_machine)

    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(gate, client=(peer, 40000))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8502") as client:
            return await client.post("/mcp", json=LIST)

    answer = anyio.run(ask)
    assert answer.status_code == status
    if status == 401:
        assert answer.json()["detail"] == "Without a token, only this machine's operator is let in."


def test_a_database_that_is_away_is_no_refusal_of_the_caller() -> None:
    # a pool that was never opened gives no connection, at once
    gate = AgentDoor(Response(), database=Database(""), clock=SystemClock(), trusts_machine=True)

    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(gate)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8502") as client:
            return await client.post("/mcp", json=LIST)

    answer = anyio.run(ask)
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
    assert answer.json()["code"] == "databaseUnavailable"
