"""Making a report: the queries of one window, shared out over connections that see the same state."""

import queue
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar

from rag_core.database.connecting import Connection
from rag_core.database.connections import Database
from rag_core.database.report.counts import PartCounts, Split, read_counts, read_ranks
from rag_core.database.report.latencies import PartLatencies, read_latencies, read_latency_curve
from rag_core.database.report.settings import RecordedSettings, read_settings, read_turns
from rag_core.database.report.snapshot import check_zone, shared_snapshot
from rag_core.errors import DatabaseBusy, DatabaseUnavailable
from rag_core.model import Window
from rag_core.report.numbers import (
    DEPTHS,
    NO_SEARCHES,
    NOTHING_MEASURED,
    SPLITS,
    STEPS,
    JudgedSearches,
    Part,
    Percentiles,
    Precision,
    RankVotes,
    Report,
    SplitName,
)
from rag_core.report.settings_used import UsedSettings, turns_of

# more than two cores, so that none is idle while the last queries run
_CONNECTIONS = 3
# a query is waited for this long before another connection, which costs as much to open as a small window to read
_WORTH_ANOTHER_S = 0.01
# how long a window has to be for its days to be many
_ONE_DAY = timedelta(days=1)
# of a curve of latencies, beside its beginning
_SHARES = 100
_LIKELY: tuple[Split, ...] = ("whole", "actor", "settings", "surface")
_T = TypeVar("_T")
Latencies = Mapping[str, PartLatencies]


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencyCurve:
    """Points (milliseconds, share of the searches that took no longer), rising; of `n` searches, empty for none."""

    n: int
    points: tuple[tuple[float, float], ...]


def make_report(database: Database, project_id: str, window: Window) -> Report:
    """The report of a project over a window, from `rag_searches` and `rag_feedback` alone.

    The window is of the times that searches were asked at; votes go with their search.

    Raises:
        InvalidInput: The database does not know the window's time zone.
        DatabaseUnavailable: It does not answer.
    """
    with _Readers.open(database, window.zone) as readers:
        counting = readers.submit(read_counts, project_id, window)
        # which splits to measure is known by the counts; these are mostly needed, and no core waits for it
        at_once: tuple[Split, ...] = _LIKELY if window.end - window.start <= _ONE_DAY else (*_LIKELY, "day")
        measuring: dict[Split, Future[list[PartLatencies]]] = {
            split: readers.submit(read_latencies, project_id, window, split) for split in at_once
        }
        ranking = readers.submit(read_ranks, project_id, window)
        counts = counting.result()
        for split in _splits_to_measure(counts):
            if split not in measuring:
                measuring[split] = readers.submit(read_latencies, project_id, window, split)
        names = [count.key for count in counts if count.split == "settings"]
        # settings that stayed the same turn once, which the first search tells
        turning = readers.submit(read_turns, project_id, window, None if len(names) > 1 else 1)
        settings = readers.submit(read_settings, project_id, names).result()
        latencies: dict[Split, Latencies] = {}
        for split, found in measuring.items():
            latencies[split] = {row.key: row for row in found.result()}
        ranks, began = ranking.result(), turning.result()
    parts: dict[tuple[Split, str], Part] = {}
    for count in counts:
        parts[count.split, count.key] = _part(count, _latency_of(count, counts, latencies, settings))
    used = _used_settings(counts, settings)
    return Report(
        project_id=project_id,
        start=window.start,
        end=window.end,
        zone=window.zone,
        synthetic=window.synthetic,
        whole=parts.get(("whole", ""), NO_SEARCHES),
        ranks={
            verdict: tuple(
                RankVotes(rank=rank, votes=votes) for name, rank, votes in ranks if name == verdict
            )
            for verdict in ("util", "irrelevante")
        },
        settings=used,
        turns=turns_of(began, {entry.settings_id: entry for entry in used}),
        splits={name: _split(name, parts) for name in SPLITS},
    )


def latency_curve(database: Database, project_id: str, window: Window) -> LatencyCurve:
    """The curve of a window's total latencies at 101 even shares, the fastest and the slowest among them.

    Raises:
        DatabaseUnavailable: The database does not answer.
    """
    shares = [step / _SHARES for step in range(_SHARES + 1)]
    with database.connection() as connection:
        n, latencies = read_latency_curve(connection, project_id, window, shares)
    return LatencyCurve(n=n, points=tuple(zip(latencies, shares, strict=True)) if n else ())


