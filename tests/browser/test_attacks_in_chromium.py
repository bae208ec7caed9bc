"""Other websites attack the workbench through a browser that stands open: nothing comes of it.

The server runs for a person and in a folder whose files of options would let everybody in.
"""

import http.server
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import psycopg
import pytest
from browser_material import SETTLED, eventually

from medir.pages import PAGES
from workbench_material import Installation

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

# opens streams, calls what changes something, leaves a file, and says what it could see of it
ATTACK = """
async address => {
  const stream = (protocols) => new Promise(done => {
    const socket = new WebSocket(address.replace("http", "ws") + "/_stcore/stream", protocols);
    socket.onopen = () => { socket.close(); done("open"); };
    socket.onerror = () => done("refused");
  });
  const call = async (path, options) => {
    try {
      const answer = await fetch(address + path, options);
      return answer.type === "opaque" ? "sent" : answer.status;
    } catch { return "unread"; }
  };
  const json = {"Content-Type": "application/json"};
  const ask = JSON.stringify({query: "Quando o frete é calculado?"});
  const found = {
    streams: [await stream(["streamlit"]), await stream(["streamlit", "x", "y"]), await stream()],
    read: [
      await call("/api/projects/entrega/rag/coverage", {}),
      await call("/_stcore/host-config", {credentials: "include"}),
      await call("/api/projects/entrega/rag/search", {method: "POST", headers: json, body: ask}),
      await call("/api/projects/entrega/rag/reindex", {method: "POST", headers: json, body: "{}"}),
      await call("/_stcore/upload_file/a/b", {method: "PUT", body: "x"}),
    ],
  };
  for (const path of ["/api/projects/entrega/rag/search", "/api/projects/entrega/rag/reindex", "/search"]) {
    await call(path, {method: "POST", mode: "no-cors", body: ask});
  }
  return found;
}
"""
FRAME = "<!doctype html><title>evil</title><iframe src='{}' width=900 height=700></iframe>"


class _Site(http.server.BaseHTTPRequestHandler):
    """Another website: one page, which is what its server was told."""

    def do_GET(self) -> None:
        body = self.server.page.encode()  # type: ignore[attr-defined]
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: Any) -> None:
        return


@pytest.fixture(scope="module")
def other_port(workbench_address: str) -> Iterator[int]:
    """The port of another website on this machine, which has a page of the workbench in a frame."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Site) as server:
        server.page = FRAME.format(f"{workbench_address}/index?part=reindex")  # type: ignore[attr-defined]
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


@pytest.fixture
def visitor(browser: "Browser") -> Iterator["Page"]:
    """A window in which every policy of a page holds."""
    context = browser.new_context()
    try:
        page = context.new_page()
        page.set_default_timeout(60_000)
        yield page
    finally:
        context.close()


def effects(installation: Installation) -> tuple[int, ...]:
    """How many runs, searches and votes there are."""
    with psycopg.connect(installation.environment["DATABASE_URL"]) as connection:
        row = connection.execute(
            "select (select count(*) from runs), (select count(*) from rag_searches),"
            " (select count(*) from rag_feedback)"
        ).fetchone()
    assert row is not None
    return tuple(row)


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "evil.example"])
def test_a_page_of_another_site_or_port_opens_nothing_and_sees_nothing(
    visitor: "Page", workbench_address: str, other_port: int, installation: Installation, name: str
) -> None:
    before = effects(installation)
    visitor.goto(f"http://{name}:{other_port}/")
    for host in ("127.0.0.1", "localhost"):
        found = visitor.evaluate(ATTACK, workbench_address.replace("127.0.0.1", host))
        assert found == {"streams": ["refused"] * 3, "read": ["unread"] * 5}
    assert effects(installation) == before


def test_a_page_in_a_frame_of_another_site_is_not_shown(
    visitor: "Page", workbench_address: str, other_port: int
) -> None:
    told: list[str] = []
    visitor.on("console", lambda message: told.append(message.text))
    visitor.goto(f"http://evil.example:{other_port}/")
    eventually(visitor, lambda: any("frame-ancestors" in text or "X-Frame-Options" in text for text in told))
    frame = visitor.frames[1]
    assert not frame.url.startswith(workbench_address)
    assert frame.locator("[data-testid=stApp]").count() == 0


def test_a_name_that_was_led_to_this_machine_opens_nothing(
    visitor: "Page", workbench_address: str, installation: Installation
) -> None:
    before = effects(installation)
    rebound = workbench_address.replace("127.0.0.1", "rebound.example")
    visitor.goto(f"{rebound}/index")
    assert "for its own machine alone" in visitor.inner_text("body")
    found = visitor.evaluate(ATTACK, rebound)
    # this site may read what it asks for, and is told that it is nobody
    assert found == {"streams": ["refused"] * 3, "read": [401, 403, 401, 401, 404]}
    assert effects(installation) == before


def test_the_workbenchs_own_pages_work_under_their_policy_and_say_nothing_in_the_console(
    visitor: "Page", workbench_address: str
) -> None:
    told: list[str] = []
    asked: set[str] = set()
    visitor.on("console", lambda message: told.append(f"{message.text} {message.location.get('url')}"))
    visitor.on("request", lambda request: asked.add(urlsplit(request.url).netloc))
    for path in (
        "/search?q=Quando o frete é calculado?&threshold=0",
        "/golden-set",
        *(f"/{page.path}" for page in PAGES),
    ):
        visitor.goto(workbench_address + path)
        visitor.wait_for_timeout(300)
        eventually(visitor, lambda: bool(visitor.evaluate(SETTLED)))
        if path == "/golden-set":
            visitor.locator(".js-plotly-plot .main-svg").first.wait_for()
            visitor.locator("[data-testid=stDataFrame] canvas").first.wait_for()
        if path.startswith("/search?"):
            visitor.locator(".st-key-hit-1 mark").first.wait_for()
    # the same attack from within finds its way, so it would have from without
    assert visitor.evaluate(ATTACK, workbench_address)["streams"] == ["open"] * 3
    assert [text for text in told if "Content Security Policy" in text or "Refused" in text] == []
    assert asked <= {urlsplit(workbench_address).netloc, ""}
