"""The doors of `medir serve` as other websites, proxies and files of other people knock at them."""

import asyncio
import base64
import http.client
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest
from test_served import serving
from websockets import ConnectionClosedError, Origin
from websockets.sync.client import ClientConnection, connect

from medir.listening import listening
from rag_core.clock import SystemClock
from rag_core.database.connections import Database
from rag_core.model import Actor
from rag_core.project.access import create_token, revoke_token

ANA = Actor(kind="human", id="ana", surface="cli")
HOSTILE = """
[server]
enableCORS = false
enableXsrfProtection = false
baseUrlPath = "elsewhere"
enableAgentApi = true
enableStaticServing = true
[server.trustedUserHeaders]
X-Person = "email"
"""
Where = tuple[str, int]


def shake_hands(where: Where, **headers: str) -> int:
    """The status that a websocket's handshake is answered with."""
    connection = http.client.HTTPConnection(*where, timeout=30)
    try:
        connection.putrequest("GET", "/_stcore/stream", skip_host=True)
        sent = {
            "Host": f"{where[0]}:{where[1]}",
            "Connection": "Upgrade",
            "Upgrade": "websocket",
            "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Key": base64.b64encode(b"0123456789abcdef").decode(),
            "Sec-WebSocket-Protocol": "streamlit",
            **headers,
        }
        for name, value in sent.items():
            connection.putheader(name, value)
        connection.endheaders()
        return connection.getresponse().status
    finally:
        connection.close()


def ask(where: Where, method: str, path: str, **headers: str) -> http.client.HTTPResponse:
    """An answer, read to its end."""
    connection = http.client.HTTPConnection(*where, timeout=30)
    try:
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        answer.read()
        return answer
    finally:
        connection.close()


def health_ms(where: Where) -> float:
    """How long the API's own health takes, the best of three on a machine that others use."""
    taken: list[float] = []
    for _ in range(3):
        began = time.perf_counter()
        assert ask(where, "GET", "/api/health").status == 200
        taken.append((time.perf_counter() - began) * 1000)
    return min(taken)


@contextmanager
def silent_proxy() -> Iterator[tuple[str, list[int]]]:
    """A proxy that takes connections and never answers: its address, and how many came."""
    came: list[int] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def take() -> None:
            kept = []
            while True:
                try:
                    kept.append(listener.accept()[0])
                except OSError:
                    return
                came.append(len(kept))

        threading.Thread(target=take, daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", came
        listener.shutdown(socket.SHUT_RDWR)


@pytest.fixture(scope="module")
def hostile(
    module_database_url: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Where, Path, list[int]]]:
    """A server whose person, and whose folder, has hostile files, and whose network is a proxy that never answers."""
    home = tmp_path_factory.mktemp("doors")
    options = home / ".streamlit" / "config.toml"
    options.parent.mkdir()
    options.write_text(HOSTILE)
    with silent_proxy() as (proxy, came):
        environment = {
            "DATABASE_URL": module_database_url,
            "HOME": str(home),
            **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy"), proxy),
        }
        with serving(environment, home / "medir", folder=home) as where:
            assert health_ms(where) < 5_000
            yield where, options, came


def test_options_of_a_person_and_of_a_folder_let_nobody_in_and_nothing_waits_for_the_network(
    hostile: tuple[Where, Path, list[int]],
) -> None:
    where, options, came = hostile
    for _ in range(2):
        for origin in (
            "https://evil.example",
            f"http://127.0.0.1:{where[1] - 1}",
            "http://localhost:3000",
            "null",
        ):
            began = time.perf_counter()
            assert shake_hands(where, Origin=origin) == 403
            # a look at the network would take a second and more
            assert time.perf_counter() - began < 0.9
        assert shake_hands(where) == 403
        assert health_ms(where) < 500
        assert shake_hands(where, Origin=f"http://{where[0]}:{where[1]}") == 101
        assert ask(where, "GET", "/search").status == 200
        for path in (
            "/elsewhere/search",
            "/_stcore/agent/mcp",
            "/_stcore/agent/openapi.json",
            "/app/static/x",
        ):
            assert ask(where, "GET", path).status == 404
        # once more, after the file has changed and an option has been asked for
        options.write_text(HOSTILE + '\n[client]\nshowErrorDetails = "full"\n')
        time.sleep(0.5)
    assert came == []


