"""Streamlit runs with our options and nobody else's, however often it reads them."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from streamlit import config

import medir
from medir.page_kit.streamlit_options import OPTIONS, inline_scripts

TOP = Path(medir.__file__).resolve().parent.parent

HOSTILE = """
[global]
developmentMode = true
[client]
showErrorDetails = "full"
allowedOrigins = ["https://evil.example"]
[server]
enableCORS = false
enableXsrfProtection = false
corsAllowedOrigins = ["https://evil.example"]
baseUrlPath = "elsewhere"
enableAgentApi = true
enableStaticServing = true
maxUploadSize = 5000
[server.trustedUserHeaders]
X-Person = "email"
[theme]
base = "http://192.0.2.1/theme.toml"
primaryColor = "#FF0000"
[secrets]
files = ["/etc/passwd"]
[browser]
gatherUsageStats = true
"""
SECRETS = 'DATABASE_URL = "postgresql://evil.example/medir"\n[auth]\ncookie_secret = "known"\n'

_READ = """
import json, os, sys
from pathlib import Path
opened = []
sys.addaudithook(lambda event, told: opened.append(str(told[0])) if event == "open" else None)
from streamlit import config
from streamlit.runtime.secrets import secrets_singleton
from streamlit.web.server.server_util import get_cookie_secret
config._main_script_path = str(Path.cwd() / "app.py")
from medir.page_kit.streamlit_options import OPTIONS, settle_options
settle_options()
told = []
for _ in range(3):
    told.append({name: config.get_option(name) for name in OPTIONS})
    config.get_config_options(force_reparse=True)
print(json.dumps({
    "opened": [file for file in opened if "/.streamlit/" in file],
    "told": told,
    "secrets": secrets_singleton.load_if_toml_exists(),
    "known": get_cookie_secret() in ("known", "of-the-environment"),
    "database": os.environ.get("DATABASE_URL"),
}))
"""


def read_beside(folder: Path) -> dict[str, Any]:
    """What a process reads whose person and folder both have hostile files."""
    for place in (folder / "home", folder / "here"):
        (place / ".streamlit").mkdir(parents=True, exist_ok=True)
        (place / ".streamlit" / "config.toml").write_text(HOSTILE)
        (place / ".streamlit" / "secrets.toml").write_text(SECRETS)
    ended = subprocess.run(
        [sys.executable, "-c", _READ],
        cwd=folder / "here",
        check=True,
        capture_output=True,
        text=True,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join((str(TOP), os.environ.get("PYTHONPATH", ""))),
            "HOME": str(folder / "home"),
            "STREAMLIT_SERVER_COOKIE_SECRET": "of-the-environment",
            "STREAMLIT_SERVER_ENABLE_CORS": "false",
        },
    )
    found: dict[str, Any] = json.loads(ended.stdout)
    return found


def test_no_file_and_no_variable_of_anybody_has_a_say(tmp_path: Path) -> None:
    found = read_beside(tmp_path)
    # json knows no tuple and no mapping but these
    expected = json.loads(json.dumps(dict(OPTIONS)))
    assert found["told"] == [expected] * 3
    assert found["opened"] == []
    assert found["secrets"] is False
    assert found["known"] is False
    assert found["database"] is None


def test_every_option_that_we_set_is_one_that_this_streamlit_has() -> None:
    assert set(OPTIONS) <= set(config._config_options_template)


def test_the_only_scripts_in_streamlits_page_are_its_own_files_and_those_that_the_policy_names() -> None:
    assert len(inline_scripts()) == 1


_SERVED_BY = """
import sys
import streamlit as st
from medir.page_kit.streamlit_options import served_by_another, settle_options
told = [served_by_another()]
st.App(sys.argv[1])._create_runtime()
told.append(served_by_another())
settle_options()
told.append(served_by_another())
print(told)
"""


def test_pages_know_when_something_else_serves_them_which_has_no_doors() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", _SERVED_BY, str(TOP / "app.py")],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(TOP)},
    )
    assert ended.stdout.strip() == "[False, True, False]"
