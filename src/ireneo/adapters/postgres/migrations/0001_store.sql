-- All that a store holds. The space leads every key, so that rows can lie anywhere that a space leads to: a partition, a
-- shard, another database. Nothing is counted over several spaces. Texts are compared byte by byte.

-- One row a session. `key` stands for it in every other table of its space; `appended` orders the sessions of a space;
-- the counters save a scan.
CREATE TABLE sessions (
    space     text COLLATE "C" NOT NULL,
    key       bigint NOT NULL,
    session   text COLLATE "C" NOT NULL,
    source    text COLLATE "C",
    appended  bigint NOT NULL,
    messages  bigint NOT NULL DEFAULT 0,
    tokens    bigint NOT NULL DEFAULT 0,
    first_at  text COLLATE "C",
    last_at   text COLLATE "C",
    leased    bigint NOT NULL DEFAULT 0, -- the last token that a lease of the session was given
    documents bigint NOT NULL DEFAULT 0, -- how many documents its messages were ever given; it never falls back
    project   text COLLATE "C", -- the project that it worked on; empty: none that is known; NULL: nobody looked yet
    PRIMARY KEY (space, session),
    UNIQUE (space, key)
);

CREATE INDEX sessions_by_append ON sessions (space, appended);
CREATE INDEX sessions_unplaced ON sessions (space) WHERE project IS NULL;

-- A session's tree: a segment continues its parent after position `first - 1`; without a parent it is a root.
CREATE TABLE segments (
    space   text COLLATE "C" NOT NULL,
    session bigint NOT NULL,
    segment bigint NOT NULL,
    parent  bigint,
    first   bigint NOT NULL,
    PRIMARY KEY (space, session, segment)
);

-- `position` counts from the root of the path and not from the start of the segment.
CREATE TABLE messages (
    space           text COLLATE "C" NOT NULL,
    session         bigint NOT NULL,
    segment         bigint NOT NULL,
    position        bigint NOT NULL,
    id              text COLLATE "C" NOT NULL,
    parent          text COLLATE "C",
    role            text COLLATE "C" NOT NULL,
    origin          text COLLATE "C" NOT NULL,
    turn            bigint NOT NULL,
    tokens          bigint NOT NULL,
    thinking_tokens bigint NOT NULL,
    total_tokens    bigint NOT NULL,
    at              text COLLATE "C",
    source_id       text COLLATE "C",
    joined          bigint NOT NULL,
    parts           text COLLATE "C" NOT NULL,
    erased          bigint NOT NULL DEFAULT 0, -- 1: what it said was forgotten, and only its place is left
    checksum        bigint NOT NULL, -- of what stands in the row
    PRIMARY KEY (space, session, segment, position),
    UNIQUE (space, id, session) -- in this order, so that no place is looked for by its session alone
) PARTITION BY HASH (space);

CREATE INDEX messages_by_source ON messages (space, session, source_id) WHERE source_id IS NOT NULL;
CREATE INDEX messages_erased ON messages (space, session) WHERE erased = 1;

-- The provider's payload and the log's record of a message, as JSON under zlib; apart, since no context reads them.
CREATE TABLE payloads (
    space    text COLLATE "C" NOT NULL,
    session  bigint NOT NULL,
    segment  bigint NOT NULL,
    position bigint NOT NULL,
    packed   bytea NOT NULL,
    PRIMARY KEY (space, session, segment, position)
) PARTITION BY HASH (space);

-- Where a branch stands; without a segment it stands before the first message.
CREATE TABLE branches (
    space    text COLLATE "C" NOT NULL,
    session  bigint NOT NULL,
    branch   text COLLATE "C" NOT NULL,
    segment  bigint,
    position bigint,
    checksum bigint NOT NULL,
    PRIMARY KEY (space, session, branch)
);

