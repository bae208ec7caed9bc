"""Choose and show the presets `embedded` and `embedded-strict`: function, title weight, weight, threshold.

Chosen on one part (every other case of the four corpora and every other question of FaQuAD), shown on the rest
and on SQuAD-pt, which takes no part in the choice. A foreign question is one of another corpus: the right answer
to it is no hit. Writes `bench/results/presets.md`. Takes some minutes.

The choice, by rule; the quality of a setting is the mean over collections of hit@5 and reciprocal rank:

- Weight, for each lexical function and title weight: the middle of the longest run of weights whose quality is within
  two points of the best, no threshold. Function and title weight: the best at that weight; of equals the first.
- `embedded` is to find, and has a threshold only where one costs no collection a case and refuses a fifth of the
  foreign questions.
- `embedded-strict` is to refuse. At the same weight, the lowest threshold at which 70 % of the foreign questions
  (mean over corpora) get no hit.

It also says whether a signal of its own would refuse better than the score that ranks: half the cosine and half
`coverageIdf`, as a threshold on a question's best candidate.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from material import CORPORA, TOP, fetch_ways, index_collection, index_corpus, throwaway_services
from rag_core.metrics.significance import sign_test
from rag_core.model import (
    CandidateSet,
    Fusion,
    LexicalFunction,
    LexicalWay,
    Place,
    RankingSettings,
)
from rag_core.ranking.ranking import rank
from rag_core.settings.presets import PRESETS

DEPTH = 100
WEIGHTS = tuple(hundredths / 100 for hundredths in range(0, 101, 5))
TOLERANCE = 0.02
REFUSED_SHARE = 0.70
WORTH_REFUSING = 0.20
TS_RANK = LexicalWay()
COVERAGE_IDF = LexicalWay(function=LexicalFunction.COVERAGE_IDF, title_weight=0.0)
WAYS = (
    TS_RANK,
    LexicalWay(function=LexicalFunction.COVERAGE),
    *(LexicalWay(function=LexicalFunction.BM25, title_weight=weight) for weight in (0.0, 0.25, 0.5, 1.0)),
    COVERAGE_IDF,
    LexicalWay(function=LexicalFunction.COVERAGE_IDF, title_weight=0.5),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One question of one collection with its candidates by lexical way; nothing is expected of a foreign one."""

    collection: str
    expected: frozenset[Place]
    found: Mapping[LexicalWay, CandidateSet]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """The questions of one half: own ones by collection, foreign ones by the corpus that was asked."""

    own: dict[str, list[Asked]]
    foreign: dict[str, list[Asked]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """A lexical way with the numbers that rank."""

    way: LexicalWay
    ranking: RankingSettings


def main() -> None:
    """Index everything, choose, show, write."""
    chosen_on, shown_on = gather()
    weights = {way: choose_weight(chosen_on, way) for way in WAYS}
    way = max(WAYS, key=lambda each: quality(chosen_on, tried(each, weights[each])))
    weight = weights[way]
    strict = choose_strict_threshold(chosen_on, way, weight)
    lines = [
        "# Presets for the embedded encoder",
        "",
        f"Written by `bench/measure_presets.py` on {datetime.now(UTC):%Y-%m-%d}. hit@5 and MRR (of the first 5) over",
        f"all questions of a collection, {DEPTH} candidates a signal, at most 2 chunks a file; refused is the share of",
        "the other three corpora's questions that get no hit. The choosing part is every other question of the corpora",
        "and of FaQuAD; SQuAD-pt takes no part in the choice.",
        "",
        (
            f"Chosen: {told(way)}, weight {weight:.2f}; {told_threshold(chosen_on, way, weight)} (`embedded`); "
            f"threshold {strict:.3f} (`embedded-strict`)."
        ),
        "",
        "## Functions, each at its own weight, choosing part",
        "",
        *function_table(chosen_on, weights),
        "",
        f"## hit@5 / MRR over the weight, {told(way)}, no threshold",
        "",
        *weight_table(chosen_on, shown_on, way),
        "",
        "## The presets as the product has them, against plain lexical search (any term, `ts_rank`)",
        "",
        *preset_table(chosen_on, shown_on),
        "",
        "## The trade over the threshold",
        "",
        *trade_table(shown_on, way, weight),
        "",
        "## A signal of its own to refuse by",
        "",
        *refusal_table(chosen_on, shown_on, way, weight),
    ]
    text = "\n".join(lines) + "\n"
    target = TOP / "bench" / "results" / "presets.md"
    target.parent.mkdir(exist_ok=True)
    target.write_text(text, encoding="utf-8")
    print(text)


def gather() -> tuple[Part, Part]:
    """Both parts, with candidates of every question."""
    chosen, shown = Part(own={}, foreign={}), Part(own={}, foreign={})
    with throwaway_services() as services:
        corpora = {name: index_corpus(services, name) for name in CORPORA}
        for name, (project, _) in corpora.items():
            for other, (_, cases) in corpora.items():
                questions = {case.id: case.question for case in cases}
                found = fetch_ways(services, project.project_id, questions, WAYS, depth=DEPTH)
                for position, case in enumerate(cases):
                    part = chosen if position % 2 == 0 else shown
                    target = part.own if other == name else part.foreign
                    expected = frozenset(case.expected) if other == name else frozenset()
                    target.setdefault(name, []).append(asked_of(name, expected, found, case.id))
        for name in ("faquad", "squad-pt-sample"):
            project, judged = index_collection(services, name)
            questions = {q.id: q.question for q in judged}
            found = fetch_ways(services, project.project_id, questions, WAYS, depth=DEPTH)
            for position, question in enumerate(judged):
                part = chosen if name == "faquad" and position % 2 == 0 else shown
                part.own.setdefault(name, []).append(asked_of(name, question.expected, found, question.id))
    return chosen, shown


def asked_of(
    name: str, expected: frozenset[Place], found: Mapping[LexicalWay, Mapping[str, CandidateSet]], key: str
) -> Asked:
    """One question with its candidates by way."""
    return Asked(collection=name, expected=expected, found={way: each[key] for way, each in found.items()})


def choose_weight(part: Part, way: LexicalWay) -> float:
    """The middle of the longest run of near-best weights."""
    qualities = [quality(part, tried(way, weight)) for weight in WEIGHTS]
    near = [value >= max(qualities) - TOLERANCE for value in qualities]
    best: list[int] = []
    run: list[int] = []
    for position, good in enumerate(near):
        run = [*run, position] if good else []
        if len(run) > len(best):
            best = run
    return WEIGHTS[best[len(best) // 2]]


def choose_threshold(part: Part, way: LexicalWay, weight: float) -> tuple[float, float]:
    """The highest threshold, in steps of 0.005, that costs no collection a case, and what it refuses."""
    best = 0.0
    for step in range(1, 200):
        if any(
            hit_rate(asked, tried(way, weight, step / 200)) < hit_rate(asked, tried(way, weight))
            for asked in part.own.values()
        ):
            break
        best = step / 200
    return best, mean(refused(asked, tried(way, weight, best)) for asked in part.foreign.values())


def told_threshold(part: Part, way: LexicalWay, weight: float) -> str:
    """Which threshold `embedded` has by the rule."""
    threshold, share = choose_threshold(part, way, weight)
    what = f"threshold {threshold:.3f}" if share >= WORTH_REFUSING else "no threshold"
    return f"{what}, since {threshold:.3f} costs nothing and refuses {share:.2f}"


def choose_strict_threshold(part: Part, way: LexicalWay, weight: float) -> float:
    """The lowest threshold, in steps of 0.005, that refuses enough foreign questions."""
    return next(
        step / 200
        for step in range(1, 200)
        if mean(refused(asked, tried(way, weight, step / 200)) for asked in part.foreign.values())
        >= REFUSED_SHARE
    )


def tried(
    way: LexicalWay, weight: float, threshold: float | None = None, *, fusion: Fusion = Fusion.WEIGHTED_SUM
) -> Tried:
    """The family of settings that is searched."""
    ranking = RankingSettings(
        weight_vector=weight,
        weight_lexical=1 - weight,
        threshold=threshold,
        candidates_per_signal=DEPTH,
        max_per_file=2,
        limit=5,
        fusion=fusion,
    )
    return Tried(way=way, ranking=ranking)


def first_ranks(asked: Sequence[Asked], under: Tried) -> list[int]:
    """Of each question the rank of the first hit that is expected, 0 for none; `asked` is a list of a `Part`."""
    if (id(asked), under) not in _RANKS:
        _RANKS[id(asked), under] = [_first_rank(one, under) for one in asked]
    return _RANKS[id(asked), under]


# the lists of the parts live as long as the program, so their ids tell them apart
_RANKS: dict[tuple[int, Tried], list[int]] = {}


def _first_rank(asked: Asked, under: Tried) -> int:
    hits = rank(asked.found[under.way], under.ranking).hits
    return next((hit.rank or 0 for hit in hits if hit.candidate.origin.place in asked.expected), 0)


def hit_rate(asked: Sequence[Asked], under: Tried) -> float:
    """The share of all questions with an expected place among the hits."""
    return _hits(first_ranks(asked, under))


def reciprocal(asked: Sequence[Asked], under: Tried) -> float:
    """The mean of 1 / the rank of the first expected place, 0 where it is not among the hits."""
    return _reciprocals(first_ranks(asked, under))


def _hits(ranks: Sequence[int]) -> float:
    return mean(rank > 0 for rank in ranks)


def _reciprocals(ranks: Sequence[int]) -> float:
    return mean(1 / rank if rank else 0.0 for rank in ranks)


def quality(part: Part, under: Tried) -> float:
    """The mean over collections of hit@5 and MRR."""
    return mean((hit_rate(asked, under) + reciprocal(asked, under)) / 2 for asked in part.own.values())


def refused(asked: Sequence[Asked], under: Tried) -> float:
    """The share of questions without any hit."""
    return mean(not rank(one.found[under.way], under.ranking).hits for one in asked)


def mean(values: Iterable[float]) -> float:
    """The arithmetic mean; never of an empty list here."""
    listed = list(values)
    return sum(listed) / len(listed)


def told(way: LexicalWay) -> str:
    """A lexical way by its function and title weight."""
    return f"`{way.function}`" + (f", title weight {way.title_weight:g}" if way.function.knows_rarity else "")


def pair(asked: Sequence[Asked], under: Tried) -> str:
    """hit@5 / MRR."""
    return _told_ranks(first_ranks(asked, under))


def _told_ranks(ranks: Sequence[int]) -> str:
    return f"{_hits(ranks):.3f} / {_reciprocals(ranks):.3f}"


def function_table(part: Part, weights: Mapping[LexicalWay, float]) -> list[str]:
    """A row a lexical way: its weight, how many weights are within a point of the best, its quality."""
    lines = [
        "| function | weight | weights within a point of the best, of 21 | hit@5 / MRR, mean |",
        "|---|---|---|---|",
    ]
    for way, weight in weights.items():
        qualities = [quality(part, tried(way, each)) for each in WEIGHTS]
        width = sum(value >= max(qualities) - 0.01 for value in qualities)
        under = tried(way, weight)
        hits = mean(hit_rate(asked, under) for asked in part.own.values())
        ranks = mean(reciprocal(asked, under) for asked in part.own.values())
        lines.append(f"| {told(way)} | {weight:.2f} | {width} | {hits:.3f} / {ranks:.3f} |")
    return lines


def weight_table(chosen_on: Part, shown_on: Part, way: LexicalWay) -> list[str]:
    """A row a weight: the choosing part's mean quality, then each collection of the shown part."""
    names = list(shown_on.own)
    lines = [
        f"| weight | mean, choosing part | {' | '.join(names)} |",
        f"|---|---|{'---|' * len(names)}",
    ]
    for weight in WEIGHTS:
        under = tried(way, weight)
        row = [pair(shown_on.own[name], under) for name in names]
        lines.append(f"| {weight:.2f} | {quality(chosen_on, under):.3f} | {' | '.join(row)} |")
    return lines


def preset_table(chosen_on: Part, shown_on: Part) -> list[str]:
    """Each preset beside plain lexical search and RRF, on all questions; won and lost against the first of them."""
    plain = tried(TS_RANK, 0.0)
    rows: list[tuple[str, Tried]] = [
        ("plain lexical", plain),
        ("RRF, k 60, `ts_rank`", tried(TS_RANK, 0.5, fusion=Fusion.RRF)),
        *((preset.name, Tried(way=preset.lexical, ranking=preset.ranking)) for preset in PRESETS.values()),
    ]
    lines = [
        (
            "| settings | collection | choosing part | shown part | all | won / lost against plain, all | p | foreign "
            "refused, shown part |"
        ),
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, under in rows:
        for collection in shown_on.own:
            parts = [part.own[collection] for part in (chosen_on, shown_on) if collection in part.own]
            everything = [found for part in parts for found in first_ranks(part, under)]
            before = [found for part in parts for found in first_ranks(part, plain)]
            won, lost = won_and_lost(everything, before)
            p_value = sign_test(won, lost)
            foreign = shown_on.foreign.get(collection, [])
            told_parts = [
                pair(part.own[collection], under) if collection in part.own else ""
                for part in (chosen_on, shown_on)
            ]
            lines.append(
                f"| {name} | {collection} | {told_parts[0]} | {told_parts[1]} | {_told_ranks(everything)} "
                f"| {won} / {lost} | {p_value:.3g} | {f'{refused(foreign, under):.2f}' if foreign else ''} |"
            )
    return lines


def won_and_lost(ranks: Sequence[int], against: Sequence[int]) -> tuple[int, int]:
    """Questions found among the first 5 by one only: by the first, by the second."""
    pairs = list(zip(ranks, against, strict=True))
    return sum(bool(a and not b) for a, b in pairs), sum(bool(b and not a) for a, b in pairs)


def trade_table(part: Part, way: LexicalWay, weight: float) -> list[str]:
    """A row a threshold on the shown part: found and refused, each corpus."""
    lines = [
        f"| threshold | {' | '.join(f'{name} found / refused' for name in CORPORA)} |",
        f"|---|{'---|' * len(CORPORA)}",
    ]
    for hundredths in range(0, 61, 4):
        under = tried(way, weight, hundredths / 100)
        row = [
            f"{hit_rate(part.own[name], under):.2f} / {refused(part.foreign[name], under):.2f}"
            for name in CORPORA
        ]
        lines.append(f"| {hundredths / 100:.2f} | {' | '.join(row)} |")
    return lines


def refusal_table(chosen_on: Part, shown_on: Part, way: LexicalWay, weight: float) -> list[str]:
    """How well a question's best candidate tells own questions from foreign ones, by three scores.

    Foreign: the area under the curve against questions of other corpora. Hidden: against the own questions with the
    chunks of their answers left out. 0.5 is chance, means over corpora.
    """
    scores: Mapping[str, Callable[[Asked], dict[Place, float]]] = {
        "cosine alone": lambda one: _best_by_place(one.found[way], 1.0, 0.0),
        f"the score that ranks, {told(way)}": lambda one: _best_by_place(one.found[way], weight, 1 - weight),
        "half cosine, half `coverageIdf`": lambda one: _best_by_place(one.found[COVERAGE_IDF], 0.5, 0.5),
    }
    lines = ["| score | part | foreign | hidden |", "|---|---|---|---|"]
    for name, score in scores.items():
        for label, part in (("choosing", chosen_on), ("shown", shown_on)):
            foreign, hidden = [], []
            for corpus in CORPORA:
                own = [score(one) for one in part.own[corpus]]
                best = [max(each.values(), default=0.0) for each in own]
                others = [max(score(one).values(), default=0.0) for one in part.foreign[corpus]]
                left = [
                    max((value for place, value in each.items() if place not in one.expected), default=0.0)
                    for each, one in zip(own, part.own[corpus], strict=True)
                ]
                foreign.append(area_under_curve(best, others))
                hidden.append(area_under_curve(best, left))
            lines.append(f"| {name} | {label} | {mean(foreign):.3f} | {mean(hidden):.3f} |")
    return lines


def area_under_curve(above: Sequence[float], below: Sequence[float]) -> float:
    """How often one of the first is greater than one of the second, ties as halves."""
    return mean((a > b) + (a == b) / 2 for a in above for b in below)


def _best_by_place(found: CandidateSet, vector: float, lexical: float) -> dict[Place, float]:
    best: dict[Place, float] = {}
    for candidate in found.candidates:
        value = vector * (candidate.vector_score or 0.0) + lexical * (candidate.lexical_score or 0.0)
        place = candidate.origin.place
        best[place] = max(value, best.get(place, value))
    return best


if __name__ == "__main__":
    main()
