"""Vectors from an Ollama server, through its official client and `/api/embed` alone.

The older `/api/embeddings` answers on another scale and is never used. Proxies of the environment are
ignored: Ollama is a service of this machine or its network, and a proxy for the web would take its calls.

A text longer than the model's context is refused by the server (`truncate` is false) and gets no vector: a
vector of its beginning, or a mean of its halves, would pass for that of the whole. Chunks of 1,200 characters
stay far below nomic-embed-text's 2,048 tokens.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Self, TypeVar

import httpx
import ollama
import pydantic

from rag_core.embedding.address import server_address
from rag_core.embedding.text import embeddable
from rag_core.embedding.transport import AnswerTooLong, BoundedTransport, TimeIsUp
from rag_core.embedding.vectors import unit_vectors
from rag_core.errors import EmbeddingFailed
from rag_core.model import EmbeddingModel
from rag_core.ports import EmbeddingRole, Vectors

KEEP_ALIVE = "30m"
"""How long the server keeps the model after a call; after its own 5 minutes most questions would be cold."""

_TEXT_MAY_BE_TO_BLAME = frozenset({400, 413, 422, 500})
"""Statuses of a text too long, or of one that makes the model's numbers NaN; the others are the server's."""

_MAX_ANSWER_BYTES = 4_000_000
"""A batch's vectors have some 250 kB, a list of a thousand models 400."""

_NOT_OLLAMA = "Set OLLAMA_HOST to an Ollama server, version 0.3 or newer."

_Answer = TypeVar("_Answer")


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskPrefixes:
    """What a model family was trained to see before a text. `version` is stamped on each vector."""

    version: str
    document: str
    question: str


NO_PREFIXES = TaskPrefixes(version="none", document="", question="")
PREFIXES: Mapping[str, TaskPrefixes] = MappingProxyType(
    {
        "nomic-embed-text": TaskPrefixes(
            version="search-v1", document="search_document: ", question="search_query: "
        ),
    }
)
"""By the beginning of a model's name. A changed prefix needs a new version: it moves every vector."""


def prefixes_of(model: str) -> TaskPrefixes:
    """The task prefixes of a model, by its family; `NO_PREFIXES` for one that is not known."""
    name = model.rpartition("/")[2]
    return next((prefixes for family, prefixes in PREFIXES.items() if name.startswith(family)), NO_PREFIXES)


