"""Addresses of databases: nothing secret of them is shown, nor stands on a command line."""

import pytest

from medir.configuration import load_configuration
from rag_core.database.address import check_address, program_address, psql, shown_address
from rag_core.errors import InvalidInput, UsageError

SECRET = "S3gredo"


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        (f"postgresql://ana:{SECRET}@db.exemplo.br:5433/medir", "postgresql://ana@db.exemplo.br:5433/medir"),
        (
            f"postgresql://db.exemplo.br/medir?user=ana&password={SECRET}",
            "postgresql://ana@db.exemplo.br/medir",
        ),
        (
            f"host=db.exemplo.br port=5433 user=ana password={SECRET} dbname=medir",
            "postgresql://ana@db.exemplo.br:5433/medir",
        ),
        (f"host=db user=ana password='{SECRET} com espaço' dbname=medir", "postgresql://ana@db/medir"),
        (
            f"postgresql://ana:{SECRET}%40casa@db/medir?sslmode=require&sslpassword={SECRET}",
            "postgresql://ana@db/medir",
        ),
        (
            f"postgresql://ana:{SECRET}@[::1]:5432,outra:5433/medir",
            "postgresql://ana@[::1]:5432,outra:5433/medir",
        ),
        (f"postgresql://a%40b:{SECRET}@db/medir?options=-c%20x%3D{SECRET}", "postgresql://a%40b@db/medir"),
        (
            "postgresql:///medir?host=%2Ftmp%2Fx&port=5432&user=medir",
            "postgresql:///medir?host=%2Ftmp%2Fx&port=5432&user=medir",
        ),
        (f"service=casa passfile=/{SECRET}", "postgresql:///"),
    ],
)
def test_an_address_is_shown_as_host_port_user_and_database_alone(address: str, shown: str) -> None:
    check_address(address)
    assert shown_address(address) == shown


@pytest.mark.parametrize(
    "address",
    [
        f"postgresql://ana:S3@{SECRET}@db/medir",
        f"postgresql://ana:{SECRET}/9@db/medir",
        f"postgresql://ana@{SECRET}@db/medir",
        f"nonsense {SECRET}",
        f"postgresql://ana:x@db:{SECRET}/medir",
    ],
)
def test_a_password_that_was_cut_at_its_own_sign_is_refused_without_a_part_of_it(address: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        load_configuration({"MEDIR_HOME": "/tmp/nowhere", "DATABASE_URL": address})
    said = f"{refusal.value} {refusal.value.hint} {refusal.value.where}"
    assert SECRET not in said
    assert "DATABASE_URL" in said


def test_a_configuration_in_a_log_shows_no_address() -> None:
    found = load_configuration(
        {"MEDIR_HOME": "/tmp/nowhere", "DATABASE_URL": f"postgresql://ana:{SECRET}@db/medir"}
    )
    assert found.database_url is not None
    assert SECRET not in repr(found)


@pytest.mark.parametrize(
    "address",
    [
        f"postgresql://ana:{SECRET}@db:5433/medir?sslmode=require&keepalives=1",
        f"host=db port=5433 user=ana password={SECRET} dbname=medir sslmode=require keepalives=1",
        f"postgresql://db:5433/medir?user=ana&password={SECRET}&sslmode=require&keepalives=1",
    ],
)
def test_programs_get_an_address_by_their_environment(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGTZ", "America/Sampa")
    monkeypatch.setenv("PGPASSFILE", "/home/ana/.pgpass")

    made = program_address(address, database="medir", ambient=True)

    assert made.argument == "dbname=medir keepalives=1"
    kept = {name: text for name, text in made.environment.items() if name.startswith("PG")}
    assert kept == {
        "PGHOST": "db",
        "PGPORT": "5433",
        "PGUSER": "ana",
        "PGPASSWORD": SECRET,
        "PGSSLMODE": "require",
        "PGTZ": "America/Sampa",
        "PGPASSFILE": "/home/ana/.pgpass",
    }
    alone = program_address(address, database="medir", ambient=False).environment
    assert not {"PGTZ", "PGPASSFILE"} & set(alone)


def test_a_secret_that_has_no_variable_is_not_handed_over() -> None:
    with pytest.raises(UsageError, match="sslpassword") as refusal:
        program_address(f"postgresql://db/medir?sslpassword={SECRET}", database="medir", ambient=True)
    assert SECRET not in f"{refusal.value} {refusal.value.hint}"


def test_a_command_is_quoted_as_a_shell_reads_it() -> None:
    assert psql('grant x on "A$b" to c') == 'psql "$DATABASE_URL" -c "grant x on \\"A\\$b\\" to c"'
