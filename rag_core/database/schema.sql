-- Made from the migrations by tests/sql/schema_dump.py; changes go into a new migration.

CREATE EXTENSION IF NOT EXISTS vector WITH SCHEMA public;

CREATE TYPE public.actor_kind AS ENUM (
    'human',
    'agent',
    'system'
);

CREATE TYPE public.chunk_scope AS ENUM (
    'docs',
    'adr',
    'session'
);

CREATE TYPE public.rag_surface AS ENUM (
    'app',
    'cli',
    'api',
    'engine',
    'mcp'
);

CREATE TYPE public.rag_verdict AS ENUM (
    'util',
    'irrelevante'
);

CREATE TYPE public.run_kind AS ENUM (
    'index',
    'golden',
    'calibration'
);

CREATE TYPE public.run_state AS ENUM (
    'running',
    'done',
    'failed',
    'cancelled',
    'interrupted'
);

CREATE DOMAIN public.text_language AS text
	CONSTRAINT text_language_check CHECK ((VALUE = ANY (ARRAY['arabic'::text, 'armenian'::text, 'basque'::text, 'catalan'::text, 'danish'::text, 'dutch'::text, 'english'::text, 'finnish'::text, 'french'::text, 'german'::text, 'greek'::text, 'hindi'::text, 'hungarian'::text, 'indonesian'::text, 'irish'::text, 'italian'::text, 'lithuanian'::text, 'nepali'::text, 'norwegian'::text, 'portuguese'::text, 'romanian'::text, 'russian'::text, 'serbian'::text, 'simple'::text, 'spanish'::text, 'swedish'::text, 'tamil'::text, 'turkish'::text, 'yiddish'::text])));

CREATE TYPE public.token_role AS ENUM (
    'viewer',
    'maintainer',
    'engine'
);

