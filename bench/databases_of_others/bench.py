"""The servers, a repository with a golden set, and a database that holds the project of it, copied for each state."""

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from databases_of_others.outcomes import Outcome
from databases_of_others.processes import environment, open_pages, run
from databases_of_others.servers import LANGUAGE, Pooler, Server, system_programs, wheel_programs
from databases_of_others.verbs import PAGES_COME_BEFORE, VERBS, Verb

NOBODYS = "00000000-0000-4000-8000-000000000000"
_SESSION = (
    '{"sessionId": "s1", "eventId": "e1", "type": "chat.message", "createdAt": "2026-01-02T10:00:00Z", '
    '"actor": {"kind": "human", "id": "ana"}, "payload": {"text": "A fila guarda sete dias?"}}\n'
)
_TEXTS = {
    "docs/fila.md": "# Fila de eventos\n\nA fila guarda os eventos do coletor por sete dias.\n",
    "docs/adr/0001-cache.md": "# ADR 0001: Cache\n\nUsamos um cache com expiração de dez minutos.\n",
    "golden_set/cases.yaml": (
        "floor: 1\ncases:\n  - id: fila\n    question: por quantos dias a fila guarda os eventos?\n"
        "    expected: [docs/fila.md]\n  - id: cache\n    question: quando expira o cache?\n"
        "    expected: [docs/adr/0001-cache.md]\n"
    ),
}
_FILLING = (
    Verb(name="project add", arguments=("fila", "--repo", "{repository}")),
    Verb(name="index"),
    Verb(name="search", arguments=("quantos dias a fila guarda",)),
)


class Bench:
    """All that the states stand on.

    Args:
        folder: A fresh one; the servers' account must be able to enter it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.chmod(0o755)
        self.repository = folder / "repository"
        self.sessions = folder / "sessions.jsonl"
        self.copy = folder / "whole.dump"
        for name in ("server", "german"):
            (folder / name).mkdir()
        self.server = Server(folder / "server", wheel_programs(folder))
        self.speaks_german = system_programs()
        self.german = Server(folder / "german", self.speaks_german or self.server.programs, language=LANGUAGE)
        self.pooler: Pooler | None = None
        # a hit of a search that is recorded in the database and in every copy of it
        self.hit = (NOBODYS, NOBODYS)

    def prepare(self) -> None:
        _make_repository(self.repository)
        self.sessions.write_text(_SESSION, encoding="utf-8")
        self.server.make()
        self.server.sql("create role app login", "create database whole owner app")
        self.server.sql("create extension vector", database="whole")
        url = self.server.url("app", "whole")
        self.fill(url)
        for name in ("first", "second"):
            self.required(url, Verb(name="baseline freeze", arguments=(name,)))
        # statistics of one state must not be another's: the whole one is only ever copied
        self.required(url, Verb(name="db dump", arguments=(str(self.copy),)))

    def fill(self, url: str) -> None:
        for verb in _FILLING:
            self.required(url, verb)

    def required(self, url: str, verb: Verb) -> None:
        outcome = self.medir(url, verb, "filling")
        if outcome.code:
            raise SystemExit(f"{outcome.verb} on {url}: {outcome.message} {outcome.hint}")

    def verbs_on(self, url: str, state: str, *, dead: bool, tell: Callable[[Outcome], None]) -> list[Outcome]:
        """Every verb and every page on a database, one after the other unless nothing can be changed there."""
        if dead:
            with ThreadPoolExecutor(4) as at_once:
                outcomes = [*at_once.map(lambda verb: self.medir(url, verb, state), VERBS)]
            outcomes += self.pages(url)
            for outcome in outcomes:
                tell(outcome)
            return outcomes
        return [*self._in_turn(url, state, tell)]

    def _in_turn(self, url: str, state: str, tell: Callable[[Outcome], None]) -> Iterator[Outcome]:
        for verb in VERBS:
            if verb.name == PAGES_COME_BEFORE:
                for outcome in self.pages(url):
                    tell(outcome)
                    yield outcome
            outcome = self.medir(url, verb, state)
            tell(outcome)
            yield outcome
        _git(self.repository, "checkout", "-q", ".")

    def pages(self, url: str) -> list[Outcome]:
        return open_pages(environment(url, self.folder / "home"))

    def medir(self, url: str, verb: Verb, state: str) -> Outcome:
        dump = self.folder / f"{state}.dump"
        places = {
            "{sessions}": self.sessions,
            "{repository}": self.repository,
            "{dump}": dump,
            "{copy}": self.copy,
            "{fresh}": f"of-{state}",
            "{search}": self.hit[0],
            "{chunk}": self.hit[1],
        }
        arguments = [str(places.get(part, part)) for part in verb.command]
        outcome, said = run(verb, arguments, environment(url, self.folder / "home"))
        if verb.name == "search" and outcome.code == 0:
            found = json.loads(said)
            if found.get("searchId"):
                self.hit = (found["searchId"], found["hits"][0]["chunkId"])
        dump.unlink(missing_ok=True)
        return outcome

    def end_pooler(self) -> None:
        if self.pooler is not None:
            self.pooler.end()
            self.pooler = None

    def end(self) -> None:
        self.end_pooler()
        self.server.stop()
        self.german.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


def _make_repository(folder: Path) -> None:
    for name, text in _TEXTS.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    _git(folder, "init", "-q")
    _git(folder, "add", "-A")
    _git(folder, "-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "x")


def _git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True)
