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
-- every space a plain one, signs without width gone. Where an accented word is joined to another by / or . the two are
-- set apart, since the parser would break the word (entrada/saída), and the two numbers of a range, since it would
-- take the second for a negative one (2010-2014); not the three of a date. To see that there is nothing to do costs
-- little; translate and normalize cost a hundred times as much. Not strict, nor is medir_tsvector: the planner would not
-- put it in place of its call, and each call of a text costs as much again as to cut it into words.
create function medir_plain(content text) returns text
    language sql immutable parallel safe
    return regexp_replace(
        case
            when content ~ U&'[\00A0\00AD\02D7\0300-\036F\058A\05BE\061C\115F\1160\1400\17B4\17B5\1806\180B-\180F'
                '\2000-\2015\202A-\202F\2043\205F-\206F\2212\2E17\2E1A\2E3A\2E3B\2E40\2E5D\3000\301C\3030\30A0'
                '\3164\FE00-\FE0F\FE31\FE32\FE58\FE63\FEFF\FF01-\FF5E\FFA0\+0E0000-\+0E0FFF]'
            then regexp_replace(regexp_replace(regexp_replace(
                case
                    when content ~ U&'[\0300-\036F\FF01-\FF5E]' then translate(
                        normalize(content, nfc),
                        U&'\FF01\FF02\FF03\FF04\FF05\FF06\FF07\FF08\FF09\FF0A\FF0B\FF0C\FF0D\FF0E\FF0F\FF10\FF11\FF12'
                          '\FF13\FF14\FF15\FF16\FF17\FF18\FF19\FF1A\FF1B\FF1C\FF1D\FF1E\FF1F\FF20\FF21\FF22\FF23\FF24'
                          '\FF25\FF26\FF27\FF28\FF29\FF2A\FF2B\FF2C\FF2D\FF2E\FF2F\FF30\FF31\FF32\FF33\FF34\FF35\FF36'
                          '\FF37\FF38\FF39\FF3A\FF3B\FF3C\FF3D\FF3E\FF3F\FF40\FF41\FF42\FF43\FF44\FF45\FF46\FF47\FF48'
                          '\FF49\FF4A\FF4B\FF4C\FF4D\FF4E\FF4F\FF50\FF51\FF52\FF53\FF54\FF55\FF56\FF57\FF58\FF59\FF5A'
                          '\FF5B\FF5C\FF5D\FF5E',
                        '!"#$%&''()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\]^_`abcdefghijklmnopqrstuvwxyz'
                          '{|}~'
                    )
                    else content
                end,
                U&'[\00AD\034F\061C\115F\1160\17B4\17B5\180B-\180F\200B-\200F\202A-\202E\2060-\206F\3164\FE00-\FE0F'
                  '\FEFF\FFA0\+0E0000-\+0E0FFF]', '', 'g'),
                U&'[\02D7\058A\05BE\1400\1806\2010-\2015\2043\2212\2E17\2E1A\2E3A\2E3B\2E40\2E5D\301C\3030\30A0\FE31'
                  '\FE32\FE58\FE63]', '-', 'g'),
                U&'[\00A0\2000-\200A\202F\205F\3000]', ' ', 'g')
            else content
        end,
        U&'([\00C0-\1FFF][[:alnum:]_-]*)[/.](?=[[:alnum:]])|([[:alnum:]])[/.](?=[[:alnum:]_-]*[\00C0-\1FFF])'
          '|((?:^|[^[:alnum:]_./-])[0-9]+)-(?=[0-9]+(?:$|[^[:alnum:]_/-]))',
        '\1\2\3 ', 'g'
    );

create function medir_tsvector(language text, content text) returns tsvector
    language sql immutable parallel safe
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

-- A chunk's title: front matter, headings and path, its extension apart.
create function medir_title(metadata jsonb, source_path text) returns text
    language sql immutable parallel safe
    return concat_ws(
        ' ',
        metadata ->> 'title',
        translate(metadata ->> 'headingPath', '[]"\', '    '),
        regexp_replace(regexp_replace(source_path, '\.[^./]*$', ''), '[/._-]+', ' ', 'g')
    );

-- What a project's chunks hold of each lexeme, in their text or in their title: made anew by each index run that
-- changes chunks. An entry is 8 bytes, big-endian: the chunk's number (4), how often it holds the lexeme (2), how
-- many lexemes its text has, repetitions counted (2).
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

with numbered as materialized (
    select project_id, id, scope, search_vector,
        medir_tsvector(language, medir_title(metadata, source_path)) as title_vector,
        row_number() over (
            partition by project_id
            order by scope = 'session', coalesce(source_path, session_id) collate "C", ordinal
        ) - 1 as number,
        (select coalesce(sum(cardinality(positions)), 0) from unnest(search_vector)) as length
    from chunks
), counted as (
    insert into lexicons (project_id, chunks, text_length, chunk_ids)
    select project_id, count(*), sum(length), string_agg(uuid_send(id), '' order by number)
    from numbered group by project_id
)
insert into postings (project_id, lexeme, scope, in_title, entries)
select project_id, lexeme, scope, in_title,
    string_agg(int8send((number << 32) | (least(written, 65535)::bigint << 16) | least(length, 65535)::bigint), '')
from numbered cross join lateral (
    select lexeme, cardinality(positions) as written, false as in_title from unnest(search_vector)
    union all
    select lexeme, cardinality(positions), true from unnest(title_vector)
) held
group by project_id, lexeme, scope, in_title;

-- what stands there was made of words that are cut otherwise now: the next index run writes them anew
delete from spellings;