-- `segment` is that of the last message that is covered: a path through it holds all that the summary covers.
CREATE TABLE summaries (
    space          text COLLATE "C" NOT NULL,
    session        bigint NOT NULL,
    id             text COLLATE "C" NOT NULL,
    family         text COLLATE "C" NOT NULL,
    segment        bigint NOT NULL,
    first_position bigint NOT NULL,
    last_position  bigint NOT NULL,
    depth          bigint NOT NULL,
    record         text COLLATE "C" NOT NULL,
    checksum       bigint NOT NULL,
    PRIMARY KEY (space, session, id)
) PARTITION BY HASH (space);

CREATE INDEX summaries_by_place
    ON summaries (space, session, family, segment, first_position, last_position DESC, depth DESC, id);

CREATE TABLE rebuilds (
    space         text COLLATE "C" NOT NULL,
    session       bigint NOT NULL,
    family        text COLLATE "C" NOT NULL,
    budget_tokens bigint NOT NULL,
    segment       bigint NOT NULL,
    at_position   bigint NOT NULL,
    at            text COLLATE "C" NOT NULL,
    target_tokens bigint NOT NULL,
    taken_up      text COLLATE "C" NOT NULL DEFAULT '[]', -- JSON: a list of ids
    PRIMARY KEY (space, session, family, budget_tokens, segment, at_position)
);

-- `segment` is that of the message that it is at: a path through that message has the annotation.
CREATE TABLE annotations (
    space       text COLLATE "C" NOT NULL,
    session     bigint NOT NULL,
    id          text COLLATE "C" NOT NULL,
    segment     bigint NOT NULL,
    at_position bigint NOT NULL,
    record      text COLLATE "C" NOT NULL,
    checksum    bigint NOT NULL,
    PRIMARY KEY (space, session, id)
);

CREATE INDEX annotations_by_place ON annotations (space, session, segment, at_position, id);

-- How far a path was read into memories: on each of its segments up to this position, all before it included.
CREATE TABLE read_marks (
    space    text COLLATE "C" NOT NULL,
    session  bigint NOT NULL,
    segment  bigint NOT NULL,
    reader   text COLLATE "C" NOT NULL,
    position bigint NOT NULL,
    PRIMARY KEY (space, session, segment, reader)
);

-- What each session spent on a day. It goes by name, since what is spent on a session that is never made counts too.
CREATE TABLE spending (
    space   text COLLATE "C" NOT NULL,
    session text COLLATE "C" NOT NULL,
    day     text COLLATE "C" NOT NULL,
    calls   bigint NOT NULL,
    tokens  bigint NOT NULL,
    PRIMARY KEY (space, session, day)
);

CREATE INDEX spending_by_day ON spending (space, day);

-- Who is at which work of a session, and how work failed that nobody is at (then `holder` is empty). Times are
-- microseconds since 1970 in UTC, so that they compare exactly.
CREATE TABLE leases (
    space    text COLLATE "C" NOT NULL,
    session  bigint NOT NULL,
    work     text COLLATE "C" NOT NULL,
    holder   text COLLATE "C" NOT NULL,
    token    bigint NOT NULL,
    until    bigint NOT NULL,
    failures bigint NOT NULL,
    error    text COLLATE "C" NOT NULL,
    retry_at bigint,
    PRIMARY KEY (space, session, work)
);

-- One row a space, for the number with which its terms begin in both indexes. The counters are of what is in the
-- indexes: documents, and the terms of all together.
CREATE TABLE spaces (
    space         text COLLATE "C" NOT NULL PRIMARY KEY,
    number        bigint NOT NULL,
    messages      bigint NOT NULL DEFAULT 0,
    message_terms bigint NOT NULL DEFAULT 0,
    memories      bigint NOT NULL DEFAULT 0,
    memory_terms  bigint NOT NULL DEFAULT 0
);

-- The authors who speak in a space, as they are written, and in how many messages.
CREATE TABLE authors (
    space    text COLLATE "C" NOT NULL,
    author   text COLLATE "C" NOT NULL,
    messages bigint NOT NULL,
    PRIMARY KEY (space, author)
);

-- Which document a message is; none where there is nothing in it to search.
CREATE TABLE documents (
    space    text COLLATE "C" NOT NULL,
    session  bigint NOT NULL,
    segment  bigint NOT NULL,
    position bigint NOT NULL,
    document bigint,
    terms    bigint NOT NULL,
    PRIMARY KEY (space, session, segment, position)
) PARTITION BY HASH (space);

