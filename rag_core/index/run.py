"""One index run, from the sources to the new index.

Nothing is written to the index before one last transaction, so readers see the old index or the new one, also
after a kill. Vectors are kept as they are made, so a run that died does not pay for them again.
"""

import uuid
from collections.abc import Iterator

from rag_core.chunking import CHUNKER_VERSION
from rag_core.database.connecting import Connection
from rag_core.database.connections import Database
from rag_core.database.index.chunks import (
    ChunkRow,
    MovedChunk,
    count_votes,
    delete_chunks,
    fill_vectors,
    insert_chunks,
    model_of_vectors,
    move_chunks,
    read_standing,
)
from rag_core.database.index.identity import (
    ScopeState,
    count_chunks,
    read_identity,
    write_identity,
    write_scope_state,
)
from rag_core.database.index.spellings import Spelled
from rag_core.database.index.vectors import drop_unused_vectors
from rag_core.embedding.providers import Providers
from rag_core.errors import VotesAtRisk
from rag_core.index.matching import Plan, match, rebuild
from rag_core.index.material import Material, Target, read_material, require_session
from rag_core.index.outcome import ChangeReport, IndexMode, IndexReport
from rag_core.index.sources_gone import refuse_gone
from rag_core.index.vectors import ChunkVectors, embed_chunks
from rag_core.index.words import spelled_before, write_words
from rag_core.model import ALL_SCOPES, Actor, Project, Scope
from rag_core.model.languages import text_search_config
from rag_core.model.shape import keyed
from rag_core.ports import Clock
from rag_core.project.runs import Progress, running
from rag_core.sources.documents import list_everywhere
from rag_core.sources.project_repository import repository_of


class Indexing:
    """Index runs of one installation."""

    def __init__(self, *, database: Database, providers: Providers, clock: Clock) -> None:
        self._database = database
        self._providers = providers
        self._clock = clock

    def run(
        self,
        project: Project,
        *,
        actor: Actor,
        mode: IndexMode = "incremental",
        scopes: tuple[Scope, ...] = ALL_SCOPES,
        session_id: str | None = None,
        ref: str | None = None,
        dry_run: bool = False,
        allow_vote_loss: bool = False,
        allow_emptied: bool = False,
        listener: Progress | None = None,
        run_id: uuid.UUID | None = None,
    ) -> IndexReport:
        """Bring the index up to date with the sources.

        `incremental` keeps every chunk whose text is still there, with its id, vector and votes; `full` deletes
        and recreates. Other scopes keep their chunks; with a `session_id`, only that session is indexed and
        `scopes` plays no part. `ref` is another commit, branch or tag than the project's own. `dry_run`: read
        and count, write nothing. `allow_vote_loss`: go on although votes hang on chunks that will be deleted;
        `allow_emptied`: although nothing is left of a scope that is in the index. `run_id` is given where the
        caller has promised an id already.

        Raises:
            Refused: Votes would be lost, a scope would be emptied, or the configured model is not that of the vectors
                that stay.
            Busy: Another index run holds the project.
            UsageError: The repository, the ref or the session does not exist, or there is nothing to index.
            Unavailable: There is no git, or no database.
        """
        target = Target(
            scopes=(Scope.SESSION,) if session_id is not None else scopes,
            session_id=session_id,
            ref=ref or project.ref,
        )
        if session_id is not None:
            # what was never begun leaves no run behind
            require_session(self._database, project.project_id, session_id)
        with running(
            self._database,
            project.project_id,
            "index",
            actor=actor,
            parameters={
                "mode": mode,
                "scopes": [str(scope) for scope in target.scopes],
                "sessionId": session_id,
                "ref": target.ref,
                "dryRun": dry_run,
            },
            exclusive=True,
            listener=listener,
            run_id=run_id,
        ) as handle:
            material = read_material(self._database, project, target, handle.progress)
            with self._database.connection() as connection:
                identity = read_identity(connection, project.project_id)
                plan = _plan(connection, project, target, material, mode)
                refuse_gone(
                    project,
                    target,
                    material=material,
                    plan=plan,
                    elsewhere=lambda: list_everywhere(repository_of(project), ref=target.ref),
                    agreed=allow_emptied,
                )
                votes = count_votes(connection, project.project_id, [chunk.id for chunk in plan.removed])
            if votes and not allow_vote_loss and not dry_run:
                raise VotesAtRisk(votes)
            # whoever listens knows by this step that no vote is lost without being told
            handle.progress("embed", 0, 0)
            vectors = embed_chunks(
                self._database,
                self._providers,
                project.project_id,
                index_model=identity.embedding_model if identity else None,
                may_change_model=mode == "full" and target.scopes == ALL_SCOPES,
                chunks=material.chunks,
                progress=handle.progress,
                dry_run=dry_run,
            )
            if not dry_run:
                handle.progress("write", 0, len(material.chunks))
                handle.confirm()
                with self._database.transaction() as connection:
                    plan = _plan(connection, project, target, material, mode)
                    spelled = spelled_before(connection, project.project_id, plan, mode)
                    lost = delete_chunks(connection, project.project_id, [chunk.id for chunk in plan.removed])
                    if lost and not allow_vote_loss:
                        raise VotesAtRisk(lost)
                    self._write(
                        connection,
                        project,
                        target,
                        material=material,
                        plan=plan,
                        vectors=vectors,
                        spelled=spelled,
                    )
                    votes = lost
            report = _report(
                str(handle.id),
                mode,
                target,
                material=material,
                plan=plan,
                vectors=vectors,
                votes=votes,
                dry_run=dry_run,
            )
            handle.result = report.to_json()
            return report

    def _write(
        self,
        connection: Connection,
        project: Project,
        target: Target,
        *,
        material: Material,
        plan: Plan,
        vectors: ChunkVectors,
        spelled: Spelled | None,
    ) -> None:
        project_id = project.project_id
        move_chunks(
            connection,
            project_id,
            [MovedChunk(id=standing.id, chunk=chunk) for standing, chunk in plan.moved],
        )
        fill_vectors(
            connection,
            project_id,
            vectors.model_id,
            {
                standing.id: vectors.by_hash[chunk.content_hash]
                for standing, chunk in (*plan.kept, *plan.moved)
                if standing.embedding_model != vectors.model_id and chunk.content_hash in vectors.by_hash
            },
        )
        rows = list(_rows(plan, vectors))
        insert_chunks(connection, project_id, rows)
        write_words(connection, project_id, plan, before=spelled, added=[row.id for row in rows])
        write_identity(
            connection,
            project_id,
            embedding_model=model_of_vectors(connection, project_id),
            chunker_version=CHUNKER_VERSION,
            text_search_config=_config(connection, project, target),
        )
        for scope in target.scopes:
            write_scope_state(
                connection, project_id, self._state(connection, project_id, scope, target, material)
            )
        drop_unused_vectors(connection, project_id)

    def _state(
        self, connection: Connection, project_id: str, scope: Scope, target: Target, material: Material
    ) -> ScopeState:
        tree = material.tree if scope.holds == "file" else None
        return ScopeState(
            scope=scope,
            commit=tree.commit if tree else None,
            ref=target.ref if tree else None,
            files=material.sources[scope],
            chunks=count_chunks(connection, project_id, (scope,))[0],
            indexed_at=self._clock.now(),
            skipped=[keyed(entry, "path", "reason") for entry in material.skipped if entry.scope is scope],
            notes=[keyed(note, "path", "note") for note in material.notes if note.scope is scope],
        )


