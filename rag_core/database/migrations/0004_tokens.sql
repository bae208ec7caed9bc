-- Who may call: a name, a role and the hash of a secret. A token is of the whole installation, not of a project.
create type token_role as enum ('viewer', 'maintainer', 'engine');

create table access_tokens (
    id text primary key check (id ~ '^[0-9a-f]{12}$'),
    name text not null check (name <> ''),
    role token_role not null,
    actor_kind actor_kind not null,
    secret_hash text not null check (secret_hash ~ '^[0-9a-f]{64}$'),
    created_at timestamptz not null,
    created_by_kind actor_kind not null,
    created_by_id text not null,
    last_used_at timestamptz,
    revoked_at timestamptz,
    revoked_by_kind actor_kind,
    revoked_by_id text,
    constraint access_tokens_revocation check (
        (revoked_at is null) = (revoked_by_kind is null) and (revoked_at is null) = (revoked_by_id is null)
    )
);

-- The name is the actor of what its token does, so no two tokens in force share one.
create unique index access_tokens_name on access_tokens (name) where revoked_at is null;
