"""No text of a file, a database or an address is read as Markdown: every element of every page, in every state."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import psycopg
import pytest
from google.protobuf.message import Message
from streamlit.testing.v1 import AppTest

from medir.page_kit.plain_text import escaped
from medir.page_kit.services import workbench
from rag_core.evaluation.baselines import baselines_folder, freeze
from rag_core.index.session_import import import_sessions
from rag_core.model import Actor, canonical_digest
from rag_core.project.access import create_token
from rag_core.search.votes import cast_vote
from rag_core.settings.adopting import adopt_settings
from rag_core.settings.overrides import Overrides
from workbench_material import ANA, Installation, Make, blocks, commit, elements, open_page, services_of

HOSTILE = "[x](www.evil.example) **b** :red[r] $e$ <b>z</b> ![p](https://evil.example/p) `c` :smile: eva@evil.example"
# what would be read of it, as it would have to stand
READ = ("](", "**b", ":red[", "$e$", "<b>z", "`c`", ":smile:", "www.evil", "://evil", "eva@evil")
FILE = "docs/[x](www.evil.example) **b** :red[r] $e$ `c` :smile: eva@evil.example.md"
NAME = "www.evil.example"
EVA = Actor(kind="human", id=HOSTILE, surface="app")

# what these show is text, whatever stands in it: documents, cells, names to choose from, a field's own content
TEXT_ALONE = frozenset({"text", "code", "bidi_component", "component", "imgs"})
TEXT_FIELDS: Mapping[str, frozenset[str]] = {
    "arrow_data_frame": frozenset({"arrow_data", "data", "styler", "selection_default"}),
    "selectbox": frozenset({"options", "raw_value", "default"}),
    "multiselect": frozenset({"options", "raw_values"}),
    "text_input": frozenset({"default", "value"}),
    "text_area": frozenset({"default", "value"}),
    "download_button": frozenset({"url"}),
    "button_group": frozenset({"raw_values"}),
}
NEVER_READ = frozenset({"id", "form_id", "key", "element_hash", "deferred_file_id"})


def strings(message: Message, skipped: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Every string in a message with the name of its field, but those of fields that no reader of Markdown sees."""
    for field, value in message.ListFields():
        if field.name in skipped or field.name in NEVER_READ:
            continue
        for one in value if field.is_repeated else [value]:
            if isinstance(one, Message):
                yield from strings(one, skipped)
            elif isinstance(one, str):
                yield field.name, one


def read_as_markdown(page: AppTest) -> Iterator[tuple[str, str]]:
    """Every text of a page that may be read as Markdown or as markup, with the element that it is of."""
    for element in elements(page):
        if element.type not in TEXT_ALONE:
            skipped = TEXT_FIELDS.get(element.type, frozenset())
            for name, text in strings(element.proto, skipped):
                yield f"{element.type}.{name}", text
    for block in blocks(page):
        proto = getattr(block, "proto", None)
        if isinstance(proto, Message):
            for name, text in strings(proto, frozenset()):
                yield f"{block.type}.{name}", text


def faults(page: AppTest) -> list[str]:
    found = []
    for where, text in read_as_markdown(page):
        if where.startswith("plotly_chart"):
            # figures read a few tags, and nothing else
            found += [f"{where}: {text[:80]}" for tag in ("<b>z", "<a ") if tag in text]
        else:
            found += [f"{where}: {text}" for sign in READ if sign in text]
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("docs/ação.md", r"docs\/ação\.md"),
        ("a_b\n*c*  d", r"a\_b \*c\* d"),
        ("[x](y)", r"\[x\]\(y\)"),
        ("https://a.b", "https\\:\u2060\\/\\/a\\.b"),
        ("WWW.a.b", "W\u2060WW\\.a\\.b"),
        ("a@b.c", "a\\@\u2060b\\.c"),
        (":smile:", "\\:\u2060smile\\:"),
        ("human:ana", r"human\:ana"),
    ],
)
def test_an_escaped_text_reads_as_it_stands(text: str, expected: str) -> None:
    assert escaped(text) == expected


