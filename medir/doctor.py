"""What works on this machine and what does not, each with its remedy."""

import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from medir.configuration import Configuration
from medir.wiring import LOSS_LOG, Services, database_url, open_services
from rag_core.clock import SystemClock
from rag_core.database.address import identifier, psql
from rag_core.database.connecting import connect, connections_at_once
from rag_core.database.connections import translated_errors
from rag_core.database.index.identity import IndexIdentity, read_identity, read_scope_states
from rag_core.database.migration import migration_status
from rag_core.database.projects import list_projects
from rag_core.database.standing import Standing, locale_problem, read_standing
from rag_core.embedding.providers import Providers
from rag_core.errors import MedirError
from rag_core.index.left_out import LeftOut
from rag_core.model import Project
from rag_core.model.shape import Shape
from rag_core.project.access import RENEWAL, expiring, list_tokens, tokens_asked_for
from rag_core.project.projects import current_commit, words_changed
from rag_core.search.losses import Losses
from rag_core.settings.in_force import SettingsInForce, settings_in_force
from rag_core.words.plurals import counted

# a proxy that says nothing of whom it asks for can't be told from somebody at this machine
BEFORE_A_PROXY = "Make a token before a proxy is put in front: medir token create NAME --role maintainer"

# a run's hold, its work, and its progress
_LEAST_CONNECTIONS = 3
_LEAST_FREE_BYTES = 500_000_000
# in earlier ones, an insert beside a vacuum can fail with "graph not repaired"
_BEST_PGVECTOR = (0, 8, 4)


@dataclass(frozen=True, slots=True, kw_only=True)
class Check(Shape):
    """One finding; `remedy` is None where nothing is to be done."""

    name: str
    ok: bool
    found: str
    remedy: str | None


def _good(name: str, found: str) -> Check:
    return Check(name=name, ok=True, found=found, remedy=None)


def _bad(name: str, found: str, remedy: str | None) -> Check:
    return Check(name=name, ok=False, found=found, remedy=remedy or None)


def examine(configuration: Configuration) -> tuple[Check, ...]:
    """All checks; one that fails stops none of the others."""
    return (
        _good("version", f"Medir {version('medir')}, Python {sys.version.split()[0]}"),
        *_configuration(configuration),
        _git(),
        _disk(configuration.home),
        *_database(configuration),
        _provider(configuration),
        _telemetry(Losses(configuration.home / LOSS_LOG)),
    )


def _configuration(configuration: Configuration) -> Iterator[Check]:
    for setting in configuration.settings:
        shown = setting.value or "the embedded server"
        if setting.name == "DATABASE_URL" and setting.value:
            shown = "a server of your own"
        yield _good(setting.name, f"{shown} ({setting.source})")


def _git() -> Check:
    found = shutil.which("git")
    if found is None:
        return _bad("git", "no git program", "Install git.")
    return _good("git", found)


def _disk(home: Path) -> Check:
    folder = next(parent for parent in (home, *home.parents) if parent.exists())
    free = shutil.disk_usage(folder).free
    found = f"{free / 1e9:.1f} GB free at {folder}"
    if free < _LEAST_FREE_BYTES:
        return _bad("disk", found, "Free some space, or set MEDIR_HOME elsewhere.")
    return _good("disk", found)


def _database(configuration: Configuration) -> Iterator[Check]:
    kind = "named by DATABASE_URL" if configuration.database_url else "embedded"
    try:
        with database_url(configuration) as url:
            # first, since what was just migrated is what the server is asked about
            schema = list(_schema(configuration))
            with translated_errors(), connect(url) as connection:
                standing = read_standing(connection)
            yield from _server(standing, kind, url)
            if locale_problem(standing) is None:
                yield from schema
    except MedirError as error:
        yield _bad("database", error.message, error.hint)


def _server(found: Standing, kind: str, url: str) -> Iterator[Check]:
    """What the server is and lets the role do, learned without asking it for anything."""
    told = f"PostgreSQL {found.version}, {kind}" + (", through a pooler" if found.pooled else "")
    yield _good("database", told)
    yield _writes(found)
    yield _connections(found, url)
    yield check_pgvector(found.vector_version)
    problem = locale_problem(found)
    yield Check(
        name="locale",
        ok=problem is None,
        found=problem or "letters have Unicode's cases",
        remedy=problem and "create database medir encoding 'UTF8' lc_ctype 'C.UTF-8' template template0;",
    )


def _writes(found: Standing) -> Check:
    if found.standby or found.read_only:
        kind = "a standby" if found.standby else "read-only by its settings"
        return _bad(
            "writes",
            f"{kind}: what reads works, no search or run is recorded, nothing can be changed",
            "Point DATABASE_URL at the server that takes writes.",
        )
    if not found.may_write:
        schema, role = identifier(found.schema or "public"), identifier(found.role)
        grant = f"grant select, insert, update, delete on all tables in schema {schema} to {role}"
        return _bad(
            "writes",
            f"the role {found.role} may only read: no search or run is recorded, nothing can be changed",
            f"Ask the operator to run once: {psql(grant)}",
        )
    return _good("writes", f"as {found.role}, in the schema {found.schema or '-'}")


