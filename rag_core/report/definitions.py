"""Each number of the report in plain words, by the name that it has in the JSON. Pure."""

from collections.abc import Mapping

from rag_core.errors import UsageError

DEFINITIONS: Mapping[str, str] = {
    "verdict": (
        "The gate, and not how good the search is. It fails for one thing only: the vector signal was available in "
        "no search of the window. A window without searches is not measured, and does not fail."
    ),
    "searches": (
        "Questions asked by people and programs in the window, by the time they were asked at: the beginning counts, "
        "the end does not. Golden runs, calibrations and replays ask nothing; rows made by benches count only with "
        "--synthetic."
    ),
    "degraded": (
        "Searches without their vector signal, or over chunks some of which have no vector. They are counted here and "
        "left out of precision, ranks, latency and the share of judged hits."
    ),
    "vectorUnavailable": "Searches in which the vector signal did not run. The verdict looks at nothing else.",
    "noHit": "Searches that showed nothing: no candidate reached the threshold, or there was none.",
    "precision": (
        "precision@k: of all votes on hits of rank k or better, the share that says useful. What was not voted on is "
        "unknown, not irrelevant, so the denominator is votes and never k. Without a vote it is not measured. It says "
        "how good judged hits are, not how many good ones there are."
    ),
    "low": (
        "low and high: the 95 % Wilson interval of precision. Were votes drawn again and again, intervals made "
        "this way would hold the true share 95 times of 100. It knows nothing of which hits people chose to judge."
    ),
    "votes": "Verdicts given, useful and irrelevant together. Two people's votes on one hit are two.",
    "useful": "Votes that say the hit helped.",
    "judgedHits": "Distinct hits, each one chunk shown by one search, that have at least one vote.",
    "judgedShare": (
        "Distinct judged hits over all hits shown. A precision over a small share speaks for those few. Without a hit "
        "shown it is not measured."
    ),
    "ranks": (
        "Votes by verdict and rank of the hit. A question with one answer has irrelevant hits below it under the best "
        "of orders, so index and order are judged by searches: how many of those judged had a useful hit, and in how "
        "many of these the first hit was useful. Under 20 searches nothing is said."
    ),
    "latency": (
        "Milliseconds from the question to its answer (total), and in its steps: embedding the question, the vector "
        "query, the lexical query, ranking. Loading a model into the process that asks, once, is none of them."
    ),
    "p50": (
        "Half of the searches took no longer. Percentiles lie between the two nearest observations, in proportion "
        "(percentile_cont)."
    ),
    "p95": "95 % of searches took no longer. Given from 20 searches on; below, it would be the slowest in disguise.",
    "p99": "99 % of searches took no longer. Given from 100 searches on; below, it would be the slowest in disguise.",
    "mixedSettings": (
        "The settings under which the window's searches ran, when there are two or more. Numbers under different rules "
        "are not one number: read the split by settings. A limit that a caller chose makes no other settings."
    ),
    "splits": (
        "The same numbers for parts of the window: by frozen settings, by the index's embedding model, by who asked, "
        "by surface, by scope, by day. A search counts in each scope that it asked for; votes go with their search, "
        "whoever voted."
    ),
    "overlap": (
        "How many places two lists share, over the length of the longer one; the order plays no part. Here: what was "
        "shown, and what the other settings would show. The mean over all searches that can be replayed."
    ),
    "rbo": (
        "Rank-biased overlap, extrapolated, p = 0.9: how alike two orders of places are, from 0 to 1, where a "
        "difference at the top weighs more. The mean over all searches that can be replayed."
    ),
    "notReplayable": (
        "Searches whose candidates would have been others under the other settings: another lexical query or model, "
        "more candidates a signal than were kept, or none kept."
    ),
}


def explain_number(name: str) -> tuple[str, str]:
    """The name as it is listed, and its definition; `precision@5` and `latency.p95` are understood too.

    Raises:
        UsageError: The report has no such number.
    """
    last = name.strip().rsplit(".", 1)[-1].split("@", 1)[0]
    aliases = {key.lower(): key for key in DEFINITIONS} | {"high": "low", "counterfactual": "overlap"}
    key = aliases.get(last.lower())
    if key is None:
        raise UsageError(f"The report has no number {name!r}.", hint=f"There are: {', '.join(DEFINITIONS)}.")
    return key, DEFINITIONS[key]
