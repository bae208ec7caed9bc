"""The agent tools over standard input and output: one client, until it leaves or a signal comes."""

import asyncio
import codecs
import fcntl
import os
import signal
import threading
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import suppress
from io import TextIOWrapper
from typing import BinaryIO, Literal, cast

import anyio
from mcp.server import Server
from mcp.server.stdio import stdio_server

_STDIN, _STDOUT, _STDERR = 0, 1, 2
# what a message may have over HTTP as well
_MAX_LINE_BYTES = 64 * 1024
# read before they are answered; who writes faster waits
_MAX_WAITING = 16
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def serve_stdio(server: Server[Mapping[str, object]]) -> None:
    """Serve the client on standard input and output, which are the protocol's alone from here to the process's end.

    Raises:
        KeyboardInterrupt: A signal ended it, not the client.
    """
    before = {number: signal.getsignal(number) for number in _ENDING}
    try:
        ended = anyio.run(_serve, server, _take_input(), _take_output())
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if ended == "signal":
        raise KeyboardInterrupt


async def _serve(
    server: Server[Mapping[str, object]], wire: BinaryIO, answers: TextIOWrapper
) -> Literal["client", "signal"]:
    """Who ended it."""
    lines = cast("anyio.AsyncFile[str]", _lines(wire))
    signalled = anyio.Event()
    try:
        async with (
            anyio.create_task_group() as group,
            stdio_server(stdin=lines, stdout=anyio.wrap_file(answers)) as (incoming, outgoing),
        ):
            # an exception out of a signal's handler would end up in any task there is
            group.start_soon(_wait_for_signal, signalled, group.cancel_scope)
            await server.run(incoming, outgoing, server.create_initialization_options())
            group.cancel_scope.cancel()
    except* BrokenPipeError:
        # the client left while it was being answered
        pass
    finally:
        # what it never read would else be complained of at the interpreter's end
        with suppress(OSError):
            answers.close()
    return "signal" if signalled.is_set() else "client"


async def _wait_for_signal(signalled: anyio.Event, scope: anyio.CancelScope) -> None:
    with anyio.open_signal_receiver(*_ENDING) as numbers:
        async for _ in numbers:
            signalled.set()
            scope.cancel()


def _take_input() -> BinaryIO:
    """What the client writes; a program started from here reads the null device instead."""
    wire = fcntl.fcntl(_STDIN, fcntl.F_DUPFD_CLOEXEC, 3)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, _STDIN)
    os.close(null)
    return os.fdopen(wire, "rb", closefd=False)


def _take_output() -> TextIOWrapper:
    """Where the client reads; what anything else prints goes to the error stream."""
    wire = fcntl.fcntl(_STDOUT, fcntl.F_DUPFD_CLOEXEC, 3)
    os.dup2(_STDERR, _STDOUT)
    return TextIOWrapper(os.fdopen(wire, "wb"), encoding="utf-8", newline="")


async def _lines(wire: BinaryIO) -> AsyncIterator[str]:
    """The lines that come, read by a thread that nobody waits for: no signal ends a read that has begun."""
    loop = asyncio.get_running_loop()
    arrived: asyncio.Queue[bytes] = asyncio.Queue(_MAX_WAITING)

    def hand_on(line: bytes) -> None:
        asyncio.run_coroutine_threadsafe(arrived.put(line), loop).result()

    def read() -> None:
        # a closed loop refuses: nobody listens any more
        with suppress(RuntimeError):
            with suppress(OSError):
                for line in _bounded_lines(wire):
                    hand_on(line)
            hand_on(b"")

    threading.Thread(target=read, name="standard input", daemon=True).start()
    while line := await arrived.get():
        # some clients begin with the mark of their encoding, which no JSON begins with
        yield line.removeprefix(codecs.BOM_UTF8).decode("utf-8", errors="replace")


def _bounded_lines(wire: BinaryIO) -> Iterator[bytes]:
    """Each line; of one that is too long its beginning, which is no message, so that it is refused as none."""
    while line := wire.readline(_MAX_LINE_BYTES):
        yield line
        while not line.endswith(b"\n") and (line := wire.readline(_MAX_LINE_BYTES)):
            pass
