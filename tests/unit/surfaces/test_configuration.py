"""The installation's configuration: environment above `medir.toml` above the defaults, each with its source."""

import os
from pathlib import Path

import pytest

from medir.configuration import Configuration, load_configuration, port_number
from medir.people import People
from rag_core.errors import InvalidInput, Unavailable


def load(home: Path, toml: str | None = None, **environment: str) -> Configuration:
    if toml is not None:
        (home / "medir.toml").write_text(toml, encoding="utf-8")
    return load_configuration({"MEDIR_HOME": str(home), **environment})


def sources(configuration: Configuration) -> dict[str, str]:
    return {setting.name: setting.source for setting in configuration.settings}


def test_nothing_given_is_the_embedded_server_ollama_on_this_machine_and_port_8501(tmp_path: Path) -> None:
    configuration = load(tmp_path)
    assert configuration.home == tmp_path
    assert configuration.database_url is None
    assert configuration.ollama_host == "http://127.0.0.1:11434"
    assert configuration.port == 8501
    assert configuration.embedding == "auto"
    assert sources(configuration) == {
        "MEDIR_HOME": "environment",
        "DATABASE_URL": "default",
        "OLLAMA_HOST": "default",
        "MEDIR_PORT": "default",
        "MEDIR_EMBEDDING": "default",
    }


def test_the_environment_is_stronger_than_the_file(tmp_path: Path) -> None:
    configuration = load(
        tmp_path, 'MEDIR_PORT = 9000\nMEDIR_EMBEDDING = "embedded"\n', MEDIR_EMBEDDING="ollama"
    )
    assert (configuration.port, configuration.embedding) == (9000, "ollama")
    assert sources(configuration)["MEDIR_PORT"] == "medir.toml"
    assert sources(configuration)["MEDIR_EMBEDDING"] == "environment"


def test_an_empty_variable_says_nothing(tmp_path: Path) -> None:
    configuration = load(tmp_path, 'DATABASE_URL = "postgresql://x/y"\n', DATABASE_URL="", MEDIR_PORT="")
    assert configuration.database_url == "postgresql://x/y"
    assert configuration.port == 8501


@pytest.mark.parametrize("port", ["", "http", "-1", "65536", "8501.5", "٣"])
def test_what_is_no_port_is_refused_by_its_name(port: str) -> None:
    with pytest.raises(InvalidInput, match="--port"):
        port_number(port, name="--port")


def test_a_wrong_port_says_where_it_was_set(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="environment"):
        load(tmp_path, MEDIR_PORT="eighty")


def test_an_unknown_provider_is_refused_with_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="'openai'") as refusal:
        load(tmp_path, MEDIR_EMBEDDING="openai")
    assert refusal.value.hint == "Use auto, ollama or embedded."


@pytest.mark.parametrize("url", ["foo", "postgresql://[bad", "postgresql://h?nobody=1"])
def test_an_address_that_is_none_of_postgresqls_is_refused_with_its_form(tmp_path: Path, url: str) -> None:
    with pytest.raises(InvalidInput, match="DATABASE_URL is no address") as refusal:
        load(tmp_path, DATABASE_URL=url)
    assert "postgresql://USER" in refusal.value.hint


def test_a_file_that_does_not_parse_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="does not parse") as refusal:
        load(tmp_path, "MEDIR_PORT = ")
    assert refusal.value.where == {"file": str(tmp_path / "medir.toml")}


def test_a_file_without_end_or_nested_beyond_reason_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "medir.toml"
    file.write_text("a = " + "[" * 30_000, encoding="utf-8")
    with pytest.raises(InvalidInput, match="nested too deeply"):
        load(tmp_path)
    file.unlink()
    file.symlink_to("/dev/zero")
    with pytest.raises(Unavailable, match="is no regular file"):
        load(tmp_path)


def test_a_key_that_nobody_reads_is_refused_and_not_passed_over(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="'MEDIR_PROT'") as refusal:
        load(tmp_path, "MEDIR_PROT = 9000\n")
    assert refusal.value.where == {"file": str(tmp_path / "medir.toml"), "field": "MEDIR_PROT"}


def test_a_home_that_is_a_relative_path_is_made_absolute() -> None:
    assert load_configuration({"MEDIR_HOME": "some/folder"}).home == Path.cwd() / "some/folder"


@pytest.mark.skipif(os.geteuid() != 0, reason="the default home of root")
def test_roots_home_is_not_in_roots_own_folder() -> None:
    assert load_configuration({}).home == Path("/var/lib/medir")


@pytest.mark.skipif(os.geteuid() == 0, reason="the default home of an ordinary user")
def test_a_users_home_is_the_users_data_directory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    assert tmp_path in load_configuration({}).home.parents


def test_loading_makes_no_folder(tmp_path: Path) -> None:
    load_configuration({"MEDIR_HOME": str(tmp_path / "none")})
    assert not (tmp_path / "none").exists()


PROVIDER = """
[oidc]
redirect_uri = "https://medir.example.org/oauth2callback"
cookie_secret = "hush"
client_id = "medir"
client_secret = "hush-hush"
server_metadata_url = "https://login.example.org/.well-known/openid-configuration"
"""


def test_people_sign_in_under_the_role_of_their_address_whatever_its_case(tmp_path: Path) -> None:
    file = '[sign_in]\n"Ana@Example.org" = "maintainer"\n"bia@example.org" = "viewer"\n' + PROVIDER
    configuration = load(tmp_path, file)
    assert configuration.people.by_address == {"ana@example.org": "maintainer", "bia@example.org": "viewer"}
    assert configuration.oidc["client_id"] == "medir"
    assert "hush" not in repr(configuration)
    assert (load(tmp_path, "").people, load(tmp_path, "").oidc) == (People(), {})


@pytest.mark.parametrize(
    ("file", "field"),
    [
        ('[sign_in]\n"ana@example.org" = "engine"\n' + PROVIDER, "sign_in.ana@example.org"),
        ('[sign_in]\n"ana" = "viewer"\n' + PROVIDER, "sign_in.ana"),
        ('[sign_in]\n"ana@example.org" = 1\n' + PROVIDER, "sign_in"),
        ('sign_in = "ana@example.org"\n' + PROVIDER, "sign_in"),
        ('[sign_in]\n"ana@example.org" = "viewer"\n', "oidc.redirect_uri"),
        (PROVIDER.replace('client_id = "medir"', ""), "oidc.client_id"),
        (PROVIDER.replace('"hush"', '""'), "oidc.cookie_secret"),
    ],
)
def test_a_sign_in_that_can_not_work_is_refused_by_its_field(tmp_path: Path, file: str, field: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        load(tmp_path, file)
    assert refusal.value.where == {"file": str(tmp_path / "medir.toml"), "field": field}
