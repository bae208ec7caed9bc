"""Traffic as people and agents might make it: searches through the real search, votes by a model of users.

For demonstrations and for looking at the report. Every row is marked synthetic, so the report leaves it out unless
it is asked with `--synthetic`; nothing here says how good the search is, since the user model looks the right
answers up in the golden set.

    python bench/generate_traffic.py --project sample --searches 300 --days 30

Questions are those of the golden set, as they are or with words dropped. They are asked over the given days, by
people in working hours and by agents at any hour; in the first third of the time under the preset `seeds`, then
under the settings in force. A user looks at a hit with a probability that falls with its rank, judges some of what
was looked at, and mostly finds useful what the golden set calls right.
"""

import argparse
import random
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from medir.configuration import load_configuration
from medir.wiring import Services, open_services
from rag_core.clock import SystemClock
from rag_core.golden.cases import GoldenCase
from rag_core.model import ALL_SCOPES, Actor, Project
from rag_core.project.projects import choose_project
from rag_core.search.answer import Answer
from rag_core.search.asking import Search
from rag_core.search.telemetry import Telemetry
from rag_core.search.votes import cast_vote
from rag_core.settings.golden_folder import cases_file, read_golden_set
from rag_core.settings.overrides import Overrides

PEOPLE = tuple(
    Actor(kind="human", id=name, surface="app") for name in ("ana", "bruno", "carla", "davi", "elisa")
)
AGENTS = tuple(Actor(kind="agent", id=name, surface="mcp") for name in ("revisor", "planejador"))

LOOKS_AT_FIRST = 0.9
LOOKS_LESS_BY = 0.6  # each further rank is looked at with this share of the chance of the one before
JUDGES = 0.5
USEFUL_WHEN_RIGHT = 0.92
USEFUL_WHEN_OTHER = 0.12
DROPS_A_WORD = 0.3
ASKS_AS_WRITTEN = 0.4


@dataclass
class SteppedClock:
    """A clock that stands where it was put; durations are real."""

    at: datetime

    def now(self) -> datetime:
        return self.at

    def monotonic_ms(self) -> float:
        return SystemClock().monotonic_ms()


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """What was written."""

    searches: int
    votes: int
    useful: int


def main() -> None:
    """Make the traffic and say what was made."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--project")
    parser.add_argument("--searches", type=int, default=300)
    parser.add_argument("--days", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    with open_services(load_configuration()) as services:
        project = choose_project(services.database, given.project)
        cases = read_golden_set(cases_file(project)).cases
        made = generate(services, project, cases, searches=given.searches, days=given.days, seed=given.seed)
    print(f"{made.searches} searches and {made.votes} votes ({made.useful} useful), all marked synthetic.")
    print(f"See them with: medir rag --project {project.project_id} --synthetic --since {given.days + 1}d")


def generate(
    services: Services,
    project: Project,
    cases: tuple[GoldenCase, ...],
    *,
    searches: int,
    days: int,
    seed: int,
) -> Made:
    """Ask and vote; the same seed over the same index asks and votes the same."""
    dice = random.Random(seed)
    end = datetime.now(UTC)
    clock = SteppedClock(end)
    search = Search(
        database=services.database,
        providers=services.providers,
        telemetry=Telemetry(services.database, loss_log=None),
        clock=clock,
    )
    votes = useful = 0
    actors = dice.choices(PEOPLE + AGENTS, weights=[3, 2, 2, 1, 1, 4, 2], k=searches)
    moments = sorted(
        ((moment(dice, end, days, actor), actor) for actor in actors), key=lambda entry: entry[0]
    )
    for number, (at, actor) in enumerate(moments):
        clock.at = at
        case = dice.choice(cases)
        answer = search.ask(
            project.project_id,
            paraphrase(dice, case.question),
            actor=actor,
            scopes=case.scope or ALL_SCOPES,
            overrides=Overrides(preset="seeds") if number < searches // 3 else None,
            synthetic=True,
        )
        for chunk_id, verdict in judge(dice, case, answer):
            clock.at = at + timedelta(seconds=dice.uniform(3, 90))
            cast_vote(
                services.database,
                clock,
                project.project_id,
                search_id=str(answer.search_id),
                chunk_id=chunk_id,
                verdict=verdict,
                actor=actor,
            )
            votes += 1
            useful += verdict == "util"
    return Made(searches=searches, votes=votes, useful=useful)


def moment(dice: random.Random, end: datetime, days: int, actor: Actor) -> datetime:
    """A time in the last `days`: people ask mostly on weekdays from 8 to 19 UTC, agents whenever."""
    while True:
        at = end - timedelta(days=days * dice.random())
        if actor.kind == "agent" or (at.weekday() < 5 and 8 <= at.hour < 19) or dice.random() < 0.05:
            return at


def paraphrase(dice: random.Random, question: str) -> str:
    """The question as written, or without some of its words; at least three stay."""
    words = question.split()
    if dice.random() < ASKS_AS_WRITTEN:
        return question
    kept = [word for word in words if dice.random() >= DROPS_A_WORD]
    return " ".join(kept) if len(kept) >= min(3, len(words)) else question


def judge(dice: random.Random, case: GoldenCase, answer: Answer) -> list[tuple[str, str]]:
    """The votes of one user on one answer: chunk id and verdict."""
    if answer.search_id is None:
        return []
    given: list[tuple[str, str]] = []
    for hit in answer.ranking.hits:
        looked = dice.random() < LOOKS_AT_FIRST * LOOKS_LESS_BY ** ((hit.rank or 1) - 1)
        if not looked or dice.random() >= JUDGES:
            continue
        right = hit.candidate.origin.place in case.expected
        helped = dice.random() < (USEFUL_WHEN_RIGHT if right else USEFUL_WHEN_OTHER)
        given.append((hit.candidate.chunk_id, "util" if helped else "irrelevante"))
    return given


if __name__ == "__main__":
    main()