CREATE UNIQUE INDEX documents_by_number ON documents (space, session, document) WHERE document IS NOT NULL;
CREATE INDEX documents_due ON documents (space, document DESC) WHERE document IS NOT NULL;

-- The documents of messages that lie on no branch, as runs of numbers: the first and the last of each. A number begins
-- with the key of its session.
CREATE TABLE undone (
    space text COLLATE "C" NOT NULL,
    first bigint NOT NULL,
    last  bigint NOT NULL,
    PRIMARY KEY (space, first)
);

-- The terms are our own, each begins with the number of its space. Ranking them is ours as well. No key begins with the
-- space: of a space without statistics yet all documents would be read for the few that have a term.
CREATE TABLE message_words (
    space    text COLLATE "C" NOT NULL,
    document bigint NOT NULL,
    terms    text[] COLLATE "C" NOT NULL
) PARTITION BY HASH (space);

CREATE INDEX message_words_by_document ON message_words (document, space);

CREATE INDEX message_words_terms ON message_words USING gin (terms) WITH (fastupdate = off);

CREATE TABLE memory_words (
    space    text COLLATE "C" NOT NULL,
    document bigint NOT NULL,
    terms    text[] COLLATE "C" NOT NULL
) PARTITION BY HASH (space);

CREATE INDEX memory_words_by_document ON memory_words (document, space);

CREATE INDEX memory_words_terms ON memory_words USING gin (terms) WITH (fastupdate = off);

-- The last number that a memory of a space was given: none is ever given again.
CREATE TABLE memory_numbers (
    space text COLLATE "C" NOT NULL PRIMARY KEY,
    given bigint NOT NULL
);

-- What a memory is found by stands in columns, the whole of it in `record`. Times are microseconds since 1970 in UTC.
CREATE TABLE memories (
    space       text COLLATE "C" NOT NULL,
    number      bigint NOT NULL,
    id          text COLLATE "C" NOT NULL,
    kind        text COLLATE "C" NOT NULL,
    key         text COLLATE "C" NOT NULL,
    state       text COLLATE "C" NOT NULL,
    archived    bigint NOT NULL,
    subject     text COLLATE "C" NOT NULL, -- casefolded, as is the task type
    task_type   text COLLATE "C" NOT NULL,
    at          bigint NOT NULL,
    recorded    bigint NOT NULL,
    unreflected bigint NOT NULL,
    stale       bigint NOT NULL,
    document    bigint, -- its number in the index; none where it has no terms
    terms       bigint NOT NULL DEFAULT 0,
    record      text COLLATE "C" NOT NULL,
    cue         text COLLATE "C" NOT NULL DEFAULT '', -- of a lesson: the name of the claim that it makes
    checksum    bigint NOT NULL,
    PRIMARY KEY (space, number),
    UNIQUE (space, id)
) PARTITION BY HASH (space);

CREATE INDEX memories_by_key ON memories (space, kind, key, recorded, id);
CREATE INDEX memories_by_time ON memories (space, at DESC, id);
CREATE INDEX memories_by_kind ON memories (space, kind, at DESC, id);
CREATE INDEX memories_by_subject ON memories (space, subject, at DESC, id) WHERE subject <> '';
CREATE INDEX memories_by_task ON memories (space, task_type, at DESC, id) WHERE task_type <> '';
CREATE INDEX memories_unreflected ON memories (space, kind, at DESC, id) WHERE unreflected = 1;
CREATE INDEX memories_stale ON memories (space, at DESC, id) WHERE stale = 1;
CREATE INDEX memories_by_cue ON memories (space, cue, at DESC, id) WHERE cue <> '';

-- What a memory's evidence names: the ids of messages, of summaries and of other memories.
CREATE TABLE memory_sources (
    space  text COLLATE "C" NOT NULL,
    source text COLLATE "C" NOT NULL,
    number bigint NOT NULL,
    PRIMARY KEY (space, source, number)
) PARTITION BY HASH (space);

