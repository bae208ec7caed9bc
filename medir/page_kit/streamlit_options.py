"""Every option that Streamlit runs the pages with. No file and no variable of anybody's has a say in them.

A person's own `~/.streamlit`, and the folder where the server starts, may hold options and secrets that open the
workbench to other websites, make whoever sends a header somebody else, or lead to another database.
"""

import os
import re
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import streamlit as st
from streamlit import config, runtime
from streamlit.runtime import Runtime

MAX_MESSAGE_MIB: Final = 1
"""What a page may send at once: its widgets' states, of which the longest is a question."""

_SHARED_INK: Final = {
    "greenColor": "#009E73",
    "redColor": "#D55E00",
    "blueColor": "#0072B2",
    "orangeColor": "#E69F00",
}

# both themes are designed; the browser's preference chooses. Green means won or passed, red lost or failed: the same
# two as in every figure
_LIGHT: Final = _SHARED_INK | {
    "primaryColor": "#0B5C8A",
    "backgroundColor": "#FFFFFF",
    "secondaryBackgroundColor": "#F5F6F7",
    "textColor": "#1F2328",
    "borderColor": "#DADDE1",
    "greenTextColor": "#00704F",
    "redTextColor": "#A84A00",
    "blueTextColor": "#00527F",
    "orangeTextColor": "#8A5F00",
}
_DARK: Final = _SHARED_INK | {
    "primaryColor": "#5AA9D6",
    "backgroundColor": "#15181C",
    "secondaryBackgroundColor": "#1E2227",
    "textColor": "#F0F2F4",
    "borderColor": "#3A4048",
    "greenTextColor": "#4CCBA3",
    "redTextColor": "#FF9A57",
    "blueTextColor": "#7CC4EE",
    "orangeTextColor": "#FFC24D",
}

OPTIONS: Final[Mapping[str, object]] = {
    "browser.gatherUsageStats": False,
    "browser.serverAddress": "localhost",
    # no page that has the workbench in a frame may send it messages
    "client.allowedOrigins": [],
    # a fault is logged and said in one sentence; nobody reads a traceback in a page
    "client.showErrorDetails": "none",
    "client.showErrorLinks": False,
    "client.toolbarMode": "minimal",
    "global.developmentMode": False,
    "global.e2eTest": False,
    # requests are no news
    "logger.level": "warning",
    "logger.hideWelcomeMessage": True,
    # a full search for garbage after every run of a page, each look at long work among them, costs a tenth of a second
    # in which nothing else runs; Python looks by itself where there is cause
    "runner.postScriptGC": False,
    "secrets.files": [],
    "server.address": "127.0.0.1",
    "server.allowRunOnSave": False,
    "server.allowedHosts": [],
    "server.baseUrlPath": "",
    "server.corsAllowedOrigins": [],
    "server.customComponentBaseUrlPath": "",
    "server.enableAgentApi": False,
    "server.enableCORS": True,
    "server.enableStaticServing": False,
    "server.enableWebsocketCompression": False,
    "server.enableXsrfProtection": True,
    "server.fileWatcherType": "none",
    "server.headless": True,
    "server.maxUploadSize": MAX_MESSAGE_MIB,
    "server.maxWidgetStateSize": MAX_MESSAGE_MIB,
    "server.runOnSave": False,
    "server.scriptHealthCheckEnabled": False,
    "server.trustedUserHeaders": {},
    "server.unsafeMetricsUserAttributes": [],
    "theme.baseRadius": "0.4rem",
    "theme.showWidgetBorder": True,
    **{f"theme.light.{name}": value for name, value in _LIGHT.items()},
    **{f"theme.dark.{name}": value for name, value in _DARK.items()},
}

_INLINE_SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)
_settled = False


def settle_options() -> None:
    """Make ours the only options of this process, also for every later reading of them."""
    global _settled  # noqa: PLW0603  options are of the process
    # each reading begins with a copy of the template, and files and variables come over it: so ours are in the
    # template, and there are no files to read
    template = config._config_options_template  # noqa: SLF001
    for name, value in (*OPTIONS.items(), ("server.cookieSecret", secrets.token_hex(32))):
        if name in template:
            template[name].set_value(value, "medir")
    for option in template.values():
        if option.sensitive:
            os.environ.pop(option.env_var, None)
    config.get_config_files = _no_files
    config.get_config_options(force_reparse=True)
    _settled = True


def served_by_another() -> bool:
    """Whether pages are served by something else than Medir, as `streamlit run`, without its doors and options."""
    return not _settled and runtime.exists() and type(runtime.get_instance()) is Runtime


def inline_scripts() -> tuple[str, ...]:
    """The scripts that stand in Streamlit's own page itself, which a content policy must name."""
    page = Path(st.__file__).parent / "static" / "index.html"
    return tuple(_INLINE_SCRIPT.findall(page.read_text(encoding="utf-8")))


def _no_files(file_name: str) -> list[str]:  # noqa: ARG001  the function that this stands for has it
    return []
