"""The watch over connections sees what it is there to see."""

import socket
import subprocess
import sys
from collections.abc import Iterator

import pytest

from outbound import Watch

CALLS = """
import socket
def attempt(call):
    try:
        call()
    except OSError as error:
        print(error.errno)
attempt(lambda: socket.create_connection(("192.0.2.1", 80), timeout=5))
attempt(lambda: socket.create_connection(("name.example", 80), timeout=5))
attempt(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("192.0.2.2", 9)))
attempt(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(("192.0.2.3", 9)))
attempt(lambda: socket.socket(socket.AF_INET6).connect(("2001:db8::1", 9)))
"""
STAYS = """
import socket, sys
with socket.create_server(("127.0.0.1", 0)) as listener:
    socket.create_connection(listener.getsockname()).close()
    socket.create_connection(("localhost", listener.getsockname()[1])).close()
# what was configured is tried, and not answered
with socket.socket() as connection:
    connection.settimeout(0.2)
    try:
        connection.connect(("192.0.2.4", 11434))
    except OSError as error:
        assert "no network" not in str(error)
try:
    socket.socket(socket.AF_UNIX).connect("/nowhere")
except FileNotFoundError:
    print("fine")
"""


@pytest.fixture
def watch() -> Iterator[Watch]:
    made = Watch()
    yield made
    made.end()


def test_every_call_out_of_the_machine_is_written_down_and_fails(watch: Watch) -> None:
    site = f"import runpy; runpy.run_path({str(watch.folder / 'sitecustomize.py')!r})"
    # apart from the session's own watch, whose tests this would fail
    ended = subprocess.run(
        [sys.executable, "-I", "-c", f"{site}\n{CALLS}"], check=True, capture_output=True, text=True
    )
    assert ended.stdout.split() == ["101"] * 5
    assert [line.split()[1] for line in watch.news()] == [
        "192.0.2.1",
        "name.example",
        "192.0.2.2",
        "192.0.2.3",
        "2001:db8::1",
    ]
    assert watch.news() == []


def test_what_stays_on_the_machine_or_was_configured_is_not(watch: Watch) -> None:
    site = f"import runpy; runpy.run_path({str(watch.folder / 'sitecustomize.py')!r})"
    ended = subprocess.run(
        [sys.executable, "-I", "-c", f"{site}\n{STAYS}"],
        env={"OLLAMA_HOST": "http://192.0.2.4:11434"},
        check=True,
        capture_output=True,
        text=True,
    )
    assert ended.stdout == "fine\n"
    assert watch.news() == []


def test_this_process_is_watched_and_every_one_that_a_test_starts(outbound: Watch) -> None:
    with socket.socket() as connection, pytest.raises(OSError, match="no network"):
        connection.connect(("192.0.2.9", 9))
    assert [line.split()[1] for line in outbound.news()] == ["192.0.2.9"]
    for environment in (None, {}, {"PYTHONPATH": "/nowhere"}):
        told = subprocess.run(
            [sys.executable, "-c", "import sitecustomize; print(sitecustomize.__file__)"],
            env=environment,
            check=True,
            capture_output=True,
            text=True,
        )
        assert told.stdout.strip() == str(outbound.folder / "sitecustomize.py")