-- The projects that a memory's evidence is of, as far as that was known when it was stored; empty: of none.
CREATE TABLE memory_projects (
    space   text COLLATE "C" NOT NULL,
    number  bigint NOT NULL,
    project text COLLATE "C" NOT NULL,
    PRIMARY KEY (space, number, project)
);

CREATE INDEX memory_projects_named ON memory_projects (space, project) WHERE project NOT IN ('', '*');

CREATE TABLE pads (
    space    text COLLATE "C" NOT NULL,
    task     text COLLATE "C" NOT NULL,
    written  bigint NOT NULL,
    record   text COLLATE "C" NOT NULL,
    checksum bigint NOT NULL,
    PRIMARY KEY (space, task)
);

-- The vectors of one space, shelf and embedder go by the key of their set. `changes` numbers what becomes of them,
-- `kept` counts them, and of what went before `forgotten` nobody knows any more which documents lost theirs.
CREATE TABLE vector_sets (
    space      text COLLATE "C" NOT NULL,
    key        bigint NOT NULL,
    shelf      text COLLATE "C" NOT NULL,
    embedder   text COLLATE "C" NOT NULL,
    dimensions bigint NOT NULL,
    changes    bigint NOT NULL DEFAULT 0,
    kept       bigint NOT NULL DEFAULT 0,
    forgotten  bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (space, key),
    UNIQUE (space, shelf, embedder)
);

CREATE TABLE vectors (
    space      text COLLATE "C" NOT NULL,
    vector_set bigint NOT NULL,
    document   bigint NOT NULL,
    change     bigint NOT NULL,
    vector     bytea NOT NULL,
    checksum   bigint NOT NULL,
    PRIMARY KEY (space, vector_set, document)
) PARTITION BY HASH (space);

CREATE UNIQUE INDEX vectors_by_change ON vectors (space, vector_set, change);
CREATE INDEX vectors_by_document ON vectors (space, document);

-- Which documents lost their vector, so that a process that has them in memory learns of it.
CREATE TABLE vectors_gone (
    space      text COLLATE "C" NOT NULL,
    vector_set bigint NOT NULL,
    document   bigint NOT NULL,
    change     bigint NOT NULL,
    PRIMARY KEY (space, vector_set, document)
);

CREATE INDEX vectors_gone_by_change ON vectors_gone (space, vector_set, change);

-- The erasures after which dead rows may still lie in the tables: a row each, until they are cleaned.
CREATE TABLE scrubs (
    mark text COLLATE "C" NOT NULL PRIMARY KEY
);

-- The whole of a run stands in `record`, its diary included. Times are microseconds since 1970 in UTC.
CREATE TABLE runs (
    space    text COLLATE "C" NOT NULL,
    session  text COLLATE "C" NOT NULL,
    head     text COLLATE "C" NOT NULL, -- the id of the message up to which it was learned from
    ended    bigint,
    record   text COLLATE "C" NOT NULL,
    checksum bigint NOT NULL,
    PRIMARY KEY (space, session)
);

CREATE INDEX runs_by_time ON runs (space, ended DESC NULLS LAST, session);

-- A row for each claim in each run. What is summed up over all runs stands in columns, the whole of it in `record`.
CREATE TABLE sightings (
    space    text COLLATE "C" NOT NULL,
    cue      text COLLATE "C" NOT NULL,
    at       bigint NOT NULL, -- the smallest number that there is where the log has no times
    session  text COLLATE "C" NOT NULL,
    category text COLLATE "C" NOT NULL,
    project  text COLLATE "C" NOT NULL,
    held     bigint NOT NULL,
    broke    bigint NOT NULL,
    tokens   bigint NOT NULL,
    seconds  double precision NOT NULL,
    record   text COLLATE "C" NOT NULL,
    checksum bigint NOT NULL,
    PRIMARY KEY (space, cue, at, session)
);

CREATE INDEX sightings_by_claim ON sightings (space, cue, at DESC, session);
CREATE INDEX sightings_by_run ON sightings (space, session);