def _plan(
    connection: Connection, project: Project, target: Target, material: Material, mode: IndexMode
) -> Plan:
    standing = read_standing(connection, project.project_id, target.scopes, target.session_id)
    return rebuild(standing, material.chunks) if mode == "full" else match(standing, material.chunks)


def _config(connection: Connection, project: Project, target: Target) -> str:
    """What the index's words are made by: as they were, where the run left some chunks so."""
    made = read_identity(connection, project.project_id)
    others = tuple(scope for scope in ALL_SCOPES if scope not in target.scopes)
    left = target.session_id is not None or count_chunks(connection, project.project_id, others)[0] > 0
    return made.text_search_config if made is not None and left else text_search_config(project.language)


def _rows(plan: Plan, vectors: ChunkVectors) -> Iterator[ChunkRow]:
    for chunk in plan.added:
        vector = vectors.by_hash.get(chunk.content_hash)
        yield ChunkRow(
            id=uuid.uuid4(),
            chunk=chunk,
            embedding=vector,
            embedding_model=None if vector is None else vectors.model_id,
        )


def _report(
    run_id: str,
    mode: IndexMode,
    target: Target,
    *,
    material: Material,
    plan: Plan,
    vectors: ChunkVectors,
    votes: int,
    dry_run: bool,
) -> IndexReport:
    return IndexReport(
        run_id=run_id,
        mode=mode,
        dry_run=dry_run,
        commit=material.tree.commit if material.tree else None,
        counts={
            scope: (
                1 if target.session_id is not None else material.sources[scope],
                material.chunk_count(scope),
            )
            for scope in target.scopes
        },
        embedding=vectors.report,
        changes=ChangeReport(
            kept=len(plan.kept), moved=len(plan.moved), added=len(plan.added), removed=len(plan.removed)
        ),
        skipped=tuple(
            keyed(entry, "path", "reason") | keyed(entry.reason, "by_rule")
            for entry in material.skipped
            if entry.scope in target.scopes
        ),
        notes=tuple(keyed(note, "path", "note") for note in material.notes if note.scope in target.scopes),
        votes_lost=votes,
        outside=material.outside,
    )
