"""The sample project: Medir's own corpus, indexed through the same code as any other project."""

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from medir.turns import in_turn
from medir.wiring import Services
from rag_core.chunking import CHUNKER_VERSION
from rag_core.database.index.contents import sessions_by_state
from rag_core.database.index.identity import read_identity, read_scope_states
from rag_core.database.projects import find_project
from rag_core.errors import Refused, Unavailable, UsageError
from rag_core.index.session_import import import_sessions
from rag_core.model import Actor, EmbeddingModel, Project, Scope
from rag_core.project.projects import SAMPLE, add_project, current_commit, set_project, words_changed
from rag_core.project.runs import Progress
from rag_core.sources.git import GitRepository
from rag_core.sources.git_process import no_git
from rag_core.words.plurals import counted

_TOP = Path(__file__).resolve().parent.parent
_INSTALLED = Path(__file__).resolve().with_name("sample_files")
_GOLDEN = "golden_set"
_CORPUS = f"{_GOLDEN}/corpus"
_AUTHOR = {"name": "Medir", "email": "medir@localhost", "date": "2026-01-01T00:00:00+00:00"}


def ensure_sample(
    services: Services, *, actor: Actor, say: Callable[[str], None], listener: Progress | None
) -> Project:
    """The sample as a project, with its sessions, indexed when it has changed.

    A reindex that would delete votes is left undone and said.

    Raises:
        UsageError: The sample's files are not there.
        Unavailable: There is no git.
    """
    project = _registered(services, say)
    _import_sessions(services, project)

    def index_if_changed() -> None:
        changed = _what_changed(services, project)
        if changed is None:
            say("The sample is indexed and up to date.")
            return
        report = services.indexing.run(
            project, actor=actor, listener=_announced(f"Indexing the sample: {changed}.", say, listener)
        )
        if report.embedding.reason:
            say(f"Without a vector: {counted(report.embedding.skipped, 'chunk')}. {report.embedding.reason}")

    try:
        in_turn(index_if_changed, say=say)
    except Refused as refusal:
        say(f"The sample keeps its old index. {refusal.message} {refusal.hint}")
    return project


def _registered(services: Services, say: Callable[[str], None]) -> Project:
    """The sample as a project; of several who begin at once one adds it, and the others find it there."""
    repo = _repository(services.configuration.home)
    golden = repo / _GOLDEN
    with services.database.connection() as connection:
        known = find_project(connection, SAMPLE)
    if known is None:
        try:
            return add_project(services.database, SAMPLE, repo=repo, root=_CORPUS, golden=golden)
        except Refused:
            with services.database.connection() as connection:
                known = find_project(connection, SAMPLE)
            if known is None:
                raise
    project = set_project(services.database, known, repo=repo, root=_CORPUS, ref="HEAD", golden=golden)
    if known.golden not in (None, project.golden):
        say(
            f"The sample's golden set is {project.golden}; what was written to the earlier one is in {known.golden}."
        )
    return project


def _announced(sentence: str, say: Callable[[str], None], listener: Progress | None) -> Progress:
    """A listener that says what goes on once it does, which is not before the project is this run's."""
    waiting = [sentence]

    def listen(step: str, done: int, total: int) -> None:
        if waiting:
            say(waiting.pop())
        if listener is not None:
            listener(step, done, total)

    return listen


def _repository(home: Path) -> Path:
    """Medir's own repository where it was cloned; else a copy of the sample's files, made a repository.

    A golden set is written to, and neither an installed package nor an unpacked archive is the place for that.
    """
    files = _INSTALLED if _INSTALLED.is_dir() else _TOP / _GOLDEN
    if not (files / "corpus" / "docs").is_dir():
        raise UsageError(
            f"The sample's files are missing: {files}.", hint="Install Medir again, or clone it."
        )
    try:
        own = GitRepository(_TOP)
        if own.top == _TOP and own.has_folder(own.resolve("HEAD"), _CORPUS):
            return _TOP
    except UsageError:
        pass
    return _copied_repository(files, home / "sample-repository")


def _copied_repository(files: Path, copies: Path) -> Path:
    contents = {
        file.relative_to(files): file.read_bytes() for file in sorted(files.rglob("*")) if file.is_file()
    }
    target = copies / _digest_of(contents)
    if target.is_dir():
        return target
    copies.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=copies) as scratch:
        made = Path(scratch) / "repository"
        for name, content in contents.items():
            file = made / _GOLDEN / name
            # not the permissions too: an installed package may be read-only
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        for arguments in (
            ("init", "--quiet"),
            ("add", "--all"),
            ("commit", "--quiet", "--message", "The sample"),
        ):
            _git(made, *arguments)
        try:
            made.rename(target)
        except OSError:
            # another process was first with the same files
            if not target.is_dir():
                raise
    return target


def _git(folder: Path, *arguments: str) -> None:
    identity = {
        f"GIT_{role}_{part.upper()}": value
        for role in ("AUTHOR", "COMMITTER")
        for part, value in _AUTHOR.items()
    }
    # nobody's own settings leave a file out, sign or call a program
    unset = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    kept = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    git = shutil.which("git")
    if git is None:
        raise no_git()
    try:
        subprocess.run(
            [git, "-C", str(folder), *arguments],
            check=True,
            capture_output=True,
            env=kept | unset | identity,
        )
    except subprocess.CalledProcessError as error:
        raise Unavailable(
            "The sample's files could not be made a repository.",
            hint=error.stderr.decode(errors="replace").strip(),
        ) from error


def _digest_of(contents: Mapping[Path, bytes]) -> str:
    digest = hashlib.sha256()
    for name, content in contents.items():
        digest.update(f"{name.as_posix()}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()[:12]


def _import_sessions(services: Services, project: Project) -> None:
    for file in sorted((Path(project.repo) / _CORPUS / "sessions").glob("*.jsonl")):
        import_sessions(services.database, project.project_id, file)


def _what_changed(services: Services, project: Project) -> str | None:
    """Why the sample must be indexed, None where its index is as it would be again."""
    with services.database.connection() as connection:
        identity = read_identity(connection, project.project_id)
        states = read_scope_states(connection, project.project_id)
        # of the index, not of what this process imported: another one's run may have read it already
        _, _, waiting = sessions_by_state(connection, project.project_id)
    if identity is None or len(states) < len(Scope):
        return "for the first time"
    if states[Scope.DOCS].commit != current_commit(project):
        return "its documents changed"
    if waiting:
        return "its sessions changed"
    if identity.chunker_version != CHUNKER_VERSION or words_changed(project, identity) is not None:
        return "this version cuts texts differently, or its language is another"
    made_by = EmbeddingModel.parse(identity.embedding_model) if identity.embedding_model else None
    model = services.providers.service_for(made_by).identify().model
    if model is not None and model != made_by:
        return "the embedding model is another"
    return None
