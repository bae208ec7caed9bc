"""Every verb of the command line and every page, with what each is given."""

from dataclasses import dataclass
from typing import Literal

from medir.pages import PAGES

Way = Literal["ends", "serves", "speaks"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verb:
    """A verb with its arguments; `{…}` stand for what the bench has at hand.

    `way` tells how it ends: by itself, when its server is stopped, or when its client leaves.
    """

    name: str
    arguments: tuple[str, ...] = ()
    way: Way = "ends"
    within_s: float = 60.0

    @property
    def command(self) -> tuple[str, ...]:
        return (*self.name.split(), *self.arguments)


PAGE_NAMES = tuple(f"page {page.path}" for page in PAGES)

# before anybody has a token, for then pages and agents are asked for it
VERBS = (
    Verb(name="db migrate"),
    Verb(name="db status"),
    Verb(name="db start"),
    Verb(name="db stop"),
    Verb(name="doctor"),
    Verb(name="project list"),
    Verb(name="project show"),
    Verb(name="search", arguments=("quantos dias a fila guarda",)),
    Verb(name="vote", arguments=("{search}", "{chunk}", "util")),
    Verb(name="coverage"),
    Verb(name="golden lint"),
    Verb(name="golden run"),
    Verb(name="golden explain", arguments=("fila",)),
    Verb(name="golden raise-floor", arguments=("--reason", "measured")),
    Verb(name="baseline freeze", arguments=("{fresh}",)),
    Verb(name="baseline list"),
    Verb(name="baseline show", arguments=("first",)),
    Verb(name="baseline verify", arguments=("first",)),
    Verb(name="baseline diff", arguments=("first", "second")),
    Verb(name="calibrate", arguments=("--resamples", "20")),
    Verb(name="rag"),
    Verb(name="settings show"),
    Verb(name="settings history"),
    Verb(name="mcp", way="speaks"),
    Verb(name="serve", arguments=("--port", "0"), way="serves"),
    Verb(name="index"),
    Verb(name="settings adopt", arguments=("--threshold", "0.4", "--reason", "measured")),
    Verb(name="sessions import", arguments=("{sessions}",)),
    Verb(name="searches purge", arguments=("--yes",)),
    Verb(name="token list"),
    Verb(name="token create", arguments=("ana", "--role", "viewer")),
    Verb(name="token revoke", arguments=("ana",)),
    Verb(name="project set", arguments=("--ref", "HEAD")),
    Verb(name="project add", arguments=("outro", "--repo", "{repository}")),
    Verb(name="db dump", arguments=("{dump}",)),
    Verb(name="db restore", arguments=("{copy}",)),
    # these last, for one adds a second project and one takes what the others need
    Verb(name="up", arguments=("--port", "0"), way="serves", within_s=180.0),
    Verb(name="project remove", arguments=("fila", "--yes")),
)
PAGES_COME_BEFORE = "token list"
