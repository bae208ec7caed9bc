"""What the tests of the pages share: an indexed project with a lost case, and ways to look at a page."""

import functools
import itertools
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
import streamlit as st
from psycopg.conninfo import make_conninfo
from streamlit.components.v2.component_manager import BidiComponentManager
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Block, Element

import medir
from databases import create_database, drop_database
from material import DOCUMENTS, Repository
from medir.configuration import load_configuration
from medir.pages import PAGES
from medir.wiring import Services, open_services
from rag_core.model import Actor, Project
from rag_core.project.overview import all_projects
from rag_core.project.projects import add_project

TOP = Path(medir.__file__).resolve().parent.parent
SCRIPTS: Mapping[str, str] = {page.path: page.script for page in PAGES}
# a cold database and a cold encoder on a busy machine
TIMEOUT_S = 60.0
ANA = Actor(kind="human", id="ana", surface="cli")

IMAGE = "![rastreio](https://rastreio.example/pixel.png)"
HOSTILE = (
    "# Tarifa hostil\n\nA tarifa custa R$ 10,00 e R$ 20,00 com _taxa_ :red[x] ~5~ $5 e $6.\n\n"
    f"<img src=x onerror=alert(1)> {IMAGE} [clique](javascript:alert(1)) :material/delete:\n"
)
HOSTILE_SIGNS = ("onerror", "rastreio.example", ":red[x]", "javascript:", "$5 e $6")

CASES = """\
floor: 2
limit: 1
cases:
  - id: frete
    question: Quando o frete é calculado?
    expected: docs/frete.md
    tags: [preco]
    split: calibrate
  - id: fila
    question: Por quantos dias a fila guarda eventos do coletor?
    expected: docs/adr/0001-fila.md
    tags: [prazo]
    split: holdout
  - id: senha
    question: De quanto em quanto tempo a senha do coletor é trocada?
    expected: docs/seguranca.md
    tags: [prazo]
    note: mudou de lugar na segunda versão
"""
REVISED = {
    "docs/seguranca.md": "# Segurança\n\nA senha do coletor está em revisão.\n",
    "docs/motorista.md": DOCUMENTS["docs/motorista.md"]
    + "\n## Senha\n\nA senha do coletor é trocada a cada noventa dias.\n",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """A database with the project `entrega`, and the environment that leads a workbench to it."""

    project: Project
    environment: Mapping[str, str]

    @property
    def cases(self) -> Path:
        return Path(self.project.repo) / "golden_set" / "cases.yaml"


def environment_of(url: str, home: Path) -> dict[str, str]:
    return {"DATABASE_URL": url, "MEDIR_HOME": str(home), "MEDIR_EMBEDDING": "embedded"}


@contextmanager
def services_of(environment: Mapping[str, str]) -> Iterator[Services]:
    with open_services(load_configuration({"HOME": os.devnull, **environment})) as opened:
        yield opened


def make_entrega(opened: Services, folder: Path) -> Project:
    """A project whose second golden run lost the case `senha`, for the fact has moved to another file."""
    files = {**DOCUMENTS, "docs/hostil.md": HOSTILE, "golden_set/cases.yaml": CASES}
    repository = Repository(folder, files)
    project = add_project(opened.database, "entrega", repo=repository.folder)
    for change in ({}, REVISED):
        if change:
            repository.commit(change, message="The fact has moved")
        opened.indexing.run(project, actor=ANA)
        opened.evaluation.run_golden(project, actor=ANA)
    return project


Make = Callable[[], Installation]


@contextmanager
def installations(server_url: str, template_database: str, folder: Path) -> Iterator[Make]:
    """Makes installations with `entrega`, each a copy of one that is indexed and measured once."""
    made = [f"medir_app_{os.getpid()}_{folder.name}_0"]
    numbers = itertools.count(1)

    def copy() -> Installation:
        number = next(numbers)
        name, place = f"medir_app_{os.getpid()}_{folder.name}_{number}", folder / f"copy-{number}"
        create_database(server_url, name, template=made[0])
        made.append(name)
        shutil.copytree(folder / "entrega", place)
        url = make_conninfo(server_url, dbname=name)
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("update projects set repo = %s", (str(place),))
            connection.execute(
                "update runs set parameters = jsonb_set(parameters, '{cases}', to_jsonb(%s::text))"
                " where kind = 'golden'",
                (str(place / "golden_set" / "cases.yaml"),),
            )
        environment = environment_of(url, folder / "home")
        with services_of(environment) as opened:
            (project,) = all_projects(opened.database)
        return Installation(project=project, environment=environment)

    create_database(server_url, made[0], template=template_database)
    try:
        built = environment_of(make_conninfo(server_url, dbname=made[0]), folder / "home")
        with services_of(built) as opened:
            make_entrega(opened, folder / "entrega")
        yield copy
    finally:
        forget_workbenches()
        for name in made:
            drop_database(server_url, name)
        shutil.rmtree(folder)


def forget_workbenches() -> None:
    """Close the pools that pages opened: they would outlive their databases."""
    st.cache_resource.clear()
    st.cache_data.clear()


def commit(folder: Path, files: Mapping[str, str]) -> None:
    """Commit files to a repository that is there."""
    for path, content in files.items():
        (folder / path).write_text(content, encoding="utf-8")
    identity = ("-c", "user.name=Ana", "-c", "user.email=ana@example.org", "-c", "commit.gpgsign=false")
    for arguments in (("add", "--all"), (*identity, "commit", "--quiet", "--message", "New")):
        subprocess.run(["git", "-C", str(folder), *arguments], check=True)


def workbench_page() -> AppTest:
    """The workbench, not drawn yet."""
    page = AppTest.from_file(str(TOP / "app.py"), default_timeout=TIMEOUT_S)
    page._bidi_component_manager = _components()
    return page


@functools.cache
def _components() -> BidiComponentManager:
    """Those of the packages that are installed: to look through them all takes as long as drawing a page."""
    found = BidiComponentManager()
    found.discover_and_register_components(start_file_watching=False)
    return found


def open_page(path: str, **query: str) -> AppTest:
    """The workbench at an address, drawn once."""
    page = workbench_page()
    page.run()
    for name, value in query.items():
        page.query_params[name] = value
    return page.switch_page(SCRIPTS[path]).run()


def ask_on_page(question: str, **query: str) -> AppTest:
    """The page Search after somebody typed a question into its box."""
    return open_page("search", **query).text_input(key="search_question").set_value(question).run()


def elements(page: AppTest) -> Iterator[Element]:
    """Every element of a page, wherever it stands."""

    def walk(block: Block) -> Iterator[Element]:
        for child in block.children.values():
            if isinstance(child, Block):
                yield from walk(child)
            elif isinstance(child, Element):
                yield child

    yield from walk(page._tree)


def blocks(page: AppTest) -> Iterator[Block]:
    """Every block of a page."""

    def walk(block: Block) -> Iterator[Block]:
        yield block
        for child in block.children.values():
            if isinstance(child, Block):
                yield from walk(child)

    yield from walk(page._tree)


def texts(page: AppTest) -> str:
    """All that a page says as plain text, a line an element."""
    return "\n".join(element.value for element in page.text)


def said(page: AppTest) -> str:
    """All that a page says in its own words."""
    kinds = ("markdown", "info", "warning", "error", "success", "caption", "header", "subheader")
    return "\n".join(str(element.value) for kind in kinds for element in getattr(page, kind))
