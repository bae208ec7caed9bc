"""Looking at a run costs next to nothing: two statements a look, and fewer looks the longer it takes."""

import threading
from typing import Any, Self

import psycopg
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from medir.page_kit.services import workbench
from workbench_material import TIMEOUT_S, Installation

FOLLOWERS = {
    "calibration": "from medir.pages.calibration.running import CALIBRATION as work",
    "golden": "from medir.pages.golden_set.running import GOLDEN as work",
    "index": "from medir.pages.index.running import INDEX_RUN as work",
}
# what the browser is told of its next looks is in the messages, which no element shows
A_LOOK = """
import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx
from medir.page_kit import reads
from medir.page_kit.frame import Frame
from medir.page_kit.services import workbench
from rag_core.project.overview import all_projects
{follower}

context, pauses = get_script_run_ctx(), []
send = context._enqueue

def heed(message):
    if message.HasField("auto_rerun"):
        pauses.append(message.auto_rerun.interval)
    send(message)

if "view" not in st.session_state:
    (project,) = all_projects(workbench().services.database)
    st.session_state.view = Frame(project=project, version=reads.version(project), overview=None)
context._enqueue = heed
work.follow(st.session_state.view)
context._enqueue = send
st.session_state.pauses = pauses
"""
asked: list[str] = []


class Counting(psycopg.Cursor):
    """Takes note of what it is asked."""

    def execute(self, query: Any, params: Any = None, **options: Any) -> Self:
        # the pool tries a connection with an empty statement
        if query:
            asked.append(str(query))
        return super().execute(query, params, **options)


def going_on(installation: Installation, kind: str, *, for_s: float) -> None:
    """The run started last goes on elsewhere for so long."""
    with psycopg.connect(installation.environment["DATABASE_URL"]) as connection:
        connection.execute(
            "update runs set state = 'done', finished_at = now(), started_at = started_at - interval '1 day'"
        )
        connection.execute(
            """
            insert into runs (project_id, id, kind, state, parameters, progress, actor_kind, actor_id, surface,
                started_at, heartbeat_at)
            values ('entrega', gen_random_uuid(), %s, 'running', '{}', '{"step": "embed", "done": 1, "total": 3}',
                'human', 'bia', 'cli', now() - %s * interval '1 s', now())
            """,
            (kind, for_s),
        )


@pytest.mark.parametrize("kind", FOLLOWERS)
def test_a_look_asks_who_looks_on_and_for_the_run_and_nothing_else(
    own_installation: Installation, kind: str
) -> None:
    going_on(own_installation, kind, for_s=1)
    page = AppTest.from_string(A_LOOK.format(follower=FOLLOWERS[kind]), default_timeout=TIMEOUT_S).run()
    assert page.get("progress")
    assert page.button
    with workbench().services.database.connection() as connection:
        connection.cursor_factory = Counting
    asked.clear()
    page.run()
    assert page.get("progress")
    who, run = asked
    assert "from access_tokens" in who
    assert "from runs" in run


@pytest.mark.parametrize("kind", FOLLOWERS)
def test_a_run_that_takes_longer_is_looked_at_more_rarely(own_installation: Installation, kind: str) -> None:
    page = AppTest.from_string(A_LOOK.format(follower=FOLLOWERS[kind]), default_timeout=TIMEOUT_S)
    for for_s, pause in ((1, 1.5), (3, 3.0), (11, 3.0), (13, 6.0), (3_600, 6.0)):
        going_on(own_installation, kind, for_s=for_s)
        page.run()
        assert not page.exception
        assert page.session_state.pauses == [1.5, pause]


BOTH = """
import streamlit as st
from medir.page_kit import reads
from medir.page_kit.frame import Frame
from medir.page_kit.services import workbench
from medir.pages.calibration.adopting import FREEZE
from medir.pages.calibration.running import CALIBRATION
from rag_core.project.overview import all_projects

if "view" not in st.session_state:
    (project,) = all_projects(workbench().services.database)
    st.session_state.view = Frame(project=project, version=reads.version(project), overview=None)
for work in (CALIBRATION, FREEZE):
    work.follow(st.session_state.view)
"""


def test_two_works_are_followed_side_by_side_also_where_neither_can_be_seen(
    own_installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    going_on(own_installation, "calibration", for_s=1)
    ended = threading.Event()
    workbench().work.start("freeze entrega", ended.wait)
    page = AppTest.from_string(BOTH, default_timeout=TIMEOUT_S).run()
    assert [bar.proto.text for bar in page.get("progress")] == [
        "Embedding the questions, question 2 of 3",
        "Freezing a baseline: running the golden set",
    ]
    ended.set()
    st.cache_resource.clear()
    monkeypatch.setenv("DATABASE_URL", "postgresql://127.0.0.1:9/medir")
    page.run()
    assert not page.exception
    assert [error.value for error in page.error] == ["A service does not answer"] * 2
