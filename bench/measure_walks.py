"""Through how many modules a question, a golden run, a vote, a slider's move and an index run go.

A module counts when one of its functions runs; what runs at its import doesn't. The commands are called as a
terminal calls them, the slider as a page in a browser does, all over the sample project.

python bench/measure_walks.py [--names]
"""

import argparse
import contextlib
import io
import json
import os
import shutil
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

import streamlit as st
from streamlit.testing.v1 import AppTest

from medir.cli import main as medir
from medir.pages import PAGES

TOP = Path(__file__).resolve().parent.parent
QUESTION = "Quanto custa uma entrega atrasada?"


def walked(act: Callable[[], object]) -> list[str]:
    """The modules of the product that an act enters, in the order of its first step into each."""
    entered: dict[str, None] = {}

    def note(frame: FrameType, event: str, _argument: object) -> None:
        name = frame.f_globals.get("__name__", "")
        if event == "call" and name.startswith(("rag_core", "medir")) and frame.f_code.co_name != "<module>":
            entered.setdefault(name)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        act()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return list(entered)


def command(*arguments: str) -> str:
    """What a verb writes; its exit code is not looked at, for a lost case is no failure here."""
    written = io.StringIO()
    given, sys.argv = sys.argv, ["medir", *arguments]
    try:
        with contextlib.redirect_stdout(written), contextlib.suppress(SystemExit):
            medir()
    finally:
        sys.argv = given
    return written.getvalue()


def slider_move() -> Callable[[], object]:
    """Drag the vector weight of the page Calibration, which stands drawn over a calibration made before."""
    command("calibrate", "--project", "sample")
    page = AppTest.from_file(str(TOP / "app.py"), default_timeout=120)
    page.run()
    page.query_params["project"] = "sample"
    script = next(entry.script for entry in PAGES if entry.path == "calibration")
    page.switch_page(script).run()
    slider = page.slider[0]
    slider.set_value(slider.min if slider.value != slider.min else slider.max)
    return page.run


def walks() -> Iterator[tuple[str, list[str]]]:
    """Each walk once before it is followed, so that nothing is made for the first time."""
    command("index", "--project", "sample")
    command("search", QUESTION, "--project", "sample")
    yield "question", walked(lambda: command("search", QUESTION, "--project", "sample"))
    found = json.loads(command("search", QUESTION, "--project", "sample", "--json"))
    judged = (found["searchId"], found["hits"][0]["chunkId"], "util")
    yield "vote", walked(lambda: command("vote", *judged))
    command("golden", "run", "--project", "sample")
    yield "golden run", walked(lambda: command("golden", "run", "--project", "sample"))
    yield "slider move", walked(slider_move())
    yield "index run", walked(lambda: command("index", "--project", "sample"))


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--names", action="store_true", help="name the modules, in the order of entering")
    given = arguments.parse_args()
    home = Path(tempfile.mkdtemp(prefix="medir-bench-"))
    home.chmod(0o755)
    os.environ |= {"MEDIR_HOME": str(home), "MEDIR_EMBEDDING": "embedded"}
    os.environ.pop("DATABASE_URL", None)
    try:
        command("up", "--no-serve")
        for name, modules in walks():
            print(f"{name}: {len(modules)} modules")
            if given.names:
                print("  " + "\n  ".join(modules))
    finally:
        # the page's services hold the server
        st.cache_resource.clear()
        shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    main()
