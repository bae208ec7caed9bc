"""Whose page asks, from where, and for what: what stands before the pages, the API and the tools."""

from collections.abc import Callable

import anyio
import httpx
import pytest
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from medir.door.answer_headers import AnswerHeaders, page_policy
from medir.door.origin import is_own_origin, may_send, sits_here
from medir.door.pages_door import PagesDoor

HERE = "127.0.0.1:8501"


@pytest.mark.parametrize(
    ("origin", "host", "more"),
    [
        ("http://127.0.0.1:8501", "127.0.0.1:8501", {}),
        ("http://[::1]:8501", "[::1]:8501", {}),
        ("http://localhost", "localhost", {}),
        # a proxy that ends TLS, and says so or not
        ("https://medir.example.org", "medir.example.org", {"x-forwarded-proto": "https"}),
        ("https://medir.example.org:8443", "medir.example.org:8443", {}),
        ("http://medir.example.org", "medir.example.org", {}),
    ],
)
def test_a_page_of_this_server_is_known(origin: str, host: str, more: dict[str, str]) -> None:
    assert is_own_origin(Headers({"origin": origin, "host": host, **more}), scheme="http")


@pytest.mark.parametrize(
    ("origin", "host", "more"),
    [
        ("https://evil.example", HERE, {}),
        # another port of this machine is another page, and so is another name or scheme of the same port
        ("http://127.0.0.1:3000", HERE, {}),
        ("http://127.0.0.1", HERE, {}),
        ("http://localhost:8501", HERE, {}),
        ("https://127.0.0.1:8501", HERE, {}),
        ("http://127.0.0.1:8501.evil.example", HERE, {}),
        ("http://evil@127.0.0.1:8501", HERE, {}),
        ("http://127.0.0.1:8501/", HERE, {}),
        ("null", HERE, {}),
        ("", HERE, {}),
        ("file://127.0.0.1:8501", HERE, {}),
        ("http://medir.example.org", "medir.example.org", {"x-forwarded-proto": "https"}),
        ("https://evil.example", "medir.example.org", {"x-forwarded-proto": "https"}),
        ("https://medir.example.org", HERE, {"x-forwarded-host": "medir.example.org"}),
    ],
)
def test_every_other_page_is_not(origin: str, host: str, more: dict[str, str]) -> None:
    headers = Headers({"origin": origin, "host": host, **more})
    assert not is_own_origin(headers, scheme="http")
    assert not may_send(headers, scheme="http")


def test_whoever_sends_two_origins_or_two_hosts_is_nobody() -> None:
    own, host = (b"origin", b"http://127.0.0.1:8501"), (b"host", HERE.encode())
    assert not is_own_origin(Headers(raw=[own, own, host]), scheme="http")
    assert not is_own_origin(Headers(raw=[own, host, host]), scheme="http")
    assert not sits_here("127.0.0.1", Headers(raw=[host, (b"host", b"evil.example")]))
    assert not sits_here("127.0.0.1", Headers(raw=[]))


@pytest.mark.parametrize(
    "name",
    [
        "X-Forwarded-For",
        "X-Forwarded-Host",
        "X-Forwarded-Proto",
        "X-Forwarded-Anything",
        "Forwarded",
        "Via",
        "X-Real-IP",
        "CF-Connecting-IP",
        "True-Client-IP",
    ],
)
def test_whom_somebody_asks_for_does_not_sit_here_even_if_that_is_this_machine(name: str) -> None:
    assert sits_here("127.0.0.1", Headers({"host": HERE}))
    assert not sits_here("127.0.0.1", Headers({"host": HERE, name: "127.0.0.1"}))


def asked(app: ASGIApp, method: str, path: str, *, host: str = HERE, **more: str) -> httpx.Response:
    async def ask() -> httpx.Response:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://server") as client:
            return await client.request(method, path, headers={"host": host, **more})

    return anyio.run(ask)


def door(*, asks: bool = False, signs_in: bool = False) -> ASGIApp:
    async def asks_who() -> bool:
        return asks

    return PagesDoor(
        PlainTextResponse("let through"), pages=["search", "index"], asks_who=asks_who, signs_in=signs_in
    )


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/search",
        "/search?q=frete",
        "/search/",
        "/static/js/index.js",
        "/media/0123.csv",
        "/favicon.png",
        "/_stcore/health",
        "/_stcore/host-config",
    ],
)
def test_what_the_pages_use_is_served(path: str) -> None:
    assert asked(door(), "GET", path).text == "let through"
    assert asked(door(), "HEAD", path).status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        "/_stcore/metrics",
        "/_stcore/script-health-check",
        "/_stcore/upload_file/a/b",
        "/_stcore/bidi-components/x/y.js",
        "/_stcore/agent/mcp",
        "/_stcore/agent/openapi.json",
        "/_stcore/agent/interact",
        "/_stcore/stream",
        "/component/x/index.html",
        "/app/static/secret.txt",
        "/media/",
        "/static/",
        "/static/../_stcore/metrics",
        "/static/%2e%2e/_stcore/metrics",
        "/static/..%5C_stcore/metrics",
        "/auth/login",
        "/auth/logout",
        "/oauth2callback",
        "/searching",
        "/search/_stcore/metrics",
        "/anything",
        "//evil.example",
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE", "OPTIONS"])
def test_every_other_address_is_none(path: str, method: str) -> None:
    assert asked(door(asks=True), method, f"http://server{path}").status_code == 404


