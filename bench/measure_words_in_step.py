"""1,000 random index runs, some of them killed: do postings, lexicon and spellings stay those of the chunks?

A small project of pages, decisions and conversations is changed at random before each run: pages and decisions are
written, moved and deleted, with and without a title and a language of their own; messages are said, a conversation is
deleted with its chunks, the project's language changes. Runs are incremental or full, of all scopes, of one, or of one
conversation. One in three is killed: its backend is ended at a moment drawn over the length of its last transaction.
After each run the words that stand must equal, byte for byte but for the order of entries, those that are made anew
from the chunks; where a conversation was deleted and the run that would have seen it was killed, those that stood
before. Writes `bench/results/words-in-step.md`; a difference ends it with 1.
"""

import random
import shutil
import subprocess
import threading
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from material import BENCH, TOP, throwaway_services
from medir.wiring import Services
from rag_core.database.connecting import Connection
from rag_core.database.index.postings import write_postings
from rag_core.database.index.sessions import append_events
from rag_core.database.index.spellings import write_spellings
from rag_core.errors import DatabaseUnavailable
from rag_core.index.outcome import IndexMode
from rag_core.model import ALL_SCOPES, Project, Scope
from rag_core.model.session_events import SessionEvent
from rag_core.project.projects import add_project, set_project

RUNS = 1000
SEED = 20260103
SLOTS = 24
SESSIONS = ("s1", "s2", "s3")
LANGUAGES = ("portuguese", "english", "german")
SENTENCES = (
    "O frete é fixo e o pedágio é pago na praça.",
    "Canais, canal e previsões; a previsão do canal RN-058.",
    "RN058 e RN 061 valem para entrada/saída do coletor.",
    "A fila espera em docs/guia.md e em Next.js; e-mail para todos.",
    "The drivers carry keys, and the key opens the doors.",
    "Die Häuser stehen am Fluss, das Haus ist alt.",
    "RN\u2011060 e 2010\u20132014, previsa\u0303o composta.",
    "Nota fiscal eletrônica, notas fiscais, NF-e 4.0.",
    "Veículo do motorista parado há 10 dias.",
    "—",
)

Words = tuple[object, ...]


@dataclass(slots=True)
class Counts:
    """What happened."""

    runs: Counter[str] = field(default_factory=Counter)
    killed: int = 0
    late: int = 0
    undone: int = 0
    rows: list[int] = field(default_factory=list)
    different: list[int] = field(default_factory=list)