-- The files that were learned from, told by their content.
CREATE TABLE ledger (
    space   text COLLATE "C" NOT NULL,
    learner text COLLATE "C" NOT NULL,
    digest  text COLLATE "C" NOT NULL,
    record  text COLLATE "C" NOT NULL,
    PRIMARY KEY (space, learner, digest)
);

-- The traps of a space, compiled from its lessons for whoever asks before a call. They follow from lessons and from what
-- runs show, and are gone in the transaction that changes either: none outlives what it was made of.
CREATE TABLE traps (
    space   text COLLATE "C" NOT NULL PRIMARY KEY,
    version bigint NOT NULL, -- how the record is laid out
    needles text COLLATE "C" NOT NULL, -- words, a line each, of which one stands in every call that a trap may be about
    record  text COLLATE "C" NOT NULL
);

-- The partitions of what grows with the messages and the memories; and what is compared is compared byte by byte.
DO $$
DECLARE
    of_space record;
BEGIN
    FOR of_space IN SELECT relname FROM pg_class WHERE relkind = 'p' AND relnamespace = current_schema()::regnamespace LOOP
        FOR part IN 0..7 LOOP
            EXECUTE format(
                'CREATE TABLE %I PARTITION OF %I FOR VALUES WITH (MODULUS 8, REMAINDER %s)', of_space.relname || '_' || part, of_space.relname, part
            );
        END LOOP;
    END LOOP;
END $$;

-- No text of the database holds a NUL: there U+E000 and a 0 stand for it, and U+E000 and a 1 for that sign itself.

-- The bytes of a value as it was handed in, by which its row's checksum is reckoned.
CREATE FUNCTION bytes_of(anyelement) RETURNS bytea LANGUAGE sql IMMUTABLE STRICT AS $$
    SELECT CASE
        WHEN strpos($1::text, chr(57344)) = 0 THEN convert_to($1::text, 'UTF8')
        ELSE decode(
            replace(
                replace(encode(convert_to($1::text, 'UTF8'), 'escape'), '\356\200\2000', '\000'),
                '\356\200\2001', '\356\200\200'
            ), 'escape'
        )
    END
$$;

-- The texts of a JSON list, as the columns have them.
CREATE FUNCTION listed(text) RETURNS SETOF text LANGUAGE sql IMMUTABLE STRICT AS $$
    SELECT json_array_elements_text(
        CASE
            WHEN strpos($1, '\u0000') = 0 THEN $1
            ELSE regexp_replace($1, '(?<!\\)((?:\\\\)*)\\u0000', '\1' || chr(57344) || '0', 'g')
        END::json
    )
$$;

-- What follows from a row that goes or changes: nobody can forget it.

CREATE FUNCTION session_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    -- A key may be given again.
    DELETE FROM undone
    WHERE space = OLD.space AND first BETWEEN OLD.key << 31 AND ((OLD.key + 1) << 31) - 1;
    RETURN NULL;
END $$;
CREATE TRIGGER session_gone AFTER DELETE ON sessions FOR EACH ROW EXECUTE FUNCTION session_gone();

CREATE FUNCTION memory_unplaced() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM memory_projects WHERE space = OLD.space AND number = OLD.number;
    RETURN NULL;
END $$;
CREATE TRIGGER memory_unplaced AFTER DELETE ON memories FOR EACH ROW EXECUTE FUNCTION memory_unplaced();

CREATE FUNCTION vector_kept() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE vector_sets SET changes = NEW.change, kept = kept + 1 WHERE space = NEW.space AND key = NEW.vector_set;
    DELETE FROM vectors_gone WHERE space = NEW.space AND vector_set = NEW.vector_set AND document = NEW.document;
    RETURN NULL;
END $$;
CREATE TRIGGER vector_kept AFTER INSERT ON vectors FOR EACH ROW EXECUTE FUNCTION vector_kept();

CREATE FUNCTION vector_replaced() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE vector_sets SET changes = NEW.change WHERE space = NEW.space AND key = NEW.vector_set;
    RETURN NULL;