class OllamaEmbedder:
    """An `Embedder` over one Ollama server and model; safe to share between threads.

    A question ends within `identify_timeout_s + question_timeout_s`, whatever the server does. The call that
    was given up goes on in the background: a server stops loading a model when its caller leaves, so a cold
    model would else never become a warm one.
    """

    def __init__(
        self,
        host: str,
        *,
        model: str = "nomic-embed-text",
        connect_timeout_s: float = 1.0,
        identify_timeout_s: float = 1.5,
        question_timeout_s: float = 2.0,
        document_timeout_s: float = 120.0,
        document_limit_s: float = 600.0,
    ) -> None:
        """Nothing is called yet.

        Args:
            host: In any form that `OLLAMA_HOST` takes: `host`, `host:port`, a URL; empty is this machine.
            model: A model's name; without a tag, `latest` is meant, as in Ollama.
            connect_timeout_s: For one connection.
            identify_timeout_s: For `identify`, in all.
            question_timeout_s: For embedding questions, in all.
            document_timeout_s: For one batch of documents between two signs of life; long, since the first
                one waits for the model to be loaded.
            document_limit_s: For one batch of documents in all, signs of life or none.

        Raises:
            InvalidInput: `host` is not an address.
        """
        self._address = server_address(host)
        self._model = model
        self._prefixes = prefixes_of(model)
        self._identify_timeout_s = identify_timeout_s
        self._limit_s: Mapping[EmbeddingRole, float] = {
            "question": question_timeout_s,
            "document": document_limit_s,
        }
        self._listing = _client(
            self._address,
            httpx.Timeout(identify_timeout_s, connect=connect_timeout_s),
            within_s=identify_timeout_s,
        )
        self._embedding = _client(
            self._address,
            httpx.Timeout(document_timeout_s, connect=connect_timeout_s),
            within_s=document_limit_s,
        )

    def close(self) -> None:
        """Close the connections. The embedder can't be used any more."""
        self._listing.close()
        self._embedding.close()

    def __enter__(self) -> Self:
        """The embedder itself, closed at the end of the block."""
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def identify(self) -> EmbeddingModel:
        """The model with the digest of its weights, as the server lists it now.

        Raises:
            EmbeddingFailed: No server, one without the model, or one that is not Ollama.
        """
        listed = self._within(self._identify_timeout_s, lambda: self._ask(self._models))
        wanted = _with_tag(self._model)
        for entry in listed:
            digest = (entry.digest or "").removeprefix("sha256:")[:12]
            if entry.model and _with_tag(entry.model) == wanted and digest:
                return EmbeddingModel(
                    provider="ollama",
                    name=self._model.removesuffix(":latest"),
                    digest=digest,
                    prefixes=self._prefixes.version,
                )
        raise self._model_missing()

    def embed(self, texts: Sequence[str], role: EmbeddingRole) -> Vectors:
        """One unit vector a text, shape (len(texts), 768), with the task prefix of the role before each text.

        Raises:
            EmbeddingFailed: The server failed, or a text is blank. `content_fault` where a text may be to
                blame; a server that fails for its own reasons with status 500 looks the same.
        """
        prefix = self._prefixes.document if role == "document" else self._prefixes.question
        prefixed = [prefix + text for text in embeddable(texts)]
        if not prefixed:
            return unit_vectors([], count=0)
        return self._within(self._limit_s[role], lambda: self._vectors(prefixed))

    def _models(self) -> Sequence[ollama.ListResponse.Model]:
        try:
            return self._listing.list().models
        except pydantic.ValidationError as error:
            fault = error.errors(include_url=False, include_context=False)[0]
            if fault["loc"] == ("models",) and fault["input"] is None:
                # Go writes a list without entries as null
                return ()
            raise ValueError("no list of models") from error

    def _vectors(self, prefixed: Sequence[str]) -> Vectors:
        answer = self._ask(
            lambda: self._embedding.embed(
                model=self._model, input=prefixed, truncate=False, keep_alive=KEEP_ALIVE
            )
        )
        return unit_vectors(answer.embeddings, count=len(prefixed))

    def _within(self, seconds: float, call: Callable[[], _Answer]) -> _Answer:
        """The call's answer, waited for so long in all; a socket's own time-out starts anew with each byte.

        Raises:
            EmbeddingFailed: As the call does, or when the time is up.
        """
        answers: list[_Answer] = []
        faults: list[EmbeddingFailed] = []

        def work() -> None:
            try:
                answers.append(call())
            except EmbeddingFailed as fault:
                faults.append(fault)

        # A daemon, so that a process can end while a call that was given up still waits.
        thread = threading.Thread(target=work, name="ollama-call", daemon=True)
        thread.start()
        thread.join(seconds)
        if answers:
            return answers[0]
        if faults:
            raise faults[0]
        raise self._too_slow(f"within {seconds:g} s")

    def _ask(self, call: Callable[[], _Answer]) -> _Answer:
        """The call's answer, with every way in which client and server fail turned into ours."""
        try:
            return call()
        except (OSError, httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise EmbeddingFailed(
                f"No Ollama answers at {self._address}.",
                hint="Start it with `ollama serve`, or set OLLAMA_HOST to where it runs.",
            ) from error
        except TimeIsUp as error:
            raise self._too_slow(str(error)) from error
        except httpx.TimeoutException as error:
            raise self._too_slow("in time") from error
        except AnswerTooLong as error:
            raise EmbeddingFailed(
                f"The answer of the server at {self._address} has {error}, and no more is read.",
                hint=_NOT_OLLAMA,
                doubtful=True,
            ) from error
        except httpx.HTTPError as error:
            raise EmbeddingFailed(
                f"The connection to Ollama at {self._address} broke off.", doubtful=True
            ) from error
        except ollama.ResponseError as error:
            raise self._refused(error) from error
        except pydantic.ValidationError as error:
            # A vector with null in it lands here too, and that is a text's doing.
            raise EmbeddingFailed(
                f"The server at {self._address} answered with something that is no list of vectors.",
                content_fault=True,
            ) from error
        except (ValueError, TypeError, AttributeError, RecursionError) as error:
            raise EmbeddingFailed(
                f"The server at {self._address} does not answer as Ollama does.",
                hint=_NOT_OLLAMA,
                doubtful=True,
            ) from error

    def _refused(self, error: ollama.ResponseError) -> EmbeddingFailed:
        said = " ".join(str(error.error).split())[:200]
        if error.status_code == httpx.codes.NOT_FOUND and "model" in said.lower():
            return self._model_missing()
        if "context length" in said:
            return EmbeddingFailed("The text is longer than the model's context.", content_fault=True)
        return EmbeddingFailed(
            f"Ollama at {self._address} refused (HTTP {error.status_code}): {said or 'no reason given'}",
            content_fault=error.status_code in _TEXT_MAY_BE_TO_BLAME,
        )

    def _model_missing(self) -> EmbeddingFailed:
        return EmbeddingFailed(
            f"Ollama at {self._address} does not have the model {self._model}.",
            hint=f"Run `ollama pull {self._model}`.",
        )

    def _too_slow(self, how: str) -> EmbeddingFailed:
        return EmbeddingFailed(
            f"Ollama at {self._address} did not answer {how}.",
            hint="A model that is being loaded answers after a while; try again.",
        )


def _client(address: str, timeout: httpx.Timeout, *, within_s: float) -> ollama.Client:
    """The official client, with time-outs and bounds (it has none by itself), no proxies and no redirects."""
    return ollama.Client(
        host=address,
        timeout=timeout,
        transport=BoundedTransport(
            at_most=_MAX_ANSWER_BYTES,
            within_s=within_s,
            verify=address.startswith("https:"),  # without TLS, reading all certificates is for nothing
        ),
        trust_env=False,
        follow_redirects=False,
        verify=False,
    )


def _with_tag(model: str) -> str:
    """`nomic-embed-text` means `nomic-embed-text:latest`."""
    return model if ":" in model.rpartition("/")[2] else f"{model}:latest"