def _connections(found: Standing, url: str) -> Check:
    at_once = connections_at_once(url, wanted=_LEAST_CONNECTIONS) if found.pooled else _LEAST_CONNECTIONS
    if at_once < _LEAST_CONNECTIONS:
        return _bad(
            "connections",
            f"the pooler gives {at_once} at a time just now; a run takes {_LEAST_CONNECTIONS}",
            (
                f"Let the pooler hold {_LEAST_CONNECTIONS} or more to this database (pgbouncer: default_pool_size, "
                "max_db_connections)."
            ),
        )
    idle = f", ended after {found.idle_session_s} s idle" if found.idle_session_s else ""
    if found.connections is not None and found.connections < _LEAST_CONNECTIONS:
        return _bad(
            "connections",
            f"the role {found.role} may hold {found.connections}; a run takes {_LEAST_CONNECTIONS}{idle}",
            (
                f"Ask the operator to run once: {psql(f'alter role {identifier(found.role)} connection limit 10')}"
            ),
        )
    held = "no limit of the role's" if found.connections is None else f"at most {found.connections}"
    return _good("connections", held + idle)


def _schema(configuration: Configuration) -> Iterator[Check]:
    """Migrated as any verb would have it; then what stands in it."""
    try:
        with open_services(configuration) as services:
            yield from _inside(services)
    except MedirError as error:
        yield _bad("schema", error.message, error.hint)


def _inside(services: Services) -> Iterator[Check]:
    with services.database.connection() as connection:
        schema = migration_status(connection)
    yield Check(name="schema", ok=not schema.pending, found=f"migration {schema.current}", remedy=None)
    yield _callers(services)
    yield from _ends(services)
    with services.database.connection() as connection:
        projects = {
            project: (
                read_scope_states(connection, project.project_id),
                read_identity(connection, project.project_id),
            )
            for project in list_projects(connection)
        }
    for project, (scopes, index) in projects.items():
        yield check_project(
            project, LeftOut.of(entry for state in scopes.values() for entry in state.skipped)
        )
        yield from check_language(project, index)
        yield from _settings(settings_in_force(services.database, project), project)


def _callers(services: Services) -> Check:
    if services.configuration.signs_in:
        return _good("callers", "people sign in with a provider, programs with a token")
    if tokens_asked_for(services.database):
        return _good("callers", "everybody is asked for a token")
    return _good(
        "callers",
        f"this machine alone is served, and nobody on it is asked for a token. {BEFORE_A_PROXY}",
    )


def _ends(services: Services) -> Iterator[Check]:
    """Tokens that end by themselves within a week; nothing where there are none."""
    found = expiring(list_tokens(services.database), now=services.clock.now())
    if found:
        told = ", ".join(f"{token.name} on {token.expires_at:%Y-%m-%d %H:%M} UTC" for token in found)
        yield _bad("tokens", f"within a week ends: {told}", RENEWAL)


def check_project(project: Project, left_out: LeftOut) -> Check:
    """Whether the project's repository can be read, and how many of its files the last runs skipped."""
    name = f"project {project.project_id}"
    try:
        commit = current_commit(project)
    except MedirError as error:
        return _bad(name, error.message, error.hint)
    skipped = f"; {left_out.told}" if left_out.by_rule or left_out.faulty else ""
    return _good(name, f"{project.repo} at {commit[:10]}{skipped}")


def check_language(project: Project, index: IndexIdentity | None) -> Iterator[Check]:
    """Whether the words of the index are in the project's language; nothing where they are."""
    sentence = words_changed(project, index)
    if sentence is not None:
        yield Check(
            name=f"language {project.project_id}",
            ok=False,
            found=sentence,
            remedy=f"Run: medir index --project {project.project_id}",
        )


def _settings(found: SettingsInForce, project: Project) -> Iterator[Check]:
    """Whether `settings.yaml` is sound, and says what was adopted; nothing where there is none."""
    name, committed = f"settings {project.project_id}", found.committed
    disagreement = found.disagreement
    named = f" --project {project.project_id}"
    if committed.problem is not None:
        yield _bad(
            name,
            f"{committed.problem.message} Searches go on without it, golden runs refuse.",
            committed.problem.hint,
        )
    elif disagreement is not None:
        yield _bad(
            name,
            f"{disagreement.sentence} File: {committed.file}",
            (
                f"Write what is adopted: medir settings adopt{named} --write --reason TEXT; or adopt what is "
                f"committed: medir settings adopt{named} --committed --reason TEXT"
            ),
        )
    elif committed.settings is not None:
        yield _good(name, f"{found.settings.source}, as in {committed.file}")


def check_pgvector(version: str | None) -> Check:
    """Whether the extension is there, in a version without known faults that reach Medir."""
    found = f"pgvector {version}"
    if version is None or _numbers(version) < _BEST_PGVECTOR:
        return _bad(
            "extension",
            found,
            (
                f"Ask the operator for pgvector {'.'.join(map(str, _BEST_PGVECTOR))} or newer, then: "
                'psql "$DATABASE_URL" -c "alter extension vector update"'
            ),
        )
    return _good("extension", found)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())


def _provider(configuration: Configuration) -> Check:
    providers = Providers(
        configured=configuration.embedding, ollama_host=configuration.ollama_host, clock=SystemClock()
    )
    try:
        outcome = providers.service_for(None).warm_up()
    except MedirError as error:
        return _bad("provider", error.message, error.hint)
    if outcome.model is None:
        return _bad("provider", outcome.reason or "no answer", outcome.hint)
    return _good("provider", outcome.model.id)


def _telemetry(losses: Losses) -> Check:
    lost = losses.count()
    if lost:
        return _bad(
            "telemetryLost",
            f"{counted(lost, 'search was', 'searches were')} answered but not recorded",
            f"Read {losses.log}, mend the cause, then remove it and {losses.count_file.name} beside it.",
        )
    return _good("telemetryLost", "0 searches lost")