CREATE FUNCTION public.medir_plain(content text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN regexp_replace(CASE WHEN (content ~ '[ ­˗̀-ͯ֊־؜ᅟᅠ᐀឴឵᠆᠋-᠏ -―‪- ⁃ -⁯−⸗⸚⸺⸻⹀⹝　〜〰゠ㅤ︀-️︱︲﹘﹣﻿！-～ﾠ󠀀-󠿿]'::text) THEN regexp_replace(regexp_replace(regexp_replace(CASE WHEN (content ~ '[̀-ͯ！-～]'::text) THEN translate(NORMALIZE(content, NFC), '！＂＃＄％＆＇（）＊＋，－．／０１２３４５６７８９：；＜＝＞？＠ＡＢＣＤＥＦＧＨＩＪＫＬＭＮＯＰＱＲＳＴＵＶＷＸＹＺ［＼］＾＿｀ａｂｃｄｅｆｇｈｉｊｋｌｍｎｏｐｑｒｓｔｕｖｗｘｙｚ｛｜｝～'::text, '!"#$%&''()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\]^_`abcdefghijklmnopqrstuvwxyz{|}~'::text) ELSE content END, '[­͏؜ᅟᅠ឴឵᠋-᠏​-‏‪-‮⁠-⁯ㅤ︀-️﻿ﾠ󠀀-󠿿]'::text, ''::text, 'g'::text), '[˗֊־᐀᠆‐-―⁃−⸗⸚⸺⸻⹀⹝〜〰゠︱︲﹘﹣]'::text, '-'::text, 'g'::text), '[  -   　]'::text, ' '::text, 'g'::text) ELSE content END, '([À-῿][[:alnum:]_-]*)[/.](?=[[:alnum:]])|([[:alnum:]])[/.](?=[[:alnum:]_-]*[À-῿])|((?:^|[^[:alnum:]_./-])[0-9]+)-(?=[0-9]+(?:$|[^[:alnum:]_/-]))'::text, '\1\2\3 '::text, 'g'::text);

CREATE FUNCTION public.medir_title(metadata jsonb, source_path text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN concat_ws(' '::text, (metadata ->> 'title'::text), translate((metadata ->> 'headingPath'::text), '[]"\'::text, '    '::text), regexp_replace(regexp_replace(source_path, '\.[^./]*$'::text, ''::text), '[/._-]+'::text, ' '::text, 'g'::text));

CREATE FUNCTION public.medir_tsvector(language text, content text) RETURNS tsvector
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE language WHEN 'arabic'::text THEN to_tsvector('arabic'::regconfig, public.medir_plain(content)) WHEN 'armenian'::text THEN to_tsvector('armenian'::regconfig, public.medir_plain(content)) WHEN 'basque'::text THEN to_tsvector('basque'::regconfig, public.medir_plain(content)) WHEN 'catalan'::text THEN to_tsvector('catalan'::regconfig, public.medir_plain(content)) WHEN 'danish'::text THEN to_tsvector('danish'::regconfig, public.medir_plain(content)) WHEN 'dutch'::text THEN to_tsvector('dutch'::regconfig, public.medir_plain(content)) WHEN 'english'::text THEN to_tsvector('english'::regconfig, public.medir_plain(content)) WHEN 'finnish'::text THEN to_tsvector('finnish'::regconfig, public.medir_plain(content)) WHEN 'french'::text THEN to_tsvector('french'::regconfig, public.medir_plain(content)) WHEN 'german'::text THEN to_tsvector('german'::regconfig, public.medir_plain(content)) WHEN 'greek'::text THEN to_tsvector('greek'::regconfig, public.medir_plain(content)) WHEN 'hindi'::text THEN to_tsvector('hindi'::regconfig, public.medir_plain(content)) WHEN 'hungarian'::text THEN to_tsvector('hungarian'::regconfig, public.medir_plain(content)) WHEN 'indonesian'::text THEN to_tsvector('indonesian'::regconfig, public.medir_plain(content)) WHEN 'irish'::text THEN to_tsvector('irish'::regconfig, public.medir_plain(content)) WHEN 'italian'::text THEN to_tsvector('italian'::regconfig, public.medir_plain(content)) WHEN 'lithuanian'::text THEN to_tsvector('lithuanian'::regconfig, public.medir_plain(content)) WHEN 'nepali'::text THEN to_tsvector('nepali'::regconfig, public.medir_plain(content)) WHEN 'norwegian'::text THEN to_tsvector('norwegian'::regconfig, public.medir_plain(content)) WHEN 'portuguese'::text THEN to_tsvector('portuguese'::regconfig, public.medir_plain(content)) WHEN 'romanian'::text THEN to_tsvector('romanian'::regconfig, public.medir_plain(content)) WHEN 'russian'::text THEN to_tsvector('russian'::regconfig, public.medir_plain(content)) WHEN 'serbian'::text THEN to_tsvector('serbian'::regconfig, public.medir_plain(content)) WHEN 'simple'::text THEN to_tsvector('simple'::regconfig, public.medir_plain(content)) WHEN 'spanish'::text THEN to_tsvector('spanish'::regconfig, public.medir_plain(content)) WHEN 'swedish'::text THEN to_tsvector('swedish'::regconfig, public.medir_plain(content)) WHEN 'tamil'::text THEN to_tsvector('tamil'::regconfig, public.medir_plain(content)) WHEN 'turkish'::text THEN to_tsvector('turkish'::regconfig, public.medir_plain(content)) WHEN 'yiddish'::text THEN to_tsvector('yiddish'::regconfig, public.medir_plain(content)) ELSE NULL::tsvector END;

CREATE TABLE public.access_tokens (
    id text NOT NULL,
    name text NOT NULL,
    role public.token_role NOT NULL,
    actor_kind public.actor_kind NOT NULL,
    secret_hash text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    created_by_kind public.actor_kind NOT NULL,
    created_by_id text NOT NULL,
    last_used_at timestamp with time zone,
    revoked_at timestamp with time zone,
    revoked_by_kind public.actor_kind,
    revoked_by_id text,
    expires_at timestamp with time zone,
    CONSTRAINT access_tokens_expiry CHECK ((expires_at > created_at)),
    CONSTRAINT access_tokens_id_check CHECK ((id ~ '^[0-9a-f]{12}$'::text)),
    CONSTRAINT access_tokens_name_check CHECK ((name <> ''::text)),
    CONSTRAINT access_tokens_revocation CHECK ((((revoked_at IS NULL) = (revoked_by_kind IS NULL)) AND ((revoked_at IS NULL) = (revoked_by_id IS NULL)))),
    CONSTRAINT access_tokens_secret_hash_check CHECK ((secret_hash ~ '^[0-9a-f]{64}$'::text))
);

CREATE TABLE public.adopted_settings (
    project_id text NOT NULL,
    id bigint NOT NULL,
    settings jsonb NOT NULL,
    adopted_by_kind public.actor_kind NOT NULL,
    adopted_by_id text NOT NULL,
    adopted_at timestamp with time zone DEFAULT now() NOT NULL,
    reason text NOT NULL,
    CONSTRAINT adopted_settings_reason_check CHECK ((reason <> ''::text))
);

ALTER TABLE public.adopted_settings ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.adopted_settings_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.chunks (
    project_id text NOT NULL,
    id uuid NOT NULL,
    scope public.chunk_scope NOT NULL,
    session_id text,
    source_path text,
    ordinal integer NOT NULL,
    content text NOT NULL,
    content_hash text NOT NULL,
    metadata jsonb DEFAULT '{}'::jsonb NOT NULL,
    embedding public.vector(768),
    embedding_model text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    language public.text_language DEFAULT 'portuguese'::text NOT NULL,
    search_vector tsvector GENERATED ALWAYS AS (public.medir_tsvector((language)::text, content)) STORED,
    CONSTRAINT chunks_content_check CHECK ((content <> ''::text)),
    CONSTRAINT chunks_content_hash_check CHECK ((content_hash ~ '^[0-9a-f]{64}$'::text)),
    CONSTRAINT chunks_ordinal_check CHECK ((ordinal >= 0)),
    CONSTRAINT chunks_origin CHECK (
CASE scope
    WHEN 'session'::public.chunk_scope THEN ((session_id IS NOT NULL) AND (source_path IS NULL))
    ELSE ((source_path IS NOT NULL) AND (session_id IS NULL))
END),
    CONSTRAINT chunks_vector_has_model CHECK (((embedding IS NULL) = (embedding_model IS NULL)))
);

CREATE TABLE public.embedding_cache (
    project_id text NOT NULL,
    model text NOT NULL,
    role text NOT NULL,
    text_hash text NOT NULL,
    embedding public.vector(768) NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT embedding_cache_role_check CHECK ((role = ANY (ARRAY['document'::text, 'question'::text]))),
    CONSTRAINT embedding_cache_text_hash_check CHECK ((text_hash ~ '^[0-9a-f]{64}$'::text))
);

CREATE TABLE public.index_scopes (
    project_id text NOT NULL,
    scope public.chunk_scope NOT NULL,
    commit text,
    ref text,
    files integer NOT NULL,
    chunks integer NOT NULL,
    indexed_at timestamp with time zone NOT NULL,
    skipped jsonb DEFAULT '[]'::jsonb NOT NULL,
    notes jsonb DEFAULT '[]'::jsonb NOT NULL
);

CREATE TABLE public.indexes (
    project_id text NOT NULL,
    embedding_model text,
    chunker_version text NOT NULL,
    text_search_config text NOT NULL,
    generation bigint DEFAULT 1 NOT NULL,
    languages text[] DEFAULT '{portuguese}'::text[] NOT NULL
);

CREATE TABLE public.lexicons (
    project_id text NOT NULL,
    chunks integer NOT NULL,
    text_length bigint NOT NULL,
    chunk_ids bytea NOT NULL
);
ALTER TABLE ONLY public.lexicons ALTER COLUMN chunk_ids SET STORAGE EXTERNAL;

CREATE TABLE public.postings (
    project_id text NOT NULL,
    lexeme text NOT NULL,
    scope public.chunk_scope NOT NULL,
    in_title boolean NOT NULL,
    entries bytea NOT NULL
);
ALTER TABLE ONLY public.postings ALTER COLUMN entries SET STORAGE EXTERNAL;

CREATE TABLE public.projects (
    project_id text NOT NULL,
    name text NOT NULL,
    repo text NOT NULL,
    root text DEFAULT ''::text NOT NULL,
    ref text DEFAULT 'HEAD'::text NOT NULL,
    golden text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    docs_folders text[] DEFAULT '{docs}'::text[] NOT NULL,
    adr_folders text[] DEFAULT '{docs/adr}'::text[] NOT NULL,
    language public.text_language DEFAULT 'portuguese'::text NOT NULL,
    CONSTRAINT projects_folders_check CHECK (((cardinality(docs_folders) + cardinality(adr_folders)) > 0)),
    CONSTRAINT projects_name_check CHECK ((name <> ''::text)),
    CONSTRAINT projects_project_id_check CHECK ((project_id ~ '^[a-z0-9][a-z0-9-]{0,62}$'::text))
);

CREATE TABLE public.rag_candidates (
    project_id text NOT NULL,
    search_id uuid NOT NULL,
    places text[] NOT NULL,
    ordinals integer[] NOT NULL,
    content_hashes text[] NOT NULL,
    vector_scores double precision[] NOT NULL,
    vector_ranks integer[] NOT NULL,
    lexical_scores double precision[] NOT NULL,
    lexical_ranks integer[] NOT NULL,
    CONSTRAINT rag_candidates_check CHECK (((cardinality(places) = cardinality(ordinals)) AND (cardinality(places) = cardinality(content_hashes)) AND (cardinality(places) = cardinality(vector_scores)) AND (cardinality(places) = cardinality(vector_ranks)) AND (cardinality(places) = cardinality(lexical_scores)) AND (cardinality(places) = cardinality(lexical_ranks))))
);

CREATE TABLE public.rag_feedback (
    project_id text NOT NULL,
    search_id uuid NOT NULL,
    chunk_id uuid NOT NULL,
    rank smallint NOT NULL,
    verdict public.rag_verdict NOT NULL,
    actor_kind public.actor_kind NOT NULL,
    actor_id text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    searched_at timestamp with time zone NOT NULL,
    settings_id text NOT NULL,
    CONSTRAINT rag_feedback_rank_check CHECK ((rank >= 1))
);

CREATE TABLE public.rag_searches (
    project_id text NOT NULL,
    id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    question text NOT NULL,
    hits jsonb NOT NULL,
    hit_count smallint NOT NULL,
    weights jsonb NOT NULL,
    settings_id text NOT NULL,
    degraded boolean NOT NULL,
    degraded_reason text,
    vector_available boolean NOT NULL,
    latency_ms real NOT NULL,
    embed_ms real NOT NULL,
    vector_ms real NOT NULL,
    lexical_ms real NOT NULL,
    rank_ms real NOT NULL,
    scopes public.chunk_scope[] NOT NULL,
    actor_kind public.actor_kind NOT NULL,
    actor_id text NOT NULL,
    surface public.rag_surface NOT NULL,
    session_id text,
    synthetic boolean DEFAULT false NOT NULL,
    trial boolean GENERATED ALWAYS AS (COALESCE(((weights ->> 'source'::text) = 'trial'::text), false)) STORED NOT NULL
);

CREATE TABLE public.runs (
    project_id text NOT NULL,
    id uuid NOT NULL,
    kind public.run_kind NOT NULL,
    state public.run_state NOT NULL,
    parameters jsonb DEFAULT '{}'::jsonb NOT NULL,
    progress jsonb DEFAULT '{}'::jsonb NOT NULL,
    result jsonb,
    error jsonb,
    actor_kind public.actor_kind NOT NULL,
    actor_id text NOT NULL,
    surface public.rag_surface NOT NULL,
    started_at timestamp with time zone NOT NULL,
    heartbeat_at timestamp with time zone NOT NULL,
    finished_at timestamp with time zone,
    cancel_requested boolean DEFAULT false NOT NULL
);

CREATE TABLE public.schema_migrations (
    number integer NOT NULL,
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.search_settings (
    project_id text NOT NULL,
    id text NOT NULL,
    settings jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT search_settings_id_check CHECK ((id ~ '^[0-9a-f]{16}$'::text))
);

CREATE TABLE public.session_events (
    project_id text NOT NULL,
    id text NOT NULL,
    session_id text NOT NULL,
    seq integer NOT NULL,
    type text NOT NULL,
    actor_kind public.actor_kind NOT NULL,
    actor_id text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    payload jsonb NOT NULL,
    CONSTRAINT session_events_id_check CHECK ((id <> ''::text)),
    CONSTRAINT session_events_seq_check CHECK ((seq >= 1))
);

CREATE TABLE public.sessions (
    project_id text NOT NULL,
    id text NOT NULL,
    title text,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT sessions_id_check CHECK ((id <> ''::text))
);

CREATE TABLE public.spellings (
    project_id text NOT NULL,
    key text NOT NULL,
    lexeme text NOT NULL,
    chunks integer NOT NULL
);

ALTER TABLE ONLY public.access_tokens
    ADD CONSTRAINT access_tokens_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.adopted_settings
    ADD CONSTRAINT adopted_settings_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.chunks
    ADD CONSTRAINT chunks_file_order UNIQUE (project_id, source_path, ordinal) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.chunks
    ADD CONSTRAINT chunks_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.chunks
    ADD CONSTRAINT chunks_session_order UNIQUE (project_id, session_id, ordinal) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.embedding_cache
    ADD CONSTRAINT embedding_cache_pkey PRIMARY KEY (project_id, model, role, text_hash);

ALTER TABLE ONLY public.index_scopes
    ADD CONSTRAINT index_scopes_pkey PRIMARY KEY (project_id, scope);

ALTER TABLE ONLY public.indexes
    ADD CONSTRAINT indexes_pkey PRIMARY KEY (project_id);

ALTER TABLE ONLY public.lexicons
    ADD CONSTRAINT lexicons_pkey PRIMARY KEY (project_id);

ALTER TABLE ONLY public.postings
    ADD CONSTRAINT postings_pkey PRIMARY KEY (project_id, lexeme, scope, in_title);

ALTER TABLE ONLY public.projects
    ADD CONSTRAINT projects_pkey PRIMARY KEY (project_id);

ALTER TABLE ONLY public.rag_candidates
    ADD CONSTRAINT rag_candidates_pkey PRIMARY KEY (project_id, search_id);

ALTER TABLE ONLY public.rag_feedback
    ADD CONSTRAINT rag_feedback_pkey PRIMARY KEY (project_id, search_id, chunk_id, actor_kind, actor_id);

ALTER TABLE ONLY public.rag_searches
    ADD CONSTRAINT rag_searches_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.runs
    ADD CONSTRAINT runs_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.schema_migrations
    ADD CONSTRAINT schema_migrations_pkey PRIMARY KEY (number);

ALTER TABLE ONLY public.search_settings
    ADD CONSTRAINT search_settings_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.session_events
    ADD CONSTRAINT session_events_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.session_events
    ADD CONSTRAINT session_events_project_id_session_id_seq_key UNIQUE (project_id, session_id, seq);

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_pkey PRIMARY KEY (project_id, id);

ALTER TABLE ONLY public.spellings
    ADD CONSTRAINT spellings_pkey PRIMARY KEY (project_id, key, lexeme);

CREATE UNIQUE INDEX access_tokens_name ON public.access_tokens USING btree (name) WHERE (revoked_at IS NULL);

CREATE INDEX chunks_content_hash ON public.chunks USING btree (project_id, content_hash);

CREATE INDEX chunks_embedding ON public.chunks USING hnsw (embedding public.vector_cosine_ops);

CREATE INDEX chunks_scope ON public.chunks USING btree (project_id, scope);

CREATE INDEX chunks_search_vector ON public.chunks USING gin (search_vector);

CREATE INDEX chunks_without_vector ON public.chunks USING btree (project_id, scope) WHERE (embedding IS NULL);

CREATE INDEX rag_feedback_chunk ON public.rag_feedback USING btree (project_id, chunk_id);

CREATE INDEX rag_feedback_report ON public.rag_feedback USING btree (project_id, searched_at, search_id, chunk_id) INCLUDE (rank, verdict);

CREATE INDEX rag_searches_report ON public.rag_searches USING btree (project_id, created_at, id) INCLUDE (settings_id, degraded, vector_available, hit_count, synthetic, actor_kind, actor_id, surface, scopes, latency_ms, embed_ms, vector_ms, lexical_ms, rank_ms, trial);

CREATE INDEX runs_recent ON public.runs USING btree (project_id, kind, started_at DESC);

ALTER TABLE ONLY public.adopted_settings
    ADD CONSTRAINT adopted_settings_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(project_id) ON DELETE CASCADE;

ALTER TABLE ONLY public.chunks
    ADD CONSTRAINT chunks_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(project_id) ON DELETE CASCADE;

ALTER TABLE ONLY public.chunks
    ADD CONSTRAINT chunks_project_id_session_id_fkey FOREIGN KEY (project_id, session_id) REFERENCES public.sessions(project_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.embedding_cache
    ADD CONSTRAINT embedding_cache_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(project_id) ON DELETE CASCADE;

ALTER TABLE ONLY public.index_scopes
    ADD CONSTRAINT index_scopes_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.indexes(project_id) ON DELETE CASCADE;

ALTER TABLE ONLY public.indexes
    ADD CONSTRAINT indexes_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(project_id) ON DELETE CASCADE;

ALTER TABLE ONLY public.lexicons
    ADD CONSTRAINT lexicons_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(project_id) ON DELETE CASCADE;

ALTER TABLE ONLY public.postings
    ADD CONSTRAINT postings_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(project_id) ON DELETE CASCADE;

ALTER TABLE ONLY public.rag_candidates
    ADD CONSTRAINT rag_candidates_project_id_search_id_fkey FOREIGN KEY (project_id, search_id) REFERENCES public.rag_searches(project_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.rag_feedback
    ADD CONSTRAINT rag_feedback_project_id_chunk_id_fkey FOREIGN KEY (project_id, chunk_id) REFERENCES public.chunks(project_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.rag_feedback
    ADD CONSTRAINT rag_feedback_project_id_search_id_fkey FOREIGN KEY (project_id, search_id) REFERENCES public.rag_searches(project_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.rag_searches
    ADD CONSTRAINT rag_searches_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(project_id) ON DELETE CASCADE;

ALTER TABLE ONLY public.rag_searches
    ADD CONSTRAINT rag_searches_project_id_settings_id_fkey FOREIGN KEY (project_id, settings_id) REFERENCES public.search_settings(project_id, id);

ALTER TABLE ONLY public.runs
    ADD CONSTRAINT runs_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(project_id) ON DELETE CASCADE;

ALTER TABLE ONLY public.search_settings
    ADD CONSTRAINT search_settings_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(project_id) ON DELETE CASCADE;

ALTER TABLE ONLY public.session_events
    ADD CONSTRAINT session_events_project_id_session_id_fkey FOREIGN KEY (project_id, session_id) REFERENCES public.sessions(project_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(project_id) ON DELETE CASCADE;

ALTER TABLE ONLY public.spellings
    ADD CONSTRAINT spellings_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.projects(project_id) ON DELETE CASCADE;
