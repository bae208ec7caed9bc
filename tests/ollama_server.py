"""A real HTTP server that answers as Ollama does, with faults that a test can choose.

It answers `/api/tags`, `/api/show`, `/api/version` and `/api/embed`. A text's vector depends on the text
alone (its hash seeds a generator), so tests can compute what they expect with `vector_of`; where cosines must mean
something, a test gives it another `vector`.

Some words in a text are faults by themselves, whatever `fault` says: `NAN!` makes the server answer 500 as
Ollama does, `NULL!` puts null into that text's vector, `ZERO!` makes it all zeros, `WIDE!` gives the whole answer
another dimension, `TORN!` breaks it off, `HTML!` makes it no JSON, `FLOOD!` makes it go on without end.
"""

import gzip
import hashlib
import json
import select
import socket
import threading
from collections.abc import Callable
from enum import StrEnum, auto
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

DIGEST = "0a109f422b47e3a30ba2b10eca18548e944e8a23073ee3f3e947efcf3c45e59f"
CONTEXT_CHARS = 4_000


class Fault(StrEnum):
    """What goes wrong with every `/api/embed`."""

    NONE = auto()
    MODEL_MISSING = auto()
    ALWAYS_500 = auto()
    BUSY = auto()
    WRONG_DIMENSION = auto()
    TOO_FEW = auto()
    TOO_MANY = auto()
    SHUFFLED = auto()
    DRIFTING = auto()
    NAN_INSIDE = auto()
    ZEROS = auto()
    EMPTY_LIST = auto()
    SCALED = auto()
    GARBAGE = auto()
    OTHER_JSON = auto()
    ERROR_IS_NO_OBJECT = auto()
    CUT = auto()
    HANG = auto()
    DRIP = auto()
    FLOOD = auto()
    PACKED = auto()


def vector_of(sent: str, dimensions: int = 768) -> NDArray[np.float64]:
    """The unit vector that the server gives to a text as it was sent, prefix included."""
    seed = int.from_bytes(hashlib.sha256(sent.encode()).digest()[:8])
    vector = np.random.default_rng(seed).normal(size=dimensions)
    return vector / np.linalg.norm(vector)


