"""A server whose operator chose another language than English: every refusal is known by its state."""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from rag_core.database.connecting import connect
from rag_core.database.connections import translated_errors
from rag_core.errors import DatabaseBusy, DatabaseRefused, MedirError, OperatorNeeded

LANGUAGES = ("de_DE.UTF-8", "pt_BR.UTF-8", "ru_RU.UTF-8", "es_ES.UTF-8", "fr_FR.UTF-8")


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """Which the server's account may enter."""
    made = Path(tempfile.mkdtemp(prefix="medir-language-"))
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[str]:
    """The operator's address of one. The programs that the product brings know English alone."""
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if not programs:
        pytest.skip("needs a PostgreSQL of the system, which brings its languages")
    if os.geteuid() == 0:
        if "postgres" not in {entry.pw_name for entry in pwd.getpwall()}:
            pytest.skip("needs an account that may run PostgreSQL")
        shutil.chown(folder, "postgres")
    data = folder / "data"
    for language in LANGUAGES:
        making = [str(programs[-1]), "-D", str(data), "-U", "postgres", "-A", "trust", "--locale=C"]
        made = run(folder, [*making, "-E", "UTF8", f"--lc-messages={language}"])
        if made.returncode == 0:
            break
    else:
        pytest.skip(f"needs one of the locales {', '.join(LANGUAGES)}")
    control = [str(programs[-1].with_name("pg_ctl")), "-D", str(data), "-w"]
    options = f"-k {folder} -c listen_addresses=''"
    started = run(folder, [*control, "-o", options, "-l", str(folder / "log"), "start"])
    assert started.returncode == 0, started.stdout
    try:
        url = make_conninfo(host=str(folder), user="postgres", dbname="postgres")
        with pytest.raises(psycopg.Error) as english, psycopg.connect(url) as connection:
            connection.execute("select from nowhere")
        if "does not exist" in str(english.value):
            pytest.skip("needs a PostgreSQL that was built with its languages")
        yield url
    finally:
        run(folder, [*control, "-m", "immediate", "stop"])


def run(folder: Path, command: list[str]) -> subprocess.CompletedProcess[str]:
    as_owner = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    return subprocess.run([*as_owner, *command], cwd=folder, stdout=subprocess.PIPE, text=True, check=False)


def test_every_refusal_of_a_connection_is_known_by_its_state(server: str) -> None:
    with psycopg.connect(server, autocommit=True) as operator:
        for statement in (
            "create role app login",
            "create role full_one login connection limit 0",
            "create database closed allow_connections false",
            "create database shut",
            "revoke connect on database shut from public",
        ):
            operator.execute(statement.encode())
    expected: tuple[tuple[dict[str, str], type[MedirError], str, str], ...] = (
        ({"dbname": "nowhere"}, DatabaseRefused, "that database can't be used", "createdb"),
        ({"dbname": "closed"}, DatabaseRefused, "that database can't be used", "createdb"),
        ({"user": "nobody_here"}, DatabaseRefused, "does not let this role in", "user and password"),
        ({"user": "full_one"}, DatabaseBusy, "no further connection", "alter role full_one connection limit"),
        ({"dbname": "shut"}, OperatorNeeded, "let this role in", "grant connect on database shut to app"),
        ({"options": "-cwork_mem=x"}, DatabaseRefused, "asked for with the connection", "PGOPTIONS"),
        ({"options": "-cnothing=x"}, DatabaseRefused, "asked for with the connection", "PGOPTIONS"),
    )
    for asked, kind, said, mended in expected:
        with pytest.raises(kind, match=said) as refusal, translated_errors():
            connect(make_conninfo(server, **{"user": "app", **asked}))
        assert type(refusal.value) is kind
        assert mended in refusal.value.hint
        assert "failed" not in refusal.value.message