def test_the_addresses_of_signing_in_are_served_where_people_sign_in() -> None:
    for path in ("/auth/login", "/auth/logout", "/oauth2callback"):
        assert asked(door(signs_in=True), "GET", path).text == "let through"


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"])
@pytest.mark.parametrize("path", ["/", "/search", "/media/x", "/_stcore/health"])
def test_nothing_is_sent_to_an_address_of_the_pages(path: str, method: str) -> None:
    answer = asked(door(), method, path)
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, HEAD")
    assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize("announced", [{"content-length": "1"}, {"transfer-encoding": "chunked"}])
def test_a_request_that_brings_a_body_is_refused_before_it_is_read(announced: dict[str, str]) -> None:
    answer = asked(door(), "GET", "/search", **announced)
    assert (answer.status_code, answer.headers["connection"]) == (413, "close")


@pytest.mark.parametrize("more", [{"host": "rebound.example:8501"}, {"x-forwarded-for": "127.0.0.1"}])
@pytest.mark.parametrize("path", ["/", "/search", "/media/x", "/_stcore/host-config"])
def test_where_nobody_is_asked_the_server_has_this_machines_names_alone(
    path: str, more: dict[str, str]
) -> None:
    refused = asked(door(), "GET", path, **more)
    assert refused.status_code == 403
    assert "medir token create" in refused.text
    assert asked(door(asks=True), "GET", path, **more).text == "let through"


def stream(app: ASGIApp, path: str = "/_stcore/stream", **headers: str) -> bool:
    """Whether a stream is let through."""
    sent: list[str] = []

    async def receive() -> dict[str, str]:
        return {"type": "websocket.connect"}

    async def send(message: object) -> None:
        assert isinstance(message, dict)
        sent.append(message["type"])

    scope = {
        "type": "websocket",
        "scheme": "ws",
        "path": path,
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }

    async def ask() -> None:
        await app(scope, receive, send)  # type: ignore[arg-type]

    anyio.run(ask)
    assert sent in (["websocket.accept"], ["websocket.close"])
    return sent == ["websocket.accept"]


def streams(*, asks: bool) -> ASGIApp:
    async def accept(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "websocket.accept"})

    async def asks_who() -> bool:
        return asks

    return PagesDoor(accept, pages=["search"], asks_who=asks_who, signs_in=False)


def test_a_stream_is_opened_by_a_page_of_this_server_alone() -> None:
    app = streams(asks=False)
    assert stream(app, host=HERE, origin=f"http://{HERE}")
    assert not stream(app, host=HERE, origin="http://127.0.0.1:3000")
    assert not stream(app, host=HERE, origin="null")
    # a browser always says whose page it is
    assert not stream(app, host=HERE)
    assert not stream(app, "/_stcore/agent/mcp", host=HERE, origin=f"http://{HERE}")
    assert not stream(app, "/api/health", host=HERE, origin=f"http://{HERE}")


def test_a_stream_to_another_name_is_opened_only_where_everybody_is_asked() -> None:
    rebound = {"host": "rebound.example:8501", "origin": "http://rebound.example:8501"}
    proxied = {"host": HERE, "origin": f"http://{HERE}", "x-real-ip": "192.0.2.1"}
    for headers in (rebound, proxied):
        assert not stream(streams(asks=False), **headers)
        assert stream(streams(asks=True), **headers)


@pytest.mark.parametrize("make", [door, lambda: door(asks=True)])
@pytest.mark.parametrize("path", ["/", "/nowhere"])
def test_every_answer_has_the_headers_also_a_refusal(make: Callable[[], ASGIApp], path: str) -> None:
    app = AnswerHeaders(make(), policy=page_policy(["let x = 1"]))
    headers = asked(app, "GET", path).headers
    assert headers["x-frame-options"] == "DENY"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"
    assert headers["cross-origin-opener-policy"] == "same-origin"
    policy = headers["content-security-policy"]
    assert "frame-ancestors 'none'" in policy
    # printf 'let x = 1' | openssl dgst -sha256 -binary | base64
    assert "'sha256-+9RIDzvx0TGl4PMcwUdjIf3oi5QYiuHS1C+f52uNBBc='" in policy
    (scripts,) = (part for part in policy.split("; ") if part.startswith("script-src "))
    assert "unsafe-inline" not in scripts
    assert "default-src 'none'" in policy
