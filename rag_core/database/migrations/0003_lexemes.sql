-- The spellings under which a project's chunks hold a word: each index run that changes chunks writes them anew.
-- A key is what all spellings of one word share (rag_core/lexical/spellings.py); chunks is how many hold it.
create table spellings (
    project_id text not null references projects (project_id) on delete cascade,
    key text not null,
    lexeme text not null,
    chunks integer not null,
    primary key (project_id, key, lexeme)
);
