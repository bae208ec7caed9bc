"""The workbench and the API in one process, as `medir serve` starts them."""

import http.client
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]


@contextmanager
def serving(
    environment: Mapping[str, str], home: Path, *, folder: Path = Path("/")
) -> Iterator[tuple[str, int]]:
    """Host and port of a server, for as long as the context lasts; then it must end by itself."""
    server = subprocess.Popen(
        [sys.executable, "-m", "medir", "serve", "--port", "0"],
        cwd=folder,
        env={
            **os.environ,
            "PYTHONPATH": str(TOP),
            "MEDIR_HOME": str(home),
            "MEDIR_EMBEDDING": "embedded",
            "CI": "1",
            **environment,
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stderr is not None
        announced = next(line for line in server.stderr if line.startswith("Workbench: "))
        port = int(announced.split()[1].rpartition(":")[2])
        yield "127.0.0.1", port
        server.send_signal(signal.SIGINT)
        assert server.wait(60) in (0, 130)
    finally:
        server.kill()
        server.communicate()


def get(where: tuple[str, int], path: str) -> tuple[int, str]:
    """Status and text of what stands at a path, which is sent as it is; a server that starts is waited for."""
    deadline = time.monotonic() + 60
    while True:
        connection = http.client.HTTPConnection(*where, timeout=60)
        try:
            connection.request("GET", path)
            response = connection.getresponse()
            return response.status, response.read().decode()
        except ConnectionError:
            assert time.monotonic() < deadline
            time.sleep(0.1)
        finally:
            connection.close()


def test_pages_and_api_answer_side_by_side_and_refuse_in_their_own_words(
    database_url: str, tmp_path: Path
) -> None:
    with serving({"DATABASE_URL": database_url}, tmp_path) as where:
        assert get(where, "/api/ready") == (200, '{"status":"ready"}')
        assert json.loads(get(where, "/api/openapi.json")[1])["servers"] == [{"url": "/api"}]
        for path in ("/api/projects/../rag/coverage", "/api/..", "/api/%2e%2e/%2e%2e/etc/passwd"):
            status, told = get(where, path)
            assert (status, json.loads(told)["type"]) == (400, "/api/problems/invalid-request")
        status, told = get(where, "/search")
        assert status == 200
        assert "<html" in told
        assert get(where, "/_stcore/health")[0] == 200


def test_the_server_starts_without_its_database_and_says_so(tmp_path: Path) -> None:
    with serving({"DATABASE_URL": "postgresql://127.0.0.1:9/medir"}, tmp_path) as where:
        assert get(where, "/api/health") == (200, '{"status":"ok"}')
        status, told = get(where, "/api/ready")
        assert (status, json.loads(told)["type"]) == (503, "/api/problems/database-unavailable")
