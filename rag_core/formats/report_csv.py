"""The report as CSV, one number a row, so that a spreadsheet can turn it as it likes."""

import csv
import io

from rag_core.report.numbers import DEPTHS, SPLITS, STEPS, Part, Report

HEADER = ("split", "key", "number", "value", "n", "low", "high")
# a spreadsheet takes text that begins like this for a formula
_FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r")


def report_csv(report: Report) -> str:
    """Rows `split, key, number, value, n, low, high`; the whole window has the split `whole` and no key.

    `n` is what the number is of: votes, searches or hits. What is not measured has an empty value.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(HEADER)
    writer.writerows(_rows("whole", "", report.whole))
    for verdict, entries in report.ranks.items():
        writer.writerows(
            ("whole", "", f"ranks.{verdict}.{entry.rank}", entry.votes, "", "", "") for entry in entries
        )
    for split in SPLITS:
        for key, part in report.splits[split]:
            writer.writerows(_rows(split, key, part))
    found = report.counterfactual
    if found is not None:
        for number, value in (("overlap", found.overlap), ("rbo", found.rbo)):
            writer.writerow(("against", _plain(found.against), number, _cell(value), found.searches, "", ""))
        writer.writerow(("against", _plain(found.against), "notReplayable", found.not_replayable, "", "", ""))
    return out.getvalue()


def _rows(split: str, key: str, part: Part) -> list[tuple[object, ...]]:
    start = (split, _plain(key))
    rows: list[tuple[object, ...]] = [
        (*start, "searches", part.searches, "", "", ""),
        (*start, "degraded", part.degraded, part.searches, "", ""),
        (*start, "noHit", part.no_hit, part.searches, "", ""),
        (*start, "vectorUnavailable", part.vector_unavailable, part.searches, "", ""),
        (*start, "judgedShare", _cell(part.judged_share), part.shown, "", ""),
    ]
    for depth in DEPTHS:
        precision = part.precision[depth]
        interval = precision.interval
        rows.append(
            (
                *start,
                f"precision@{depth}",
                _cell(precision.value),
                precision.votes,
                _cell(interval.low if interval else None),
                _cell(interval.high if interval else None),
            )
        )
    for step in STEPS:
        latency = part.latency[step]
        rows.extend(
            (*start, f"latency.{step}.{name}", _cell(value), latency.n, "", "")
            for name, value in (("p50", latency.p50), ("p95", latency.p95), ("p99", latency.p99))
        )
    return rows


def _cell(value: float | None) -> float | str:
    return "" if value is None else value


def _plain(text: str) -> str:
    return f"'{text}" if text.startswith(_FORMULA_SIGNS) else text
