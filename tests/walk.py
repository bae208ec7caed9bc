"""A walk through the whole product, as a program: the server, its pages and routes, the verbs, the agent tools.

    python tests/walk.py FOLDER [--cut-off]

FOLDER holds `repository`, with the documents and the golden set of `material`, and nothing else. The database is the
embedded one of a home in it. The proxy that the environment names takes connections and never answers.

With `--cut-off`, in a network namespace of its own that may still be changed, loopback is the only network, and whoever
looks up a name waits: the name servers of this machine take questions and never answer.

Prints one JSON document: `answered`, the seconds that each request took, and `proxied` and `looked_up`, how often
somebody turned to the proxy and to a name server.
"""

import contextlib
import fcntl
import http.client
import io
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

TOP = Path(__file__).resolve().parents[1]
QUESTION = "Quando o frete é calculado?"
FOREIGN = ("https://evil.example", "http://192.0.2.7:8501", "http://localhost:3000", "null")
_VERBS = (
    ("project", "add", "entrega", "--repo", "repository"),
    ("index",),
    ("search", QUESTION),
    ("golden", "run"),
    ("calibrate", "--resamples", "50"),
    ("coverage",),
    ("rag",),
    ("doctor",),
    ("db", "status"),
)
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")
_AGENT = (
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "walk", "version": "1"},
        },
    },
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {
        "jsonrpc": "2.0",
        "id": 2,
        "method": "tools/call",
        "params": {"name": "rag_search", "arguments": {"query": QUESTION}},
    },
)
# of the system's network interfaces
_SET_FLAGS, _SET_ADDRESS, _UP = 0x8914, 0x8916, 1


class Silence:
    """Sockets that take whatever comes and never answer."""

    def __init__(self) -> None:
        self.came = 0
        self._kept: list[socket.socket] = []

    def take_connections(self) -> int:
        """Listen on this machine; the port."""
        listener = socket.create_server(("127.0.0.1", 0))

        def take() -> None:
            while True:
                self._kept.append(listener.accept()[0])
                self.came += 1

        threading.Thread(target=take, daemon=True).start()
        return int(listener.getsockname()[1])

    def take_questions(self, address: str) -> None:
        """Be the name server at an address of this machine."""
        asked = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        asked.bind((address, 53))

        def take() -> None:
            while asked.recv(65_535):
                self.came += 1

        threading.Thread(target=take, daemon=True).start()


def name_servers() -> list[str]:
    """Those that this machine is told to ask."""
    file = Path("/etc/resolv.conf")
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    found = [line.split()[1] for line in lines if line.startswith("nameserver ")]
    return [server for server in dict.fromkeys(found) if ":" not in server]


def cut_off(names: Silence) -> None:
    """Bring loopback up, and have the name servers of this machine be on it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, _SET_FLAGS, struct.pack("16sH14x", b"lo", _UP))
        for number, server in enumerate(name_servers()):
            if not server.startswith("127."):
                address = struct.pack(
                    "16sHH4s8x",
                    f"lo:{number}".encode(),
                    socket.AF_INET,
                    0,
                    socket.inet_aton(server),
                )
                fcntl.ioctl(control, _SET_ADDRESS, address)
            names.take_questions(server)


@contextlib.contextmanager
def serving() -> Iterator[int]:
    """`medir serve` on a free port."""
    server = subprocess.Popen(
        [sys.executable, "-m", "medir", "serve", "--port", "0"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stderr is not None
        announced = next(line for line in server.stderr if line.startswith("Workbench: "))
        yield int(announced.split()[1].rpartition(":")[2])
    finally:
        server.send_signal(signal.SIGINT)
        assert server.wait(60) in (0, 130)


def carry_out(*verb: str) -> None:
    """Run a verb in this process; it has to end well."""
    from medir.cli import medir  # noqa: PLC0415  after the environment was made
    from medir.cli.frame import run  # noqa: PLC0415

    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        code = run(medir, [*verb, "--json"])
    # nobody has asked enough yet for a verdict
    assert code == 0 or verb == ("rag",), (verb, code, said.getvalue()[-2_000:])


def ask(port: int, method: str, path: str, body: object = None, **headers: str) -> int:
    """The status of an answer, read to its end."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    try:
        data = None if body is None else json.dumps(body)
        sent = {"Content-Type": "application/json"} if data else {}
        connection.request(method, path, body=data, headers=sent | headers)
        answer = connection.getresponse()
        if answer.status != http.client.SWITCHING_PROTOCOLS:
            answer.read()
        return answer.status
    finally:
        connection.close()