class Sources:
    """A repository and conversations that change at random."""

    def __init__(self, services: Services, folder: Path, draw: random.Random) -> None:
        self._services, self._folder, self._draw = services, folder, draw
        (folder / "docs").mkdir(parents=True)
        (folder / "docs" / "inicio.md").write_text("# Início\n\nSempre aqui.\n", encoding="utf-8")
        self._git("init", "-q")
        self._commit()
        self.project = add_project(services.database, "words", repo=folder)
        self.deleted_since = False

    def change(self) -> None:
        """One to four changes, committed."""
        for _ in range(self._draw.randint(1, 4)):
            action = self._draw.choice(
                (self._write, self._write, self._write, self._move, self._delete, self._say)
            )
            action()
        if self._draw.random() < 0.03:
            with self._services.database.transaction() as connection:
                gone = connection.execute(
                    "delete from sessions where id = %s", (self._draw.choice(SESSIONS),)
                )
                self.deleted_since |= gone.rowcount > 0
        if self._draw.random() < 0.03:
            self.project = set_project(
                self._services.database, self.project, language=self._draw.choice(LANGUAGES)
            )
        self._commit()

    def _path(self) -> Path:
        number = self._draw.randrange(SLOTS)
        name = f"{number:04}-{('frete', 'fila', 'canais', 'drivers')[number % 4]}.md"
        return self._folder / "docs" / self._draw.choice(("", "adr", "guia")) / name

    def _write(self) -> None:
        path = self._path()
        path.parent.mkdir(exist_ok=True)
        front = [
            *(
                (f"title: {self._draw.choice(('Pedágios', 'Canal RN-070', 'The keys'))}",)
                * self._draw.randint(0, 1)
            ),
            *((f"lang: {self._draw.choice(LANGUAGES)}",) * (self._draw.random() < 0.3)),
        ]
        sections = [
            f"# Seção {heading}\n\n" + " ".join(self._draw.choices(SENTENCES, k=self._draw.randint(1, 4)))
            for heading in self._draw.sample(("um", "dois", "canais", "RN-071"), self._draw.randint(1, 4))
        ]
        head = "---\n" + "\n".join(front) + "\n---\n" if front else ""
        path.write_text(head + "\n\n".join(sections) + "\n", encoding="utf-8")

    def _standing(self) -> list[Path]:
        return sorted(path for path in (self._folder / "docs").rglob("0*.md"))

    def _move(self) -> None:
        target = self._path()
        if standing := self._standing():
            target.parent.mkdir(exist_ok=True)
            self._draw.choice(standing).rename(target)

    def _delete(self) -> None:
        if standing := self._standing():
            self._draw.choice(standing).unlink()

    def _say(self) -> None:
        said = SessionEvent(
            session_id=self._draw.choice(SESSIONS),
            event_id=str(uuid.UUID(int=self._draw.getrandbits(128))),
            type="chat.message",
            created_at=datetime.now(UTC),
            actor_kind="human",
            actor_id="ana",
            title=None,
            payload={"text": self._draw.choice(SENTENCES)},
        )
        with self._services.database.transaction() as connection:
            append_events(connection, self.project.project_id, [said])

    def _commit(self) -> None:
        self._git("add", "-A")
        self._git("commit", "-q", "--allow-empty", "-m", "change")
        for path in (self._folder, *self._folder.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)

    def _git(self, *arguments: str) -> None:
        identity = ("-c", "user.name=bench", "-c", "user.email=bench@localhost", "-c", "commit.gpgsign=false")
        subprocess.run(["git", "-C", str(self._folder), *identity, *arguments], check=True)


class Killer:
    """Ends the backend that writes chunks, some time after it has begun to."""

    def __init__(self, url: str, after_s: float) -> None:
        self._connection, self._after_s = psycopg.connect(url, autocommit=True), after_s
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._kill)
        self._thread.start()

    def stop(self) -> None:
        """The run has ended."""
        self._over.set()
        self._thread.join()
        self._connection.close()

    def _kill(self) -> None:
        while not self._writers() and not self._over.wait(0.001):
            pass
        self._over.wait(self._after_s)
        for pid in self._writers():
            self._connection.execute("select pg_terminate_backend(%s)", (pid,))

    def _writers(self) -> list[int]:
        rows = self._connection.execute(
            "select pid from pg_locks where relation = 'chunks'::regclass and mode = 'RowExclusiveLock' and granted"
        ).fetchall()
        return [pid for (pid,) in rows]


def main() -> None:
    """Run, kill, compare, write."""
    draw, counts = random.Random(SEED), Counts()
    started = time.monotonic()
    with throwaway_services(vectors=False) as services:
        folder = services.configuration.home / "repositories" / "words"
        sources = Sources(services, folder, draw)
        with services.database.connection() as connection:
            url = make_conninfo(connection.info.dsn, password=connection.info.password or None)
        span = 0.1
        for number in range(1, RUNS + 1):
            sources.change()
            with services.database.connection() as connection:
                before = read_words(connection, sources.project)
            killed, span = run_once(services, sources, draw, counts, url=url, span=span)
            with services.database.connection() as connection:
                standing = read_words(connection, sources.project)
                with rebuilt(connection, sources.project):
                    anew = read_words(connection, sources.project)
            if killed and sources.deleted_since:
                counts.undone += 1
                same = standing == before
            else:
                sources.deleted_since = False
                same = standing == anew
            if not same:
                counts.different.append(number)
        shutil.rmtree(folder, ignore_errors=True)
    text = "\n".join(report(counts, time.monotonic() - started)) + "\n"
    (TOP / "bench" / "results" / "words-in-step.md").write_text(text, encoding="utf-8")
    print(text)
    if counts.different:
        raise SystemExit(1)