def test_a_name_that_was_led_here_opens_nothing(hostile: tuple[Where, Path, list[int]]) -> None:
    where, _, _ = hostile
    name = f"rebound.example:{where[1]}"
    assert shake_hands(where, Host=name, Origin=f"http://{name}") == 403
    assert ask(where, "GET", "/search", Host=name).status == 403
    assert ask(where, "GET", "/api/projects/x/rag/coverage", Host=name).status == 401


def test_nothing_can_be_left_at_the_server(hostile: tuple[Where, Path, list[int]]) -> None:
    where, _, _ = hostile
    for method in ("PUT", "POST", "DELETE", "OPTIONS"):
        answer = ask(where, method, "/_stcore/upload_file/a/b", Origin=f"http://{where[0]}:{where[1]}")
        assert answer.status == 404
        assert answer.getheader("access-control-allow-origin") is None


def send_and_listen(stream: ClientConnection, message: bytes) -> None:
    # the end may come while it is still being sent
    stream.send(message)
    list(stream)


def test_what_a_page_sends_at_once_is_bounded(hostile: tuple[Where, Path, list[int]]) -> None:
    where, _, _ = hostile
    own = f"{where[0]}:{where[1]}"
    for size in (1024 * 1024 + 1, 3 * 1024 * 1024):
        with connect(
            f"ws://{own}/_stcore/stream", origin=Origin(f"http://{own}"), proxy=None, compression=None
        ) as stream:
            with pytest.raises(ConnectionClosedError) as closed:
                send_and_listen(stream, b"\0" * size)
            last_word = closed.value.rcvd
            # what a server leaves unread can take that with it
            assert size > 2 * 1024 * 1024 if last_word is None else last_word.code == 1009
    assert health_ms(where) < 500


def test_every_answer_has_the_usual_headers(hostile: tuple[Where, Path, list[int]]) -> None:
    where, _, _ = hostile
    for path in (
        "/",
        "/search",
        "/nowhere",
        "/favicon.png",
        "/media/x",
        "/api/health",
        "/api/nowhere",
        "/api/..",
    ):
        headers: Mapping[str, str | None] = dict(ask(where, "GET", path).getheaders())
        told = {name.lower(): value or "" for name, value in headers.items()}
        assert told["x-frame-options"] == "DENY", path
        assert "frame-ancestors 'none'" in told["content-security-policy"], path
        assert told["x-content-type-options"] == "nosniff", path
        assert told["referrer-policy"] == "same-origin", path


def test_a_proxy_shuts_the_pages_until_there_is_a_token_and_its_end_opens_nothing(
    hostile: tuple[Where, Path, list[int]], module_database_url: str
) -> None:
    where, _, _ = hostile
    proxied = {
        "Host": "medir.example.org",
        "Origin": "https://medir.example.org",
        "X-Forwarded-Proto": "https",
    }
    assert shake_hands(where, **proxied) == 403
    assert ask(where, "GET", "/search", **proxied).status == 403
    with Database(module_database_url, max_size=1) as database:
        create_token(database, SystemClock(), name="ana", role="maintainer", actor=ANA)
        assert shake_hands(where, **proxied) == 101
        assert shake_hands(where, **{**proxied, "Origin": "http://medir.example.org"}) == 403
        assert ask(where, "GET", "/search", **proxied).status == 200
        revoke_token(database, SystemClock(), "ana", actor=ANA)
    assert ask(where, "POST", "/api/projects/x/rag/search").status == 401


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_a_small_answer_is_sent_at_once_on_every_accepted_connection(host: str) -> None:
    accepted: list[int] = []

    class Accepting(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            connection = transport.get_extra_info("socket")
            accepted.append(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            transport.close()

    async def accept_one(listener: socket.socket) -> None:
        server = await asyncio.get_running_loop().create_server(Accepting, sock=listener)
        reader, writer = await asyncio.open_connection(*listener.getsockname()[:2])
        assert await reader.read() == b""
        writer.close()
        server.close()

    with listening(host, 0) as listener:
        asyncio.run(accept_one(listener))
    assert accepted == [1]