@pytest.fixture(scope="module")
def hostile(make_installation: Make) -> Installation:
    """An installation in which whatever people, files and programs can name has a hostile name."""
    made = make_installation()
    folder = Path(made.project.repo)
    commit(
        folder,
        {
            FILE: f"---\ntitle: {json.dumps(HOSTILE)}\n---\n# {HOSTILE}\n\nO lacre do baú foi trocado. {HOSTILE}\n",
            "golden_set/cases.yaml": _cases(),
        },
    )
    with services_of(made.environment) as opened:
        database, project = opened.database, made.project
        talk = folder.parent / f"{folder.name}.jsonl"
        talk.write_text(_talk(), encoding="utf-8")
        import_sessions(database, project.project_id, talk)
        opened.indexing.run(project, actor=EVA)
        opened.evaluation.run_golden(project, actor=EVA)
        freeze(opened.evaluation, project, NAME, clock=opened.clock, actor=EVA)
        _spoil(baselines_folder(project))
        adopt_settings(
            database,
            opened.clock,
            project,
            overrides=Overrides(limit=4),
            reason=HOSTILE,
            actor=EVA,
            write=False,
        )
        for question in ("Onde o lacre do baú foi trocado?", HOSTILE):
            answer = opened.search.ask(project.project_id, question, actor=EVA)
            for hit in answer.ranking.hits[:1]:
                cast_vote(
                    database,
                    opened.clock,
                    project.project_id,
                    search_id=str(answer.search_id),
                    chunk_id=hit.candidate.chunk_id,
                    verdict="util",
                    actor=EVA,
                )
        opened.evaluation.run_golden(project, actor=EVA)
    return made


def _cases() -> str:
    told = json.dumps(HOSTILE)
    return (
        "floor: 1\ncases:\n"
        f"  - id: {told}\n    question: Onde o lacre do baú foi trocado?\n    expected: {json.dumps(FILE)}\n"
        f"    tags: [{told}]\n    note: {told}\n"
        f"  - id: {json.dumps('2 ' + HOSTILE)}\n    question: {told}\n    expected: docs/frete.md\n"
        f"    tags: [{told}]\n    must_pass: true\n"
    )


def _talk() -> str:
    event = {
        "sessionId": HOSTILE,
        "eventId": HOSTILE,
        "type": "chat.message",
        "createdAt": "2026-03-01T10:00:00Z",
        "actor": {"kind": "human", "id": HOSTILE},
        "title": HOSTILE,
        "payload": {"text": f"O lacre do baú. {HOSTILE}"},
    }
    return json.dumps(event) + "\n"


def _spoil(folder: Path) -> None:
    """A baseline that names settings of its own, with a right checksum, and one that can't be read."""
    document: dict[str, Any] = json.loads((folder / f"{NAME}.json").read_text(encoding="utf-8"))
    document["identity"]["settings"][HOSTILE] = HOSTILE
    document["run"]["settings"][HOSTILE] = HOSTILE
    document["identity"][HOSTILE] = HOSTILE
    document["checksum"] = canonical_digest(
        {key: value for key, value in document.items() if key != "checksum"}
    )
    (folder / f"{NAME}.json").write_text(json.dumps(document), encoding="utf-8")
    twice = f"{json.dumps(HOSTILE)}: 1"
    (folder / "broken.json").write_text(f"{{{twice}, {twice}}}", encoding="utf-8")


@pytest.fixture
def hostile_installation(hostile: Installation, monkeypatch: pytest.MonkeyPatch) -> Installation:
    for name, value in hostile.environment.items():
        monkeypatch.setenv(name, value)
    return hostile


STATES: tuple[tuple[str, Mapping[str, str]], ...] = (
    ("search", {}),
    ("search", {"q": HOSTILE, "whole": "shown"}),
    ("search", {"q": "lacre", "scope": HOSTILE, "asked": HOSTILE, "open": HOSTILE, "project": HOSTILE}),
    ("report", {}),
    ("report", {"by": "actor", "actor": f"human:{HOSTILE}", "settings": HOSTILE, "model": HOSTILE}),
    ("report", {"by": "model", "since": HOSTILE, "tz": HOSTILE, "search": HOSTILE, "which": HOSTILE}),
    ("golden-set", {}),
    ("golden-set", {"against": NAME, "tag": HOSTILE, "case": HOSTILE}),
    ("golden-set", {"against": "broken", "case": f"2 {HOSTILE}"}),
    ("golden-set", {"against": HOSTILE, "case": "none of these", "tag": f"x{HOSTILE}", "run": HOSTILE}),
    ("calibration", {}),
    ("calibration", {"baseline": NAME, "of-tag": HOSTILE, "metric": HOSTILE}),
    ("index", {}),
    ("index", {"part": "reindex", "index-run": HOSTILE, "mode": HOSTILE}),
    ("index", {"part": "chunks", "find": HOSTILE, "place": FILE, "chunk": HOSTILE}),
    ("index", {"part": "chunks", "within": "session", "place": f"session:{HOSTILE}"}),
)


