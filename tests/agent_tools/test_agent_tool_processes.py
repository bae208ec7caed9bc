"""`medir mcp` as a process: what is on its streams, whom it lets in, and that it ends and leaves nothing behind."""

import json
import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from agent_material import QUESTION, Agent, Installation, over_stdio, text_of

from material import make_project
from medir.cli import medir
from medir.cli.frame import run
from medir.configuration import load_configuration
from medir.wiring import open_services
from ollama_server import closed_port
from rag_core.database.server.server import EmbeddedServer

PATIENCE_S = 60
_HANDSHAKE = (
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "fio", "version": "1"},
        },
    },
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
)
_SEARCH = {
    "jsonrpc": "2.0",
    "id": 2,
    "method": "tools/call",
    "params": {"name": "rag_search", "arguments": {"query": QUESTION}},
}
_HTTP_HEADERS = {"accept": "application/json, text/event-stream"}
_LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


@contextmanager
def greeted(installation: Installation) -> Iterator[subprocess.Popen[str]]:
    """A process that has answered the handshake."""
    process = installation.start("mcp", "--project", "entrega")
    try:
        assert process.stdin is not None
        # as some clients begin
        process.stdin.write("\ufeff")
        write(process, *_HANDSHAKE)
        assert read(process)["result"]["serverInfo"]["name"] == "medir"
        yield process
    finally:
        process.kill()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None and not stream.closed:
                stream.close()
        process.wait()


def write(process: subprocess.Popen[str], *messages: object) -> None:
    assert process.stdin is not None
    process.stdin.writelines(json.dumps(message) + "\n" for message in messages)
    process.stdin.flush()


def read(process: subprocess.Popen[str]) -> dict[str, Any]:
    assert process.stdout is not None
    return json.loads(process.stdout.readline())


def test_a_line_without_end_is_no_message_and_costs_no_memory(installation: Installation) -> None:
    with greeted(installation) as process:
        before = memory_of(process)
        for _ in range(200):
            process.stdin.write("x" * 1_000_000)
        process.stdin.write("\n")
        write(process, {**_LIST, "id": 2})
        assert read(process)["id"] == 2
        assert memory_of(process) - before < 100_000_000


def memory_of(process: subprocess.Popen[str]) -> int:
    """The most that it ever had, in bytes."""
    status = Path(f"/proc/{process.pid}/status").read_text(encoding="ascii")
    return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) * 1024


def test_standard_output_holds_the_protocol_alone_and_the_end_of_input_is_the_end(
    installation: Installation,
) -> None:
    with greeted(installation) as process:
        process.stdin.write("this is no message\n")
        write(process, _SEARCH, {**_SEARCH, "id": 3, "params": {"name": "rag_search", "arguments": {}}})
        answers = [read(process), read(process)]
        stdout, stderr = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, stdout, stderr) == (0, "", "")
    by_id = {answer["id"]: answer["result"] for answer in answers}
    assert sorted(by_id) == [2, 3]
    assert by_id[2]["structuredContent"]["hits"][0]["citation"].startswith("docs/adr/0001-fila.md")
    assert by_id[3]["isError"] is True


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_while_the_client_keeps_its_input_open(
    installation: Installation, number: signal.Signals
) -> None:
    with greeted(installation) as process:
        process.send_signal(number)
        assert process.wait(timeout=PATIENCE_S) == 0
        assert process.stdout is not None
        assert process.stdout.read() == ""


@pytest.mark.parametrize("arguments", [("mcp",), ("mcp", "--http", "--port", "0")])
def test_ctrl_c_while_it_starts_is_no_failure_either(
    installation: Installation, arguments: tuple[str, ...]
) -> None:
    for after_s in (0.3, 0.8):
        process = installation.start(*arguments)
        try:
            time.sleep(after_s)
            process.send_signal(signal.SIGINT)
            _, stderr = process.communicate(timeout=PATIENCE_S)
            assert (process.returncode, "Traceback" in stderr) == (0, False)
        finally:
            process.kill()
            process.communicate()


