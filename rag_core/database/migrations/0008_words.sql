-- Any language that PostgreSQL knows, by project and by chunk; words without typographic disguise; and what BM25 needs.

-- text search configurations by name: a column of type regconfig would stand in the way of pg_upgrade
create domain text_language as text check (value in (
    'arabic', 'armenian', 'basque', 'catalan', 'danish', 'dutch', 'english', 'finnish',
    'french', 'german', 'greek', 'hindi', 'hungarian', 'indonesian', 'irish', 'italian',
    'lithuanian', 'nepali', 'norwegian', 'portuguese', 'romanian', 'russian', 'serbian',
    'simple', 'spanish', 'swedish', 'tamil', 'turkish', 'yiddish'
));

alter table projects add column language text_language not null default 'portuguese';

-- A text as its words are looked for, and a question's: accents composed, full-width signs plain, every dash a hyphen,
-- signs without width gone. Where an accented word is joined to another by / or . the two are set apart, since the
-- parser would break the word (entrada/saída).
create function medir_plain(content text) returns text
    language sql immutable strict parallel safe
    return regexp_replace(regexp_replace(regexp_replace(regexp_replace(
        case
            -- to see that there is nothing to do costs a tenth
            when content ~ U&'[\0300-\036F\FF01-\FF5E]' then translate(
                normalize(content, nfc),
                U&'\FF01\FF02\FF03\FF04\FF05\FF06\FF07\FF08\FF09\FF0A\FF0B\FF0C\FF0D\FF0E\FF0F\FF10\FF11\FF12\FF13'
                  '\FF14\FF15\FF16\FF17\FF18\FF19\FF1A\FF1B\FF1C\FF1D\FF1E\FF1F\FF20\FF21\FF22\FF23\FF24\FF25\FF26'
                  '\FF27\FF28\FF29\FF2A\FF2B\FF2C\FF2D\FF2E\FF2F\FF30\FF31\FF32\FF33\FF34\FF35\FF36\FF37\FF38\FF39'
                  '\FF3A\FF3B\FF3C\FF3D\FF3E\FF3F\FF40\FF41\FF42\FF43\FF44\FF45\FF46\FF47\FF48\FF49\FF4A\FF4B\FF4C'
                  '\FF4D\FF4E\FF4F\FF50\FF51\FF52\FF53\FF54\FF55\FF56\FF57\FF58\FF59\FF5A\FF5B\FF5C\FF5D\FF5E',
                '!"#$%&''()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\]^_`abcdefghijklmnopqrstuvwxyz{|}~'
            )
            else content
        end,
        U&'[\00AD\034F\061C\180E\200B-\200F\202A-\202E\2060-\2064\2066-\2069\FE00-\FE0F\FEFF]', '', 'g'),
        U&'[\2010-\2015\2212\FE58\FE63]', '-', 'g'),
        U&'([\00C0-\1FFF][[:alnum:]_-]*)[/.](?=[[:alnum:]])', '\1 ', 'g'),
        U&'([[:alnum:]])[/.](?=[[:alnum:]_-]*[\00C0-\1FFF])', '\1 ', 'g'
    );

create function medir_tsvector(language text, content text) returns tsvector
    language sql immutable strict parallel safe
    return case language
        when 'arabic' then to_tsvector('arabic'::regconfig, medir_plain(content))
        when 'armenian' then to_tsvector('armenian'::regconfig, medir_plain(content))
        when 'basque' then to_tsvector('basque'::regconfig, medir_plain(content))
        when 'catalan' then to_tsvector('catalan'::regconfig, medir_plain(content))
        when 'danish' then to_tsvector('danish'::regconfig, medir_plain(content))
        when 'dutch' then to_tsvector('dutch'::regconfig, medir_plain(content))
        when 'english' then to_tsvector('english'::regconfig, medir_plain(content))
        when 'finnish' then to_tsvector('finnish'::regconfig, medir_plain(content))
        when 'french' then to_tsvector('french'::regconfig, medir_plain(content))
        when 'german' then to_tsvector('german'::regconfig, medir_plain(content))
        when 'greek' then to_tsvector('greek'::regconfig, medir_plain(content))
        when 'hindi' then to_tsvector('hindi'::regconfig, medir_plain(content))
        when 'hungarian' then to_tsvector('hungarian'::regconfig, medir_plain(content))
        when 'indonesian' then to_tsvector('indonesian'::regconfig, medir_plain(content))
        when 'irish' then to_tsvector('irish'::regconfig, medir_plain(content))
        when 'italian' then to_tsvector('italian'::regconfig, medir_plain(content))
        when 'lithuanian' then to_tsvector('lithuanian'::regconfig, medir_plain(content))
        when 'nepali' then to_tsvector('nepali'::regconfig, medir_plain(content))
        when 'norwegian' then to_tsvector('norwegian'::regconfig, medir_plain(content))
        when 'portuguese' then to_tsvector('portuguese'::regconfig, medir_plain(content))
        when 'romanian' then to_tsvector('romanian'::regconfig, medir_plain(content))
        when 'russian' then to_tsvector('russian'::regconfig, medir_plain(content))
        when 'serbian' then to_tsvector('serbian'::regconfig, medir_plain(content))
        when 'simple' then to_tsvector('simple'::regconfig, medir_plain(content))
        when 'spanish' then to_tsvector('spanish'::regconfig, medir_plain(content))
        when 'swedish' then to_tsvector('swedish'::regconfig, medir_plain(content))
        when 'tamil' then to_tsvector('tamil'::regconfig, medir_plain(content))
        when 'turkish' then to_tsvector('turkish'::regconfig, medir_plain(content))
        when 'yiddish' then to_tsvector('yiddish'::regconfig, medir_plain(content))
    end;

alter table chunks add column language text_language not null default 'portuguese';

-- the languages of the index's chunks, which a question is read in: to look for them in the chunks would cost a scan
alter table indexes add column languages text[] not null default '{portuguese}';

-- a new generated column rewrites the table
alter table chunks drop column search_vector;
alter table chunks add column search_vector tsvector generated always as (medir_tsvector(language, content)) stored;
create index chunks_search_vector on chunks using gin (search_vector);

-- What a project's chunks hold of each lexeme, in their text or in their title (front matter, headings, path): made
-- anew by each index run that changes chunks. An entry is 8 bytes, big-endian: the chunk's number (4), how often it
-- holds the lexeme (2), how many lexemes its text has (2).
create table postings (
    project_id text not null references projects (project_id) on delete cascade,
    lexeme text not null,
    scope chunk_scope not null,
    in_title boolean not null,
    entries bytea not null,
    primary key (project_id, lexeme, scope, in_title)
);
alter table postings alter column entries set storage external;

-- Chunks are numbered from 0 in the order of ties; chunk_ids are their ids in this order, 16 bytes each. text_length
-- is the number of lexemes in all texts, repetitions counted.
create table lexicons (
    project_id text primary key references projects (project_id) on delete cascade,
    chunks integer not null,
    text_length bigint not null,
    chunk_ids bytea not null
);
alter table lexicons alter column chunk_ids set storage external;

-- what stands there was made of words that are cut otherwise now: the next index run writes them anew
delete from spellings;