@pytest.mark.parametrize(("path", "query"), STATES)
def test_no_text_that_is_not_ours_is_read_as_markdown(
    hostile_installation: Installation, path: str, query: Mapping[str, str]
) -> None:
    page = open_page(path, **query)
    assert not page.exception
    assert faults(page) == []
    assert len(list(read_as_markdown(page))) > 10


def test_nor_in_what_was_asked_and_opened(hostile_installation: Installation) -> None:
    page = open_page("search").text_input(key="search_question").set_value(f"lacre do baú {HOSTILE}").run()
    assert faults(page) == []
    page.button(key="open-1").click().run()
    assert not page.exception
    assert faults(page) == []


def test_nor_in_a_calibration_and_its_dialogs(hostile_installation: Installation) -> None:
    page = open_page("calibration", baseline=NAME, **{"of-tag": HOSTILE})
    page.button(key="calibrate").click().run()
    workbench().work.wait("calibration entrega", timeout_s=120)
    for part in ("cases", "measures", "rivals", "signals"):
        page.query_params["evidence"] = part
        page.run()
        assert not page.exception
        assert faults(page) == []
    page.slider(key="calibration-weight").set_value(0.123).run()
    page.button(key="calibration-adopt").click().run()
    assert any("Recorded as" in caption.value for caption in page.caption)
    assert faults(page) == []
    page.session_state["calibration-adopting"] = False
    page.button(key="calibration-freeze").click().run()
    page.text_input(key="calibration-baseline-name").set_value(HOSTILE).run()
    page.button(key="calibration-freeze-confirm").click().run()
    assert faults(page) == []


@pytest.mark.parametrize("state", ["running", "failed", "interrupted"])
@pytest.mark.parametrize(
    ("path", "kind"), [("golden-set", "golden"), ("calibration", "calibration"), ("index", "index")]
)
def test_nor_in_what_is_told_of_runs(
    hostile_installation: Installation, path: str, kind: str, state: str
) -> None:
    told = json.dumps({"code": HOSTILE, "message": HOSTILE, "hint": HOSTILE})
    with psycopg.connect(hostile_installation.environment["DATABASE_URL"], autocommit=True) as connection:
        connection.execute(
            """
            insert into runs (project_id, id, kind, state, parameters, progress, error, actor_kind, actor_id, surface,
                started_at, heartbeat_at, finished_at)
            values ('entrega', gen_random_uuid(), %s, %s, %s, %s, %s, 'human', %s, 'app', now(),
                now() + interval '1 min', case when %s = 'running' then null else now() end)
            """,
            (
                kind,
                state,
                json.dumps({"metric": HOSTILE, "mode": HOSTILE, "sessionId": HOSTILE, "ref": HOSTILE}),
                json.dumps({"step": HOSTILE, "done": 1, "total": 2}),
                None if state == "running" else told,
                HOSTILE,
                state,
            ),
        )
        try:
            page = open_page(path, part="reindex") if path == "index" else open_page(path)
            assert not page.exception
            assert faults(page) == []
        finally:
            connection.execute(
                "delete from runs where actor_id = %s and progress ->> 'step' = %s", (HOSTILE, HOSTILE)
            )


def test_nor_in_files_with_faults_and_in_a_form_to_sign_in(hostile_installation: Installation) -> None:
    cases = hostile_installation.cases
    sound = cases.read_text(encoding="utf-8")
    settings = cases.with_name("settings.yaml")
    try:
        settings.write_text(f"{json.dumps(HOSTILE)}: {json.dumps(HOSTILE)}\n", encoding="utf-8")
        for path in ("search", "golden-set", "calibration", "report", "index"):
            assert faults(open_page(path)) == []
        cases.write_text(
            f"floor: 1\n{json.dumps(HOSTILE)}: {json.dumps(HOSTILE)}\ncases: []\n", encoding="utf-8"
        )
        for path in ("golden-set", "calibration"):
            assert faults(open_page(path)) == []
    finally:
        settings.unlink()
        cases.write_text(sound, encoding="utf-8")
    with services_of(hostile_installation.environment) as opened:
        text = create_token(
            opened.database, opened.clock, name="eva", role="viewer", expires="2d", actor=ANA
        ).text
    page = open_page("search", q=HOSTILE)
    page.text_input(key="sign-in-token").set_value(HOSTILE)
    page.button(key="sign-in").click().run()
    assert page.header[0].value == "Sign in"
    assert faults(page) == []
    page.text_input(key="sign-in-token").set_value(text)
    page.button(key="sign-in").click().run()
    assert faults(page) == []