def shake_hands(port: int, origin: str) -> int:
    """The status that another site's page is answered with when it opens a stream."""
    return ask(
        port,
        "GET",
        "/_stcore/stream",
        None,
        **{
            "Connection": "Upgrade",
            "Upgrade": "websocket",
            "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Key": "MDEyMzQ1Njc4OWFiY2RlZg==",
            "Sec-WebSocket-Protocol": "streamlit",
            "Origin": origin,
        },
    )


def draw(port: int, page: str, project: str = "entrega") -> None:
    """Open a project's page as a browser does, and let its script run to its end."""
    from streamlit.proto.BackMsg_pb2 import BackMsg  # noqa: PLC0415
    from streamlit.proto.ForwardMsg_pb2 import ForwardMsg  # noqa: PLC0415
    from websockets import Origin, Subprotocol  # noqa: PLC0415
    from websockets.sync.client import connect  # noqa: PLC0415

    own = f"127.0.0.1:{port}"
    asked = BackMsg()
    asked.rerun_script.page_name = page
    asked.rerun_script.query_string = urlencode(
        {"project": project, **({"q": QUESTION} if page == "search" else {})}
    )
    drawn = ""
    with connect(
        f"ws://{own}/_stcore/stream",
        origin=Origin(f"http://{own}"),
        subprotocols=[Subprotocol("streamlit")],
        proxy=None,
        max_size=None,
    ) as stream:
        stream.send(asked.SerializeToString())
        while True:
            told = ForwardMsg.FromString(bytes(stream.recv(timeout=120)))
            drawn += str(told.delta)
            if told.WhichOneof("type") == "script_finished":
                break
    assert project in drawn, page
    assert "fault of Medir" not in drawn, page


def use_agent_tools() -> None:
    """An agent asks over stdio."""
    told = "".join(f"{json.dumps(message)}\n" for message in _AGENT)
    with subprocess.Popen(
        [sys.executable, "-m", "medir", "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as agent:
        assert agent.stdin is not None
        assert agent.stdout is not None
        agent.stdin.write(told)
        agent.stdin.flush()
        answers = [json.loads(agent.stdout.readline()) for _ in range(2)]
        agent.stdin.close()
    assert "frete" in json.dumps(answers[1]["result"]), answers


def walk(folder: Path, answered: dict[str, float]) -> None:
    """Go everywhere; keeps how long each request took."""

    def timed(name: str, call: Callable[[], Any], *good: object) -> None:
        began = time.perf_counter()
        found = call()
        answered[name] = max(answered.get(name, 0.0), time.perf_counter() - began)
        assert found in (good or (None,)), (name, found)

    with serving() as port, ThreadPoolExecutor(12) as pool:
        timed("ready", lambda: ask(port, "GET", "/api/ready"), 200)
        for verb in _VERBS:
            carry_out(*verb)
        search = {"query": QUESTION}
        timed("search", lambda: ask(port, "POST", "/api/projects/entrega/rag/search", search), 200)
        timed("coverage", lambda: ask(port, "GET", "/api/projects/entrega/rag/coverage"), 200)
        # what waits outside the event loop shows by itself, what waits in it by everybody's health
        shaken = [
            pool.submit(timed, "handshake", lambda origin=origin: shake_hands(port, origin), 403)
            for origin in FOREIGN * 3
        ]
        for _ in range(5):
            timed("health", lambda: ask(port, "GET", "/api/health"), 200)
        for one in shaken:
            one.result()
        from medir.pages import PAGES  # noqa: PLC0415  after the environment was made

        for page in PAGES:
            timed(f"page {page.path}", lambda path=page.path: draw(port, path))
        timed("reindex", lambda: ask(port, "POST", "/api/projects/entrega/rag/reindex", {}), 202)
        use_agent_tools()


def main() -> None:
    """Make the environment, go, and say what was seen."""
    folder = Path(sys.argv[1])
    os.chdir(folder)
    proxy, names = Silence(), Silence()
    if "--cut-off" in sys.argv:
        cut_off(names)
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH", "LANG") if name in os.environ}
    path = os.pathsep.join(filter(None, (str(TOP), kept.get("PYTHONPATH"))))
    proxied = dict.fromkeys(_PROXIES, f"http://127.0.0.1:{proxy.take_connections()}")
    os.environ.clear()
    os.environ.update(
        kept
        | proxied
        | {"PYTHONPATH": path, "HOME": str(folder), "MEDIR_HOME": str(folder / "home"), "CI": "1"}
    )
    sys.path.insert(0, str(TOP))
    answered: dict[str, float] = {}
    walk(folder, answered)
    json.dump({"answered": answered, "proxied": proxy.came, "looked_up": names.came}, sys.stdout)


if __name__ == "__main__":
    main()
