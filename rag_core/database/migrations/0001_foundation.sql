-- Everything that indexing, search, telemetry, votes, settings and runs stand on.
-- Needs an operator where the role may not create the extension: create extension vector;
create extension if not exists vector;

create type chunk_scope as enum ('docs', 'adr', 'session');
create type rag_verdict as enum ('util', 'irrelevante');
create type actor_kind as enum ('human', 'agent', 'system');
create type rag_surface as enum ('app', 'cli', 'api', 'engine', 'mcp');
create type run_kind as enum ('index', 'golden', 'calibration');
create type run_state as enum ('running', 'done', 'failed', 'cancelled', 'interrupted');

create table projects (
    project_id text primary key check (project_id ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
    name text not null check (name <> ''),
    repo text not null,
    root text not null default '',
    ref text not null default 'HEAD',
    golden text,
    created_at timestamptz not null default now()
);

-- A session's event log; only chat.message and agent.response are indexed from it.
create table sessions (
    project_id text not null references projects (project_id) on delete cascade,
    id text not null check (id <> ''),
    title text,
    created_at timestamptz not null,
    primary key (project_id, id)
);

create table session_events (
    project_id text not null,
    id text not null check (id <> ''),
    session_id text not null,
    seq integer not null check (seq >= 1),
    type text not null,
    actor_kind actor_kind not null,
    actor_id text not null,
    created_at timestamptz not null,
    payload jsonb not null,
    primary key (project_id, id),
    unique (project_id, session_id, seq),
    foreign key (project_id, session_id) references sessions (project_id, id) on delete cascade
);

create table chunks (
    project_id text not null references projects (project_id) on delete cascade,
    id uuid not null,
    scope chunk_scope not null,
    session_id text,
    source_path text,
    ordinal integer not null check (ordinal >= 0),
    content text not null check (content <> ''),
    content_hash text not null check (content_hash ~ '^[0-9a-f]{64}$'),
    metadata jsonb not null default '{}',
    embedding vector(768),
    embedding_model text,
    search_vector tsvector generated always as (to_tsvector('portuguese', content)) stored,
    created_at timestamptz not null default now(),
    primary key (project_id, id),
    constraint chunks_origin check (
        case scope
            when 'session' then session_id is not null and source_path is null
            else source_path is not null and session_id is null
        end
    ),
    constraint chunks_vector_has_model check ((embedding is null) = (embedding_model is null)),
    constraint chunks_file_order unique (project_id, source_path, ordinal) deferrable initially deferred,
    constraint chunks_session_order unique (project_id, session_id, ordinal) deferrable initially deferred,
    foreign key (project_id, session_id) references sessions (project_id, id) on delete cascade
);

create index chunks_embedding on chunks using hnsw (embedding vector_cosine_ops);
create index chunks_search_vector on chunks using gin (search_vector);
create index chunks_scope on chunks (project_id, scope);
create index chunks_without_vector on chunks (project_id, scope) where embedding is null;
create index chunks_content_hash on chunks (project_id, content_hash);

-- One row a project: the identity of its index. The model is that of its vectors, null while it has none.
create table indexes (
    project_id text primary key references projects (project_id) on delete cascade,
    embedding_model text,
    chunker_version text not null,
    text_search_config text not null,
    generation bigint not null default 1
);

-- One row a project and scope: what its last index run read and made.
create table index_scopes (
    project_id text not null references indexes (project_id) on delete cascade,
    scope chunk_scope not null,
    commit text,
    ref text,
    files integer not null,
    chunks integer not null,
    indexed_at timestamptz not null,
    skipped jsonb not null default '[]',
    notes jsonb not null default '[]',
    primary key (project_id, scope)
);

-- Vectors by model and text, so that no text is embedded twice; questions keep theirs for golden runs.
create table embedding_cache (
    project_id text not null references projects (project_id) on delete cascade,
    model text not null,
    role text not null check (role in ('document', 'question')),
    text_hash text not null check (text_hash ~ '^[0-9a-f]{64}$'),
    embedding vector(768) not null,
    created_at timestamptz not null default now(),
    primary key (project_id, model, role, text_hash)
);

-- Each distinct set of numbers once; never changed.
create table search_settings (
    project_id text not null references projects (project_id) on delete cascade,
    id text not null check (id ~ '^[0-9a-f]{16}$'),
    settings jsonb not null,
    created_at timestamptz not null default now(),
    primary key (project_id, id)
);

-- A maintainer's decisions; the latest row is in force.
create table adopted_settings (
    project_id text not null references projects (project_id) on delete cascade,
    id bigint generated always as identity,
    settings jsonb not null,
    adopted_by_kind actor_kind not null,
    adopted_by_id text not null,
    adopted_at timestamptz not null default now(),
    reason text not null check (reason <> ''),
    primary key (project_id, id)
);

-- One row a search. session_id null means that no session was involved; it is no foreign key, because a
-- session that is deleted later must not take the measurement with it.
create table rag_searches (
    project_id text not null references projects (project_id) on delete cascade,
    id uuid not null,
    created_at timestamptz not null,
    question text not null,
    hits jsonb not null,
    hit_count smallint not null,
    weights jsonb not null,
    settings_id text not null,
    degraded boolean not null,
    degraded_reason text,
    vector_available boolean not null,
    latency_ms real not null,
    embed_ms real not null,
    vector_ms real not null,
    lexical_ms real not null,
    rank_ms real not null,
    scopes chunk_scope[] not null,
    actor_kind actor_kind not null,
    actor_id text not null,
    surface rag_surface not null,
    session_id text,
    synthetic boolean not null default false,
    primary key (project_id, id),
    foreign key (project_id, settings_id) references search_settings (project_id, id)
);

create index rag_searches_time on rag_searches (project_id, created_at);

-- The whole set of a search as parallel arrays in fused order, so that it can be replayed.
create table rag_candidates (
    project_id text not null,
    search_id uuid not null,
    places text[] not null,
    ordinals integer[] not null,
    content_hashes text[] not null,
    vector_scores double precision[] not null,
    vector_ranks integer[] not null,
    lexical_scores double precision[] not null,
    lexical_ranks integer[] not null,
    primary key (project_id, search_id),
    foreign key (project_id, search_id) references rag_searches (project_id, id) on delete cascade,
    check (
        cardinality(places) = cardinality(ordinals)
        and cardinality(places) = cardinality(content_hashes)
        and cardinality(places) = cardinality(vector_scores)
        and cardinality(places) = cardinality(vector_ranks)
        and cardinality(places) = cardinality(lexical_scores)
        and cardinality(places) = cardinality(lexical_ranks)
    )
);

-- A verdict on one hit of one search. Rank, searched_at and settings_id repeat facts of the search that
-- never change, so that the report needs no join. A reindex that removes the chunk removes the vote.
create table rag_feedback (
    project_id text not null,
    search_id uuid not null,
    chunk_id uuid not null,
    rank smallint not null check (rank >= 1),
    verdict rag_verdict not null,
    actor_kind actor_kind not null,
    actor_id text not null,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    searched_at timestamptz not null,
    settings_id text not null,
    primary key (project_id, search_id, chunk_id, actor_kind, actor_id),
    foreign key (project_id, search_id) references rag_searches (project_id, id) on delete cascade,
    foreign key (project_id, chunk_id) references chunks (project_id, id) on delete cascade
);

create index rag_feedback_chunk on rag_feedback (project_id, chunk_id);
create index rag_feedback_time on rag_feedback (project_id, searched_at);

-- Every long piece of work. A running row whose heartbeat is old belongs to a process that died.
create table runs (
    project_id text not null references projects (project_id) on delete cascade,
    id uuid not null,
    kind run_kind not null,
    state run_state not null,
    parameters jsonb not null default '{}',
    progress jsonb not null default '{}',
    result jsonb,
    error jsonb,
    actor_kind actor_kind not null,
    actor_id text not null,
    surface rag_surface not null,
    started_at timestamptz not null,
    heartbeat_at timestamptz not null,
    finished_at timestamptz,
    cancel_requested boolean not null default false,
    primary key (project_id, id)
);

create index runs_recent on runs (project_id, kind, started_at desc);
