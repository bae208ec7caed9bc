"""The medir:rag report in the terminal."""

from rich.table import Table

from medir.cli.frame import Output, cell, make_table
from rag_core.report.numbers import DEPTHS, SPLITS, STEPS, Part, Report
from rag_core.report.rank_pattern import told_pattern
from rag_core.report.words import gate, gate_broken, headline, hits_judged, no_vote
from rag_core.words.numbers import DASH, NOT_MEASURED, from_to, measured, share
from rag_core.words.plurals import counted

_VERDICTS = {"util": "useful", "irrelevante": "irrelevant"}


def print_report(output: Output, report: Report) -> None:
    """The report for a person: its answer first, then numbers with what they are of."""
    whole = report.whole
    output.say(
        f"medir:rag {report.project_id}, {report.start:%Y-%m-%d %H:%M} to {report.end:%Y-%m-%d %H:%M} UTC"
        + (", synthetic rows included" if report.synthetic else "")
    )
    for sentence in headline(report):
        output.say(sentence)
    output.say(gate(report))
    if broken := gate_broken(report):
        output.say(broken)
    output.say("")
    output.say(f"Searches {whole.searches:,}")
    for name, count in (("degraded", whole.degraded), ("without a hit", whole.no_hit)):
        output.say(f"  {name}: {_share(count, whole.searches)}")
    output.say(f"  {hits_judged(whole)}")
    output.people.print(_precision_table(whole))
    output.people.print(_latency_table(whole))
    if whole.latency["total"].why:
        output.say(whole.latency["total"].why)
    _print_ranks(output, report)
    if report.mixed_settings:
        output.say(
            f"\nMixed settings: {len(report.mixed_settings)}; these are numbers under different rules."
        )
    for name in SPLITS:
        if report.is_parted(name):
            output.say(f"\nBy {name}")
            output.people.print(_split_table(report.splits[name]))
    _print_counterfactual(output, report)


def _precision_table(part: Part) -> Table:
    table = _columns("", "value", "95 % interval", "useful", "votes", "hits judged")
    for depth in DEPTHS:
        precision = part.precision[depth]
        interval = precision.interval
        table.add_row(
            f"precision@{depth}",
            _number(precision.value),
            DASH if interval is None else from_to(interval.low, interval.high),
            f"{precision.useful:,}",
            f"{precision.votes:,}",
            f"{precision.judged_hits:,}",
        )
    return table


def _latency_table(part: Part) -> Table:
    table = _columns("latency, ms", "n", "p50", "p95", "p99")
    for step in STEPS:
        latency = part.latency[step]
        table.add_row(
            step,
            f"{latency.n:,}",
            *(_number(value, digits=1) for value in (latency.p50, latency.p95, latency.p99)),
        )
    return table


def _print_ranks(output: Output, report: Report) -> None:
    by_verdict = {
        verdict: {entry.rank: entry.votes for entry in entries} for verdict, entries in report.ranks.items()
    }
    ranks = sorted({rank for counts in by_verdict.values() for rank in counts})
    if not ranks:
        output.say(f"Votes by rank: not measured, {no_vote(report.whole)}.")
        return
    table = _columns("votes by rank", *(str(rank) for rank in ranks))
    for verdict, counts in by_verdict.items():
        table.add_row(_VERDICTS[verdict], *(f"{counts.get(rank, 0):,}" for rank in ranks))
    output.people.print(table)
    output.say(told_pattern(report.whole.judged_searches))


def _split_table(parts: tuple[tuple[str, Part], ...]) -> Table:
    table = _columns("", "searches", "degraded", "no hit", "precision@5", "votes", "p50 ms", "p95 ms")
    for key, part in parts:
        table.add_row(
            cell(key),
            f"{part.searches:,}",
            f"{part.degraded:,}",
            f"{part.no_hit:,}",
            _number(part.precision[5].value),
            f"{part.precision[5].votes:,}",
            _number(part.latency["total"].p50, digits=1),
            _number(part.latency["total"].p95, digits=1),
        )
    return table


def _print_counterfactual(output: Output, report: Report) -> None:
    found = report.counterfactual
    if found is None:
        return
    output.say(f"\nAgainst {found.against}, {counted(found.searches, 'search', 'searches')} replayed")
    output.say(f"  overlap of places: {_number(found.overlap)}")
    output.say(f"  rank-biased overlap: {_number(found.rbo)}")
    output.say(f"  not replayable: {found.not_replayable:,}")


def _columns(first: str, *numbers: str) -> Table:
    return make_table(first, *numbers, numbers=numbers)


def _number(value: float | None, *, digits: int = 3) -> str:
    return measured(value, digits, missing=NOT_MEASURED)


def _share(count: int, total: int) -> str:
    return f"{count:,} of {total:,} ({share(count, total)})" if total else "not measured"