def run_once(
    services: Services, sources: Sources, draw: random.Random, counts: Counts, *, url: str, span: float
) -> tuple[bool, float]:
    """One run, killed one time in three; whether it was, and how long a last transaction is thought to take."""
    mode: IndexMode = "full" if draw.random() < 0.2 else "incremental"
    scopes: tuple[Scope, ...] = ALL_SCOPES if draw.random() < 0.7 else (draw.choice(ALL_SCOPES),)
    with services.database.connection() as connection:
        sessions = connection.execute("select id from sessions order by id").fetchall()
    session = draw.choice(sessions)[0] if sessions and draw.random() < 0.1 else None
    killer = Killer(url, draw.uniform(0, span)) if draw.random() < 1 / 3 else None
    killed = False
    try:
        services.indexing.run(
            sources.project,
            actor=BENCH,
            mode=mode,
            scopes=scopes,
            session_id=session,
            allow_emptied=True,
        )
    except DatabaseUnavailable:
        killed = True
    finally:
        if killer is not None:
            killer.stop()
    if killer is not None:
        counts.killed += killed
        counts.late += not killed
    elif killed:
        raise SystemExit("A run that nobody kills fails")
    what = "one conversation" if session else "all" if scopes == ALL_SCOPES else "one scope"
    counts.runs[f"{mode}, {what}"] += 1
    with services.database.connection() as connection:
        row = connection.execute("select count(*) from chunks").fetchone()
    counts.rows.append(row[0] if row else 0)
    # as in `measure_kills`: the length follows the machine
    return killed, span if killer is None else span * (1.1 if killed else 0.8)


def read_words(connection: Connection, project: Project) -> Words:
    """Postings, lexicon and spellings; the entries of a posting are in no order."""
    held = connection.execute(
        "select lexeme, scope::text, in_title, entries from postings where project_id = %s",
        (project.project_id,),
        binary=True,
    ).fetchall()
    postings = sorted(
        (*key, tuple(np.sort(np.frombuffer(entries, ">u8")).tolist())) for *key, entries in held
    )
    lexicon = connection.execute(
        "select chunks, text_length, chunk_ids from lexicons where project_id = %s", (project.project_id,)
    ).fetchall()
    spellings = connection.execute(
        "select key, lexeme, chunks from spellings where project_id = %s", (project.project_id,)
    ).fetchall()
    return postings, lexicon, sorted(spellings)


@contextmanager
def rebuilt(connection: Connection, project: Project) -> Iterator[None]:
    """The words as they are made anew from the chunks, taken back at the end."""
    with connection.transaction(force_rollback=True):
        for table in ("postings", "lexicons", "spellings"):
            connection.execute(
                sql.SQL("delete from {} where project_id = %s").format(sql.Identifier(table)),
                (project.project_id,),
            )
        write_spellings(connection, project.project_id)
        write_postings(connection, project.project_id)
        yield


def report(counts: Counts, took_s: float) -> list[str]:
    """The page."""
    return [
        "# Words after random index runs and kills",
        "",
        f"Written by `bench/measure_words_in_step.py` on {datetime.now(UTC):%Y-%m-%d}, seed {SEED}, in {took_s:.0f} s.",
        f"{RUNS} runs over sources that change at random, {min(counts.rows)} to {max(counts.rows)} chunks after each.",
        "",
        "| runs | count |",
        "|---|---|",
        *(f"| {what} | {count} |" for what, count in sorted(counts.runs.items())),
        "",
        f"Killed within their last transaction: {counts.killed}. {counts.late} more were to be, and had ended or had",
        "nothing to write.",
        "",
        f"After {counts.undone} of these a conversation was gone whose words no run had taken out yet.",
        "",
        "Runs after which postings, lexicon or spellings were not those made anew from the chunks (after such kills:",
        "not those that stood before):",
        f"{len(counts.different)}{f' ({counts.different[:20]})' if counts.different else ''}.",
    ]


if __name__ == "__main__":
    main()