class OllamaServer:
    """A server on a free port of 127.0.0.1, from `with` to its end; it leaves no thread behind.

    Attributes:
        fault: What goes wrong with `/api/embed` from now on.
        fault_after: How many calls of `/api/embed` are answered before `fault` begins.
        silent: No call at all is answered, though connections are taken.
        models: Name and digest of what is listed.
        vector: What gives a text, as it was sent, a vector of so many numbers.
        load_s: How long the first call waits for the model; given up when the caller leaves, as in Ollama.
        bodies: The JSON bodies that `/api/embed` got, in order.
        paths: The paths asked for, in order.
        loads_given_up: How often a caller left while the model was being loaded.
        flooded: How many bytes of endless answers were sent.
        floods_ended: How many endless answers their caller ended.
        listing: What `/api/tags` answers in the place of `models`.
    """

    def __init__(self) -> None:
        self.fault = Fault.NONE
        self.fault_after = 0
        self.silent = False
        self.models: dict[str, str] = {"nomic-embed-text:latest": DIGEST}
        self.vector: Callable[[str, int], NDArray[np.float64]] = vector_of
        self.load_s = 0.0
        self.loaded = threading.Event()
        self.bodies: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.loads_given_up = 0
        self.flooded = 0
        self.floods_ended = 0
        self.listing: object = None
        self.ending = threading.Event()
        self.connections: set[socket.socket] = set()
        self.lock = threading.Lock()
        self._server: ThreadingHTTPServer | None = None
        self._thread: threading.Thread | None = None
        self.port = 0

    @property
    def host(self) -> str:
        """As `OLLAMA_HOST` would hold it."""
        return f"127.0.0.1:{self.port}"

    @property
    def sent(self) -> list[str]:
        """All texts that were sent for embedding, in order."""
        return [text for body in self.bodies for text in body["input"]]

    @property
    def batch_sizes(self) -> list[int]:
        """The number of texts in each call."""
        return [len(body["input"]) for body in self.bodies]

    def start(self) -> None:
        """Listen, on the same port as before where there was one."""
        self.ending.clear()
        server = ThreadingHTTPServer(("127.0.0.1", self.port), _handler_of(self))
        server.daemon_threads = False
        self.port = server.server_address[1]
        self._server = server
        self._thread = threading.Thread(target=server.serve_forever, args=(0.01,), name="fake-ollama")
        self._thread.start()

    def stop(self) -> None:
        """Refuse connections from now on, and cut those that are open."""
        if self._server is None or self._thread is None:
            return
        self.ending.set()
        self._server.shutdown()
        self._thread.join()
        with self.lock:
            for connection in self.connections:
                connection.shutdown(socket.SHUT_RDWR)
        self._server.server_close()
        self._server = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def closed_port() -> int:
    """A port on 127.0.0.1 that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _handler_of(ollama: OllamaServer) -> type[BaseHTTPRequestHandler]:
    class Handler(_Handler):
        server_state = ollama

    return Handler


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server_state: OllamaServer

    def setup(self) -> None:
        super().setup()
        with self.server_state.lock:
            self.server_state.connections.add(self.connection)

    def finish(self) -> None:
        with self.server_state.lock:
            self.server_state.connections.discard(self.connection)
        try:
            super().finish()
        except OSError:
            self.close_connection = True

    def handle(self) -> None:
        try:
            super().handle()
        except OSError:
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name in the standard library
        """Nothing is printed."""

    def do_GET(self) -> None:
        state = self.server_state
        state.paths.append(self.path)
        if state.silent:
            state.ending.wait()
            return
        if self.path == "/api/tags" and state.listing is not None:
            self.answer(200, state.listing)
        elif self.path == "/api/tags":
            listed = [
                {"name": name, "model": name, "digest": digest, "size": 274302450}
                for name, digest in state.models.items()
            ]
            self.answer(200, {"models": listed})
        elif self.path == "/api/version":
            self.answer(200, {"version": "0.12.6"})
        else:
            self.answer(404, {"error": "404 page not found"})

    def do_POST(self) -> None:
        state = self.server_state
        state.paths.append(self.path)
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if state.silent:
            state.ending.wait()
        elif self.path == "/api/show":
            self.answer(200, {"details": {"family": "nomic-bert"}, "capabilities": ["embedding"]})
        elif self.path == "/api/embed":
            state.bodies.append(body)
            if self.load_model():
                self.embed(body["input"])
        else:
            self.answer(404, {"error": "404 page not found"})

    def load_model(self) -> bool:
        """Whether the model is there; loading it goes on only while the caller waits."""
        state = self.server_state
        waited_s = 0.0
        while waited_s < state.load_s and not state.loaded.is_set():
            gone, _, _ = select.select([self.connection], [], [], 0.01)
            if gone or state.ending.is_set():
                state.loads_given_up += 1
                self.close_connection = True
                return False
            waited_s += 0.01
        state.loaded.set()
        return True

    def embed(self, texts: list[str]) -> None:
        fault = self.server_state.fault
        if len(self.server_state.bodies) <= self.server_state.fault_after:
            fault = Fault.NONE
        fault = next(
            (spoilt for word, spoilt in _SPOILING.items() if any(word in text for text in texts)), fault
        )
        if any("NAN!" in text for text in texts):
            self.answer(500, {"error": "failed to encode response: json: unsupported value: NaN"})
        elif any(len(text) > CONTEXT_CHARS for text in texts):
            self.answer(400, {"error": "the input length exceeds the context length"})
        elif fault in _REFUSALS:
            self.answer(*_REFUSALS[fault])
        elif fault is Fault.HANG:
            self.server_state.ending.wait()
        elif fault is Fault.FLOOD:
            self.flood()
        elif fault is Fault.CUT:
            self.begin_answer(200, 10_000)
            self.wfile.write(b'{"embeddings": [[0.1,')
            self.close_connection = True
        elif fault is Fault.DRIP:
            self.begin_answer(200, 10_000)
            while not self.server_state.ending.wait(0.02):
                self.wfile.write(b" ")
        elif fault is Fault.PACKED:
            self.answer(200, gzip.compress(b'{"embeddings": []}' + b" " * 10_000_000), packed=True)
        elif fault in _NONSENSE:
            self.answer(200, _NONSENSE[fault])
        else:
            dimensions = 1024 if fault is Fault.WRONG_DIMENSION else 768
            vectors = [self.server_state.vector(text, dimensions).tolist() for text in texts]
            self.answer(
                200, {"model": "nomic-embed-text", "embeddings": _spoilt(vectors, texts=texts, fault=fault)}
            )

    def flood(self) -> None:
        """An answer whose end never comes; how much of it was taken is counted."""
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.close_connection = True
        piece = b"[" + b" " * 99_999
        try:
            while not self.server_state.ending.is_set():
                self.wfile.write(piece)
                self.server_state.flooded += len(piece)
        finally:
            self.server_state.floods_ended += 1

    def answer(self, status: int, content: object, *, packed: bool = False) -> None:
        payload = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.begin_answer(status, len(payload), packed=packed)
        self.wfile.write(payload)

    def begin_answer(self, status: int, length: int, *, packed: bool = False) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(length))
        if packed:
            self.send_header("Content-Encoding", "gzip")
        self.end_headers()


_SPOILING = {
    "WIDE!": Fault.WRONG_DIMENSION,
    "TORN!": Fault.CUT,
    "HTML!": Fault.GARBAGE,
    "FLOOD!": Fault.FLOOD,
}
_NONSENSE: dict[Fault, object] = {Fault.GARBAGE: b"<html>It works!</html>", Fault.OTHER_JSON: [1, 2, 3]}
_REFUSALS: dict[Fault, tuple[int, object]] = {
    Fault.MODEL_MISSING: (404, {"error": 'model "nomic-embed-text" not found, try pulling it first'}),
    Fault.ALWAYS_500: (500, {"error": "llama runner process has terminated"}),
    Fault.BUSY: (503, {"error": "server busy, please try again. maximum pending requests exceeded"}),
    Fault.ERROR_IS_NO_OBJECT: (500, ["something"]),
}


def _spoilt(vectors: list[list[float | None]], *, texts: list[str], fault: Fault) -> list[list[float | None]]:
    for vector, text in zip(vectors, texts, strict=True):
        if "NULL!" in text:
            vector[7] = None
        if "ZERO!" in text or fault is Fault.ZEROS:
            vector[:] = [0.0] * len(vector)
        if fault is Fault.NAN_INSIDE:
            vector[7] = float("nan")
        if fault is Fault.SCALED:
            vector[:] = [20 * (number or 0.0) for number in vector]
    if fault is Fault.TOO_FEW:
        return vectors[:-1]
    if fault is Fault.TOO_MANY:
        return [*vectors, vectors[-1]]
    if fault is Fault.SHUFFLED:
        return vectors[::-1]
    if fault is Fault.EMPTY_LIST:
        return []
    if fault is Fault.DRIFTING and len(texts) >= 16:
        vectors[-1] = vector_of("another text").tolist()
    return vectors
