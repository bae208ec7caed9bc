"""The address of a database as libpq reads it: what of it may be shown, and how its programs are told the rest."""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import quote

from psycopg import pq
from psycopg.conninfo import make_conninfo

from rag_core.errors import InvalidInput, UsageError

# read by libpq itself, beside those that stand for a part of an address
_FURTHER_VARIABLES = (
    "PGSERVICE",
    "PGSERVICEFILE",
    "PGSYSCONFDIR",
    "PGLOCALEDIR",
    "PGTZ",
    "PGDATESTYLE",
    "PGGEQO",
    "PGSSLKEYLOGFILE",
)
_URL = re.compile(r"postgres(?:ql)?://", re.ASCII)
_PORTS = re.compile(r"(?:\d{1,5})?(?:,(?:\d{1,5})?)*", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramAddress:
    """An address for pg_dump and its like: what any account may read on a command line, and what none may."""

    argument: str
    environment: Mapping[str, str]


def check_address(address: str) -> None:
    """Refuse what is no address, and one whose password was most likely cut at a sign that is none of its own.

    Raises:
        InvalidInput: The message holds nothing of the address.
    """
    where: dict[str, str | int] = {"field": "DATABASE_URL"}
    try:
        parts = dict(_given(address))
    except ValueError as error:
        raise InvalidInput(
            "DATABASE_URL is no address of a PostgreSQL database.",
            hint="Write postgresql://USER:PASSWORD@HOST:PORT/DATABASE, or leave it out to use the embedded server.",
            where=where,
        ) from error
    cut = _URL.match(address) and any("@" in parts.get(key, "") for key in ("host", "hostaddr", "dbname"))
    if cut or not _PORTS.fullmatch(parts.get("port", "")):
        raise InvalidInput(
            "DATABASE_URL does not read as it is meant: its host, port or database holds a part of something else.",
            hint="Write the signs @ / : ? # % in a user's name or password as %40 %2F %3A %3F %23 %25.",
            where=where,
        )


def shown_address(address: str) -> str:
    """The address with host, port, user and database, and nothing else of it: fit for everybody's eyes."""
    parts = dict(_given(address))
    hosts, ports = (parts.get(key, "").split(",") for key in ("host", "port"))
    folders = [host for host in hosts if host.startswith(("/", "@"))]
    user = quote(parts.get("user", ""), safe="")
    database = quote(parts.get("dbname", ""), safe="")
    if folders:
        listed = {"host": ",".join(hosts), "port": ",".join(ports), "user": parts.get("user", "")}
        query = "&".join(f"{key}={quote(value, safe='')}" for key, value in listed.items() if value)
        return f"postgresql:///{database}?{query}"
    # libpq pairs them; one port serves every host
    paired = [
        (f"[{host}]" if ":" in host else quote(host, safe="")) + (f":{port}" if port else "")
        for host, port in zip(
            hosts, ports if len(ports) == len(hosts) else ports[:1] * len(hosts), strict=True
        )
    ]
    return f"postgresql://{f'{user}@' if user else ''}{','.join(paired)}/{database}"


def program_address(address: str, *, database: str, ambient: bool) -> ProgramAddress:
    """The address for one of PostgreSQL's programs: by its environment, what is secret above all.

    The address need not hold `database`. `ambient`: what the caller's own environment says of connections
    counts too, as libpq has it.

    Raises:
        UsageError: A secret of it can't be handed over unseen.
    """
    environment = {
        name: value for name, value in os.environ.items() if ambient or name not in set(libpq_variables())
    }
    shown = {"dbname": database}
    # libpq's own mark of what no form may show: * a password, D for those who mend libpq
    secrets = {option.keyword.decode() for option in _options(address) if option.dispchar}
    variables = {option.keyword.decode(): option.envvar for option in _options(address)}
    for keyword, value in _given(address):
        variable = variables[keyword]
        if keyword == "dbname":
            continue
        if variable:
            environment[variable.decode()] = value
        elif keyword in secrets:
            raise UsageError(
                f"DATABASE_URL holds {keyword}, which can't be handed to PostgreSQL's programs unseen.",
                hint="Name a key without a passphrase for this, or copy the database by means of the server.",
            )
        else:
            shown[keyword] = value
    return ProgramAddress(argument=make_conninfo(**shown), environment=environment)


def libpq_variables() -> Iterator[str]:
    """The names of all variables of the environment that libpq heeds."""
    for option in pq.Conninfo.get_defaults():
        if option.envvar:
            yield option.envvar.decode()
    yield from _FURTHER_VARIABLES


def identifier(name: str) -> str:
    """A name as SQL wants it: quoted where it has to be."""
    return name if re.fullmatch(r"[a-z_][a-z0-9_]*|ROLE", name) else '"' + name.replace('"', '""') + '"'


def psql(statement: str) -> str:
    """The command line that runs a statement on the configured database."""
    quoted = "".join(f"\\{sign}" if sign in '"\\$`' else sign for sign in statement)
    return f'psql "$DATABASE_URL" -c "{quoted}"'


def _options(address: str) -> list[pq.ConninfoOption]:
    try:
        return pq.Conninfo.parse(address.encode())
    except Exception as error:
        # the driver's message quotes the address
        raise ValueError("no address") from error


def _given(address: str) -> Iterator[tuple[str, str]]:
    for option in _options(address):
        if option.val is not None:
            yield option.keyword.decode(), option.val.decode()