def test_it_ends_in_peace_when_the_client_vanishes_while_it_is_answered(installation: Installation) -> None:
    with greeted(installation) as process:
        write(process, _SEARCH)
        assert process.stdout is not None
        # nobody reads the answer, although the input stays open
        process.stdout.close()
        assert process.wait(timeout=PATIENCE_S) == 0
        assert process.stderr is not None
        assert process.stderr.read() == ""


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--project", "nenhum"], ["There is no project 'nenhum'.", "Known projects: entrega, outra."]),
        (["--port", "8502"], ["--host and --port are for HTTP.", "Add --http, or leave them out."]),
        (
            ["--project", "entrega", "--http", "--host", "0.0.0.0"],
            [
                "0.0.0.0 is reachable from other machines, and this server asks nobody who they are.",
                "Make a token first (medir token create), or listen on 127.0.0.1 and reach it through a tunnel.",
            ],
        ),
    ],
)
def test_what_cant_be_served_is_refused_before_a_word_of_the_protocol(
    installation: Installation,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    told: list[str],
) -> None:
    for name, value in installation.environment.items():
        monkeypatch.setenv(name, value)
    assert run(medir, ["mcp", *arguments]) == 2
    written = capsys.readouterr()
    assert (written.out, written.err.splitlines()) == ("", told)


@pytest.fixture(scope="module")
def unaided(installation: Installation) -> Iterator[Agent]:
    """A client of tools whose configured provider is not the one that made the index, and does not answer."""
    changes = {"MEDIR_EMBEDDING": "ollama", "OLLAMA_HOST": f"127.0.0.1:{closed_port()}"}
    with over_stdio(installation, "--project", "entrega", **changes) as connected:
        yield connected


def test_a_degraded_search_says_so_and_what_it_means(unaided: Agent) -> None:
    result = unaided.call("rag_search", query=QUESTION)
    found = result.structured_content
    assert (found["vectorAvailable"], found["degraded"], found["degradedReason"]) == (
        False,
        True,
        "modelMismatch",
    )
    assert found["hits"][0]["vectorScore"] is None
    assert found["notes"][0] == (
        "Degraded: only words were compared, not meaning, because the configured embedding model is not the one that "
        "made the index. Passages that say it in other words are missing, and weak ones may be among those found."
    )
    assert found["notes"][0] in text_of(result)


def test_without_a_name_the_agent_is_called_what_its_client_calls_itself(
    unaided: Agent, installation: Installation
) -> None:
    search_id = unaided.search()["searchId"]
    assert installation.rows(
        "select actor_kind::text, actor_id, session_id from rag_searches where id = %s", search_id
    ) == [("agent", "cliente de teste", None)]


def test_the_embedded_server_that_it_started_ends_with_it(open_home: Path, tmp_path: Path) -> None:
    environment = {"MEDIR_HOME": str(open_home), "MEDIR_EMBEDDING": "embedded"}
    with open_services(load_configuration({"HOME": os.devnull, **environment})) as opened:
        make_project(opened.database, tmp_path / "repository")
    own = Installation(url="", environment=environment)
    server = EmbeddedServer(open_home)
    assert not server.status().running
    with greeted(own) as process:
        assert server.status().running
        process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 0
    assert not server.status().running


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"host": "evil.example"}, 421),
        ({"origin": "https://evil.example"}, 403),
        # another port of this machine is another site
        ({"origin": "http://127.0.0.1:3000"}, 403),
        ({"origin": "http://localhost:3000"}, 403),
        ({"origin": "null"}, 403),
        # whoever a proxy asks for does not sit here
        ({"x-forwarded-for": "127.0.0.1"}, 401),
        ({"content-type": "text/plain"}, 400),
    ],
)
def test_over_http_a_page_of_another_site_is_turned_away(
    address: str, headers: dict[str, str], status: int
) -> None:
    sent = {**_HTTP_HEADERS, "content-type": "application/json", **headers}
    answer = httpx.post(address, content=json.dumps(_LIST), headers=sent)
    assert answer.status_code == status
    assert answer.headers["x-frame-options"] == "DENY"
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_over_http_nothing_is_pushed_and_no_session_is_kept(address: str) -> None:
    assert httpx.get(address, headers=_HTTP_HEADERS).status_code == 405
    answer = httpx.post(address, json=_HANDSHAKE[0], headers=_HTTP_HEADERS)
    assert answer.status_code == 200
    assert "mcp-session-id" not in answer.headers


def test_over_http_a_body_over_64_kb_is_refused(address: str) -> None:
    sent = {**_HTTP_HEADERS, "content-type": "application/json"}
    assert httpx.post(address, content=b" " * 65_537, headers=sent).status_code == 413


def test_over_http_many_calls_at_once_are_all_answered(address: str) -> None:
    answers: list[dict[str, Any]] = []

    def ask(number: int) -> None:
        message = {**_SEARCH, "id": number}
        answers.append(httpx.post(address, json=message, headers=_HTTP_HEADERS, timeout=PATIENCE_S).json())

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answer["id"] for answer in answers) == list(range(6))
    assert not any(answer["result"].get("isError") for answer in answers)
    assert len({answer["result"]["structuredContent"]["searchId"] for answer in answers}) == 6