class _Readers:
    """Connections on one state of the database, and threads that run queries on whichever is free.

    One connection is there from the start; others are opened when a query has waited for a free one.
    """

    def __init__(self, database: Database, held: ExitStack, zone: str) -> None:
        self._database = database
        self._held = held
        self._opening = threading.Lock()
        self._pool_is_empty = False
        self._free: queue.SimpleQueue[Connection] = queue.SimpleQueue()
        first, self._snapshot_id = held.enter_context(shared_snapshot(database))
        check_zone(first, zone)
        self._free.put(first)
        self._threads = ThreadPoolExecutor(_CONNECTIONS, thread_name_prefix="medir-report")

    @classmethod
    @contextmanager
    def open(cls, database: Database, zone: str) -> Iterator["_Readers"]:
        """Open the first; on leaving, running queries are waited for and those not begun dropped."""
        with ExitStack() as held:
            readers = cls(database, held, zone)
            try:
                yield readers
            finally:
                readers._threads.shutdown(wait=True, cancel_futures=True)

    def submit(self, read: Callable[..., _T], *arguments: object) -> Future[_T]:
        """Run one query as soon as a connection is free, in the order of submission."""
        return self._threads.submit(self._run, read, arguments)

    def _run(self, read: Callable[..., _T], arguments: Sequence[object]) -> _T:
        connection = self._take()
        try:
            return read(connection, *arguments)
        finally:
            self._free.put(connection)

    def _take(self) -> Connection:
        try:
            return self._free.get(timeout=_WORTH_ANOTHER_S)
        except queue.Empty:
            pass
        with self._opening:
            if not self._pool_is_empty:
                try:
                    other, _same = self._held.enter_context(
                        shared_snapshot(self._database, self._snapshot_id)
                    )
                except (DatabaseUnavailable, DatabaseBusy):
                    # others hold the rest of the pool; what this report has will do
                    self._pool_is_empty = True
                else:
                    return other
        return self._free.get()


def _splits_to_measure(counts: Sequence[PartCounts]) -> list[Split]:
    """The splits whose latencies are not those of the whole or of the settings over again.

    Sorting a million latencies for each is most of a report's work, and mostly there is one model, all three scopes.
    """
    searches = {count.key: count.searches for count in counts if count.split == "whole"}.get("", 0)
    needed: list[Split] = []
    for split in SPLITS:
        sizes = [count.searches for count in counts if count.split == split]
        covered = all(size == searches for size in sizes)
        one_to_one = split == "model" and len(sizes) == sum(count.split == "settings" for count in counts)
        if not covered and not one_to_one:
            needed.append(split)
    return needed


def _latency_of(
    count: PartCounts,
    counts: Sequence[PartCounts],
    latencies: Mapping[Split, Latencies],
    settings: Mapping[str, RecordedSettings],
) -> PartLatencies | None:
    if count.split in latencies:
        return latencies[count.split].get(count.key)
    whole = next(part for part in counts if part.split == "whole")
    if count.searches == whole.searches:
        return latencies["whole"].get("")
    # what is left is a model that exactly one of the settings names
    named = next(
        key
        for key, entry in settings.items()
        if (entry.settings.get("embeddingModel") or "none") == count.key
    )
    return latencies["settings"].get(named)


def _part(count: PartCounts, latency: PartLatencies | None) -> Part:
    return Part(
        searches=count.searches,
        degraded=count.degraded,
        no_hit=count.no_hit,
        vector_unavailable=count.vector_unavailable,
        shown=count.shown,
        judged=count.judged,
        precision={
            depth: Precision(
                useful=getattr(count, f"useful_{depth}"),
                votes=getattr(count, f"votes_{depth}"),
                judged_hits=getattr(count, f"judged_{depth}"),
            )
            for depth in DEPTHS
        },
        latency={
            step: NOTHING_MEASURED
            if latency is None
            else Percentiles.of(latency.searches, *getattr(latency, step))
            for step in STEPS
        },
        first_at=count.first_at,
        last_at=count.last_at,
        judged_searches=JudgedSearches(
            answered=count.answered,
            unanswered=count.unanswered,
            first_judged=count.first_judged,
            first_useful=count.first_useful,
        ),
    )


def _split(name: SplitName, parts: Mapping[tuple[Split, str], Part]) -> tuple[tuple[str, Part], ...]:
    return tuple(sorted((key, part) for (split, key), part in parts.items() if split == name))


def _used_settings(
    counts: Sequence[PartCounts], settings: Mapping[str, RecordedSettings]
) -> tuple[UsedSettings, ...]:
    found = [
        UsedSettings(
            settings_id=count.key,
            settings=settings[count.key].settings,
            decided=len(settings) == 1 or _is_decided(settings[count.key]),
            searches=count.searches,
            first_at=count.first_at,
            last_at=count.last_at,
        )
        for count in counts
        if count.split == "settings"
    ]
    return tuple(sorted(found, key=lambda entry: (entry.first_at, entry.settings_id)))


def _is_decided(recorded: RecordedSettings) -> bool:
    """Whether the limit is the maintainer's: adopted, committed, tried with other numbers, or the preset's own."""
    if recorded.adopted or recorded.settings.get("source") in ("committed", "trial"):
        return True
    # loads the parser of golden cases, which a window of one decision does not wait for
    from rag_core.settings.presets import PRESETS  # noqa: PLC0415

    preset = PRESETS.get(str(recorded.settings.get("preset")))
    return preset is not None and recorded.settings.get("limit") == preset.ranking.limit
