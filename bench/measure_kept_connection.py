"""What an answer on a kept connection waits for, with and without a listener that names its protocol.

The event loop sets TCP_NODELAY on what it accepts where the listener's protocol is TCP by its number. One process
serves the API over the sample on two sockets, one made as `medir serve` makes it, one with the protocol left open. A
client keeps a connection to each and asks them in turns, so that whatever else the machine does falls on both. Writes
`bench/results/kept-connection.md`.

    python bench/measure_kept_connection.py [--rounds 100]
"""

import argparse
import http.client
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from datetime import UTC, datetime
from pathlib import Path

import uvicorn

from material import TOP
from medir.configuration import Configuration, load_configuration
from medir.http_api.app import make_api
from medir.listening import listening
from medir.workbench import close_workbench, open_workbench
from rag_core.project.projects import SAMPLE

IN_A_ROW = 10
"""Asked one after the other, as a client does that has much to ask; the first of a row is not counted."""
QUESTION = json.dumps({"query": "Quando a janela de entrega é perdida?"})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=100)
    rounds: int = parser.parse_args().rounds
    with tempfile.TemporaryDirectory(prefix="medir-kept-") as home:
        # the account that the database runs under must get in
        Path(home).chmod(0o755)
        environment = {
            **os.environ,
            "MEDIR_HOME": home,
            "MEDIR_EMBEDDING": "embedded",
            "PYTHONPATH": str(TOP),
        }
        environment.pop("DATABASE_URL", None)
        subprocess.run(
            [sys.executable, "-m", "medir", "up", "--no-serve", "--json"],
            env=environment,
            check=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        with listening("127.0.0.1", 0) as named, socket.create_server(("127.0.0.1", 0)) as left_open:
            configuration = load_configuration(environment)
            try:
                taken = measure([left_open, named], configuration, rounds)
            finally:
                # before its folder goes
                close_workbench(open_workbench(configuration))
    write(taken, rounds)


def measure(
    listeners: list[socket.socket], configuration: Configuration, rounds: int
) -> list[list[list[float]]]:
    """Milliseconds of each answer: by listener, by kind of request."""
    api = make_api(configuration)

    async def below_api(scope, receive, send):
        await api({**scope, "root_path": "/api"} if scope["type"] == "http" else scope, receive, send)

    server = uvicorn.Server(uvicorn.Config(below_api, log_level="warning", access_log=False, lifespan="off"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": listeners})
    thread.start()
    try:
        clients = [http.client.HTTPConnection(*listener.getsockname(), timeout=60) for listener in listeners]
        taken: list[list[list[float]]] = [[[], []] for _ in listeners]
        for kind, ask in enumerate((health, search)):
            for of, client in list(enumerate(clients)) * (rounds // IN_A_ROW):
                ask(client)
                for _ in range(IN_A_ROW):
                    began = time.perf_counter()
                    ask(client)
                    taken[of][kind].append((time.perf_counter() - began) * 1000)
        return taken
    finally:
        server.should_exit = True
        thread.join(30)


def health(client: http.client.HTTPConnection) -> None:
    client.request("GET", "/api/health")
    read(client)


def search(client: http.client.HTTPConnection) -> None:
    headers = {"Content-Type": "application/json"}
    client.request("POST", f"/api/projects/{SAMPLE}/rag/search", QUESTION, headers)
    read(client)


def read(client: http.client.HTTPConnection) -> None:
    answer = client.getresponse()
    told = answer.read()
    if answer.status != 200:
        raise SystemExit(told.decode())


def write(taken: list[list[list[float]]], rounds: int) -> None:
    rows = [
        f"| {name} | {statistics.median(health):.1f} | {statistics.median(search):.1f} |"
        for name, (health, search) in zip(("left open", "TCP by its number"), taken, strict=True)
    ]
    text = "\n".join(
        (
            "# Answers on a kept connection",
            "",
            f"Made by `bench/measure_kept_connection.py` on {datetime.now(UTC):%Y-%m-%d}: {rounds} rounds over the",
            "sample, client and server on one machine. Median milliseconds until an answer is read.",
            "",
            "| the listener's protocol | health | search |",
            "|---|---|---|",
            *rows,
            "",
        )
    )
    (Path(__file__).parent / "results" / "kept-connection.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
