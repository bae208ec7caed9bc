-- When a token ends by itself; null: never. Nothing is rewritten.
alter table access_tokens
    add column expires_at timestamptz,
    add constraint access_tokens_expiry check (expires_at > created_at);
