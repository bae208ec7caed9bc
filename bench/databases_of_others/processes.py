"""One verb as a process: run to its end, served and stopped, or spoken with."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from databases_of_others.outcomes import Outcome, judged, without_end
from databases_of_others.verbs import PAGE_NAMES, Verb

MEDIR = (sys.executable, "-c", "from medir.cli import main; main()")
OPENER = Path(__file__).with_name("page_opener.py")
_HANDSHAKE = (
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "bench", "version": "1"},
        },
    },
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {
        "jsonrpc": "2.0",
        "id": 2,
        "method": "tools/call",
        "params": {"name": "rag_search", "arguments": {"query": "quantos dias a fila guarda"}},
    },
)


def environment(url: str, home: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PG", "MEDIR_"))}
    return kept | {"DATABASE_URL": url, "MEDIR_HOME": str(home), "MEDIR_EMBEDDING": "embedded"}


def run(verb: Verb, arguments: list[str], variables: Mapping[str, str]) -> tuple[Outcome, str]:
    """How the verb ended, and what it printed."""
    began = time.monotonic()
    with tempfile.TemporaryFile("w+") as said, tempfile.TemporaryFile("w+") as aside:
        with subprocess.Popen(
            [*MEDIR, *arguments, "--json"],
            env=dict(variables),
            stdin=subprocess.PIPE,
            stdout=said,
            stderr=aside,
            text=True,
        ) as process:
            ends = began + verb.within_s
            try:
                seen = {"ends": _nothing, "serves": _visit, "speaks": _speak}[verb.way](
                    process, said, aside, ends
                )
                process.communicate(timeout=max(0.1, ends - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                return without_end(verb.name, verb.within_s), ""
        told, beside = _all(said), _all(aside) + seen
    # an agent is answered in lines of the protocol, a refusal is a document as ever
    lines = [line for line in told.splitlines() if not line.startswith('{"jsonrpc')]
    outcome = judged(verb.name, process.returncode, time.monotonic() - began, "\n".join(lines), beside)
    return outcome, told


def open_pages(variables: Mapping[str, str]) -> list[Outcome]:
    """How each page opens, all in one process as they are served."""
    limit_s = 60.0 * len(PAGE_NAMES)
    try:
        ended = subprocess.run(
            [sys.executable, str(OPENER)],
            env=dict(variables),
            capture_output=True,
            text=True,
            check=True,
            timeout=limit_s,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        return [without_end(name, limit_s) for name in PAGE_NAMES]
    found = json.loads(ended.stdout)
    return [
        Outcome(
            verb=name,
            code=shown["code"],
            seconds=shown["seconds"],
            message=shown["message"],
            hint=shown["hint"],
            faulty=shown["code"] not in (0, 2)
            or (shown["code"] == 2 and not (shown["message"] and shown["hint"])),
        )
        for name in PAGE_NAMES
        for shown in (found[name.removeprefix("page ")],)
    ]


def _nothing(_process: subprocess.Popen[str], _said: IO[str], _aside: IO[str], _ends: float) -> str:
    return ""


def _visit(process: subprocess.Popen[str], _said: IO[str], aside: IO[str], ends: float) -> str:
    """Wait until it serves, ask for a page and for its health, and press Ctrl-C; what was wrong with that."""
    line = _awaited(process, aside, "Workbench: ", ends)
    wrong = ""
    if line:
        for path in ("/", "/api/health"):
            try:
                with urllib.request.urlopen(f"{line.split()[1]}{path}", timeout=30) as answer:
                    answer.read()
            except urllib.error.HTTPError as refusal:
                # a database that is away is 503, and nothing else may be wrong
                if refusal.code != 503:
                    wrong += f"Traceback: {path} answers {refusal.code}\n"
        process.send_signal(signal.SIGINT)
    return wrong


def _speak(process: subprocess.Popen[str], said: IO[str], _aside: IO[str], ends: float) -> str:
    """Greet it and search by its tool; the answer to the search."""
    assert process.stdin is not None
    try:
        for message in _HANDSHAKE:
            process.stdin.write(json.dumps(message) + "\n")
        process.stdin.flush()
    except BrokenPipeError:
        return ""
    return _awaited(process, said, '"id":2', ends)


def _awaited(process: subprocess.Popen[str], stream: IO[str], mark: str, ends: float) -> str:
    """The line with the mark, as soon as it is there; nothing where the process ends or the time is over."""
    while time.monotonic() < ends:
        over = process.poll() is not None
        for line in _all(stream).splitlines():
            if mark in line:
                return line
        if over:
            return ""
        time.sleep(0.05)
    return ""


def _all(stream: IO[str]) -> str:
    # by its own descriptor: the process writes at the place that is shared with ours
    return os.pread(stream.fileno(), os.fstat(stream.fileno()).st_size, 0).decode(errors="replace")
