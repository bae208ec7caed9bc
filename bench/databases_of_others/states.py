"""What operators set up, one state after the other; each gives the address that Medir is told."""

from collections.abc import Callable
from dataclasses import dataclass

from databases_of_others.bench import Bench
from databases_of_others.servers import Pooler, free_port


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """One of them. `after` names another that must be set up before; `dead` ones let no verb write anything."""

    name: str
    told: str
    prepare: Callable[[Bench], str]
    after: str | None = None
    dead: bool = False


def _extensions(bench: Bench) -> str:
    name = bench.server.database("supabase")
    bench.server.sql(
        "create schema extensions",
        "create extension vector schema extensions",
        "grant usage on schema extensions to app",
        "grant create, usage on schema public to app",
        database=name,
    )
    url = bench.server.url("app", name)
    bench.fill(url)
    # for the poolers, as it is before the verbs change it
    bench.server.database("pooled", template=name)
    bench.server.database("narrow_pooled", template=name)
    return url


def _no_create(bench: Bench) -> str:
    name = bench.server.database("plain")
    bench.server.sql("create extension vector", database=name)
    return bench.server.url("app", name)


def _foreign(bench: Bench) -> str:
    name = bench.server.database("rails")
    bench.server.sql(
        "create extension vector",
        "grant create, usage on schema public to app",
        "create table projects (id bigint primary key, title text)",
        "create table schema_migrations (version varchar primary key)",
        f"grant create on database {name} to app",
        database=name,
    )
    return bench.server.url("app", name)


def _own_schema(bench: Bench) -> str:
    bench.server.sql("create schema medir authorization app", database="rails")
    url = bench.server.url("app", "rails", query="?options=-csearch_path%3Dmedir")
    bench.fill(url)
    return url


def _pooler(bench: Bench) -> str:
    bench.pooler = Pooler(bench.server, "pooled", "default_pool_size = 6\n")
    return bench.server.url("app", "pooled", port=bench.pooler.port)


def _narrow_pooler(bench: Bench) -> str:
    sizes = "default_pool_size = 1\nmax_db_connections = 1\n"
    bench.pooler = Pooler(bench.server, "narrow_pooled", sizes)
    return bench.server.url("app", "narrow_pooled", port=bench.pooler.port)


def _standby(bench: Bench) -> str:
    return bench.server.url("app", "whole", port=bench.server.make_standby())


def _read_only(bench: Bench) -> str:
    name = bench.server.database("frozen", template="whole")
    bench.server.sql(f"alter database {name} set default_transaction_read_only = on")
    return bench.server.url("app", name)


_READER = (
    "create role reader login",
    "grant usage on schema public to reader",
    "grant select on all tables in schema public to reader",
)


def _select_only(bench: Bench) -> str:
    name = bench.server.database("looked_at", template="whole")
    bench.server.sql(*_READER, database=name)
    return bench.server.url("reader", name)


def _german(bench: Bench) -> str:
    server = bench.german
    server.make()
    server.sql("create role app login", "create database whole owner app")
    server.sql("create extension vector", database="whole")
    bench.fill(server.url("app", "whole"))
    server.sql(*_READER, database=server.database("looked_at", template="whole"))
    return server.url("app", "whole")


def _german_reader(bench: Bench) -> str:
    return bench.german.url("reader", "looked_at")


def _german_nowhere(bench: Bench) -> str:
    return bench.german.url("app", "nirgendwo")


def _idle(bench: Bench) -> str:
    name = bench.server.database("hurried", template="whole")
    bench.server.sql(
        f"alter database {name} set idle_session_timeout = '1s'",
        f"alter database {name} set idle_in_transaction_session_timeout = '2s'",
        f"alter database {name} owner to app",
    )
    return bench.server.url("app", name)


def _one_connection(bench: Bench) -> str:
    name = bench.server.database("narrow", template="whole")
    bench.server.sql("create role alone login connection limit 1 in role app")
    return bench.server.url("alone", name)


def _slow(bench: Bench) -> str:
    name = bench.server.database("strict", template="whole")
    bench.server.sql(f"alter database {name} set statement_timeout = '3ms'")
    return bench.server.url("app", name)


def _unknown_role(bench: Bench) -> str:
    return bench.server.url("nobody_here", "whole")


def _unknown_database(bench: Bench) -> str:
    return bench.server.url("app", "nowhere")


def _ssl(bench: Bench) -> str:
    return bench.server.url("app", "whole", query="?sslmode=require")


def _away(_bench: Bench) -> str:
    return f"postgresql://app@127.0.0.1:{free_port()}/whole"


STATES = (
    State(name="extensions", told="`vector` in a schema of its own", prepare=_extensions),
    State(name="nocreate", told="no CREATE on the schema `public`", prepare=_no_create, dead=True),
    State(
        name="foreign",
        told="another application's `projects` and `schema_migrations`",
        prepare=_foreign,
        dead=True,
    ),
    State(
        name="ownschema",
        told="the same, with a schema of its own for Medir",
        prepare=_own_schema,
        after="foreign",
    ),
    State(
        name="pooler",
        told="pgbouncer in transaction mode, `vector` in a schema of its own",
        prepare=_pooler,
        after="extensions",
    ),
    State(
        name="pooler1",
        told="the same, with one connection to the server",
        prepare=_narrow_pooler,
        after="extensions",
    ),
    State(name="standby", told="a hot standby", prepare=_standby),
    State(name="readonly", told="`default_transaction_read_only`", prepare=_read_only),
    State(name="select", told="a role that may only SELECT", prepare=_select_only),
    State(name="idle", told="`idle_session_timeout` of 1 s", prepare=_idle),
    State(name="one", told="a role with one connection", prepare=_one_connection),
    State(name="slow", told="`statement_timeout` of 3 ms", prepare=_slow, dead=True),
    State(name="german", told="messages in German", prepare=_german),
    State(
        name="german-select",
        told="messages in German, a role that may only SELECT",
        prepare=_german_reader,
        after="german",
    ),
    State(
        name="german-database",
        told="messages in German, a database that does not exist",
        prepare=_german_nowhere,
        after="german",
        dead=True,
    ),
    State(name="role", told="a role that does not exist", prepare=_unknown_role, dead=True),
    State(name="database", told="a database that does not exist", prepare=_unknown_database, dead=True),
    State(name="ssl", told="SSL asked of a server without", prepare=_ssl, dead=True),
    State(name="away", told="no server", prepare=_away, dead=True),
)