END $$;
CREATE TRIGGER vector_replaced AFTER UPDATE OF vector ON vectors FOR EACH ROW EXECUTE FUNCTION vector_replaced();

CREATE FUNCTION vector_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE vector_sets SET changes = changes + 1, kept = kept - 1 WHERE space = OLD.space AND key = OLD.vector_set;
    INSERT INTO vectors_gone (space, vector_set, document, change)
    SELECT space, key, OLD.document, changes FROM vector_sets WHERE space = OLD.space AND key = OLD.vector_set;
    RETURN NULL;
END $$;
CREATE TRIGGER vector_gone AFTER DELETE ON vectors FOR EACH ROW EXECUTE FUNCTION vector_gone();

-- Whoever takes out a document, for whatever reason, takes out its vectors with it.
CREATE FUNCTION drop_vectors() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM vectors
    WHERE space = OLD.space AND document = OLD.document AND vector_set IN (
        SELECT key FROM vector_sets WHERE space = OLD.space AND shelf = TG_ARGV[0]
    );
    RETURN NULL;
END $$;
CREATE TRIGGER document_gone AFTER DELETE ON documents FOR EACH ROW
WHEN (OLD.document IS NOT NULL) EXECUTE FUNCTION drop_vectors('messages');
CREATE TRIGGER document_changed AFTER UPDATE OF document ON documents FOR EACH ROW
WHEN (OLD.document IS NOT NULL AND OLD.document IS DISTINCT FROM NEW.document)
EXECUTE FUNCTION drop_vectors('messages');
CREATE TRIGGER memory_gone AFTER DELETE ON memories FOR EACH ROW
WHEN (OLD.document IS NOT NULL) EXECUTE FUNCTION drop_vectors('memories');
-- A vector is that of a text; a memory may come to say something else.
CREATE TRIGGER memory_changed AFTER UPDATE OF document, record ON memories FOR EACH ROW
WHEN (
    OLD.document IS NOT NULL AND (
        OLD.document IS DISTINCT FROM NEW.document
        OR (OLD.record::json -> 'text')::text IS DISTINCT FROM (NEW.record::json -> 'text')::text
    )
)
EXECUTE FUNCTION drop_vectors('memories');

CREATE FUNCTION drop_traps() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM traps WHERE space = coalesce(NEW.space, OLD.space);
    RETURN NULL;
END $$;
CREATE TRIGGER traps_without_new_lesson AFTER INSERT ON memories FOR EACH ROW
WHEN (NEW.cue <> '') EXECUTE FUNCTION drop_traps();
-- That a lesson was used changes nothing of what it says. No JSON of the database's own holds a NUL.
CREATE TRIGGER traps_without_old_lesson AFTER UPDATE ON memories FOR EACH ROW
WHEN (
    (OLD.cue <> '' OR NEW.cue <> '') AND (
        replace(OLD.record, '\u0000', '')::jsonb - '{uses,used,helped,harmed}'::text[]
        IS DISTINCT FROM replace(NEW.record, '\u0000', '')::jsonb - '{uses,used,helped,harmed}'::text[]
    )
)
EXECUTE FUNCTION drop_traps();
CREATE TRIGGER traps_without_lost_lesson AFTER DELETE ON memories FOR EACH ROW
WHEN (OLD.cue <> '') EXECUTE FUNCTION drop_traps();
CREATE TRIGGER traps_without_sightings AFTER INSERT OR UPDATE OR DELETE ON sightings FOR EACH ROW
EXECUTE FUNCTION drop_traps();

-- The second wall between spaces: whoever doesn't own the tables sees the rows of the space that its transaction names.
DO $$
DECLARE
    of_space record;
BEGIN
    FOR of_space IN
        SELECT c.relname FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attname = 'space'
        WHERE c.relkind IN ('r', 'p') AND c.relnamespace = current_schema()::regnamespace
    LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', of_space.relname);
        EXECUTE format(
            'CREATE POLICY own_space ON %I USING (space = current_setting(''ireneo.space'', true))', of_space.relname
        );
    END LOOP;
END $$;
