"""The installation's configuration: the only reader of the environment and of `medir.toml`.

The environment is stronger than `$MEDIR_HOME/medir.toml`, which is stronger than the defaults. Every value
remembers where it came from, so that `medir doctor` can say it.
"""

import os
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from medir.people import People
from rag_core.database.address import check_address
from rag_core.errors import InvalidInput, Unavailable
from rag_core.files import NotReadable, read_regular_file
from rag_core.words.durations import parse_duration

if TYPE_CHECKING:
    from rag_core.embedding.choice import ConfiguredProvider
    from rag_core.model import Role

DEFAULT_PORT = 8501
DEFAULT_OLLAMA_HOST = "http://127.0.0.1:11434"
_MAX_BYTES = 100_000
_KEYS = ("DATABASE_URL", "OLLAMA_HOST", "MEDIR_PORT", "MEDIR_EMBEDDING")
_TABLES = ("sign_in", "sign_in_claim", "oidc")
_ROLES = ("viewer", "maintainer")
_OIDC_KEYS = ("redirect_uri", "cookie_secret", "client_id", "client_secret", "server_metadata_url")
# ours in [oidc]; the rest is the provider's
_CLAIM, _LASTS = "role_claim", "lasts"
_ROOT_HOME = Path("/var/lib/medir")


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One value and its source: `environment`, `medir.toml` or `default`."""

    name: str
    value: str
    source: Literal["environment", "medir.toml", "default"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """What an installation is told. `database_url` None: the embedded server.

    `home` is the data folder; nothing says that it exists yet. `people` are those who sign in with the provider of
    `oidc`, which is empty where nobody does.
    """

    home: Path
    database_url: str | None = field(repr=False)
    ollama_host: str
    port: int
    embedding: "ConfiguredProvider"
    settings: tuple[Setting, ...] = field(repr=False)
    people: People = field(default_factory=People)
    oidc: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def signs_in(self) -> bool:
        """Whether people sign in with a provider, so that nobody is let in unasked."""
        return bool(self.oidc)


def load_configuration(environment: Mapping[str, str] | None = None) -> Configuration:
    """Read the environment and `medir.toml`.

    Raises:
        InvalidInput: A value is none of those allowed; names where it stands.
        Unavailable: There is no data folder to be found.
    """
    environment = os.environ if environment is None else environment
    home_setting = _home(environment)
    home = Path(home_setting.value)
    file = _read_file(home / "medir.toml")
    settings = {name: _setting(name, environment, file) for name in _KEYS}
    url = settings["DATABASE_URL"].value
    people, oidc = _people(file, home / "medir.toml")
    return Configuration(
        home=home,
        database_url=_checked_url(url),
        ollama_host=settings["OLLAMA_HOST"].value,
        port=_port(settings["MEDIR_PORT"]),
        embedding=_embedding(settings["MEDIR_EMBEDDING"]),
        settings=(home_setting, *settings.values()),
        people=people,
        oidc=oidc,
    )


def port_number(text: str, *, name: str) -> int:
    """A port from 0 to 65535; 0 lets the system choose.

    Raises:
        InvalidInput: It is none.
    """
    if not text.isascii() or not text.isdigit() or int(text) > 65535:
        raise InvalidInput(f"{name} is {text!r}, which is no port.", hint="Give a number from 1 to 65535.")
    return int(text)


def _home(environment: Mapping[str, str]) -> Setting:
    given = environment.get("MEDIR_HOME", "")
    if given:
        return Setting(
            name="MEDIR_HOME", value=str(Path(given).expanduser().absolute()), source="environment"
        )
    if os.geteuid() == 0:
        return Setting(name="MEDIR_HOME", value=str(_ROOT_HOME), source="default")
    import platformdirs  # noqa: PLC0415  for the default folder of an ordinary user alone

    with suppress(RuntimeError):
        folder = Path(platformdirs.user_data_dir("medir", appauthor=False)).expanduser()
        if folder.is_absolute():
            return Setting(name="MEDIR_HOME", value=str(folder), source="default")
    raise Unavailable(
        "There is no home folder for this user.", hint="Set MEDIR_HOME to a folder that you can write to."
    )


def _read_file(path: Path) -> Mapping[str, object]:
    try:
        data = read_regular_file(path, at_most=_MAX_BYTES, through_links=True)
        content = tomllib.loads((data or b"").decode("utf-8"))
    except NotReadable as error:
        raise Unavailable(f"{path} {error}.", hint="Set MEDIR_HOME to a folder of your own.") from error
    except RecursionError as error:
        raise InvalidInput(
            f"{path} is nested too deeply.", hint="Mend it or remove it.", where={"file": str(path)}
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidInput(
            f"{path} does not parse: {error}", hint="Mend it or remove it.", where={"file": str(path)}
        ) from error
    unknown = sorted(set(content) - {*_KEYS, *_TABLES})
    if unknown:
        raise InvalidInput(
            f"{path} has the unknown key {unknown[0]!r}.",
            hint=f"Known keys: {', '.join((*_KEYS, *_TABLES))}.",
            where={"file": str(path), "field": unknown[0]},
        )
    return content


def _checked_url(url: str) -> str | None:
    """The address of a server, None for the embedded one.

    Raises:
        InvalidInput: It is no address that PostgreSQL's library understands.
    """
    if not url:
        return None
    check_address(url)
    return url


def _people(file: Mapping[str, object], path: Path) -> tuple[People, dict[str, str]]:
    """Who may sign in as what, and with which provider: both or neither."""
    people, oidc = _table(file, "sign_in", path), _table(file, "oidc", path)
    groups = _table(file, "sign_in_claim", path)
    claim, lasts = oidc.pop(_CLAIM, ""), oidc.pop(_LASTS, "30d")
    named = [("sign_in", "name@example.org", each) for each in people.items()]
    named += [("sign_in_claim", "a value of the claim", each) for each in groups.items()]
    for table, example, (name, role) in named:
        if role not in _ROLES or (table == "sign_in" and "@" not in name):
            raise InvalidInput(
                f"{path} gives {name!r} the role {role!r}.",
                hint=f'Write "{example}" = "viewer" or "maintainer".',
                where={"file": str(path), "field": f"{table}.{name}"},
            )
    if bool(groups) != bool(claim):
        raise InvalidInput(
            f"{path} has {'[sign_in_claim] without ' + _CLAIM if groups else _CLAIM + ' without [sign_in_claim]'}.",
            hint=f'Name the claim in [oidc], {_CLAIM} = "groups", and the roles of its values in [sign_in_claim].',
            where={"file": str(path), "field": f"oidc.{_CLAIM}"},
        )
    for key in _OIDC_KEYS if people or groups or oidc else ():
        if not oidc.get(key):
            raise InvalidInput(
                f"{path} lacks {key} in [oidc].",
                hint=f"Signing in with a provider takes {', '.join(_OIDC_KEYS)}.",
                where={"file": str(path), "field": f"oidc.{key}"},
            )
    return People(
        by_address={address.lower(): cast("Role", role) for address, role in people.items()},
        by_claim={value: cast("Role", role) for value, role in groups.items()},
        claim=claim,
        lasts=parse_duration(lasts),
    ), oidc


def _table(file: Mapping[str, object], name: str, path: Path) -> dict[str, str]:
    table = file.get(name, {})
    if not isinstance(table, dict) or not all(isinstance(value, str) for value in table.values()):
        raise InvalidInput(
            f"{path}: [{name}] is no table of texts.",
            hint=f"Begin it with the line [{name}], and put each value in quotes.",
            where={"file": str(path), "field": name},
        )
    return {str(key): str(value) for key, value in table.items()}


def _setting(name: str, environment: Mapping[str, str], file: Mapping[str, object]) -> Setting:
    if environment.get(name):
        return Setting(name=name, value=environment[name], source="environment")
    if name in file:
        return Setting(name=name, value=str(file[name]), source="medir.toml")
    defaults = {
        "DATABASE_URL": "",
        "OLLAMA_HOST": DEFAULT_OLLAMA_HOST,
        "MEDIR_PORT": str(DEFAULT_PORT),
        "MEDIR_EMBEDDING": "auto",
    }
    return Setting(name=name, value=defaults[name], source="default")


def _port(setting: Setting) -> int:
    return port_number(setting.value, name=f"MEDIR_PORT ({setting.source})")


def _embedding(setting: Setting) -> "ConfiguredProvider":
    if setting.value not in ("auto", "ollama", "embedded"):
        raise InvalidInput(
            f"MEDIR_EMBEDDING ({setting.source}) is {setting.value!r}.", hint="Use auto, ollama or embedded."
        )
    return cast("ConfiguredProvider", setting.value)
