-- The log, the sessions in it, the summaries and annotations over it, the marks of rebuilds, what was spent, who is at
-- which work, what was learned, and what finds all that by its words.

PRAGMA application_id = 1232236143; -- 'Irno' in ASCII: by this a file is known to be ours

CREATE TABLE migrations (
    number     INTEGER PRIMARY KEY,
    name       TEXT NOT NULL,
    applied_at TEXT NOT NULL
) STRICT;

-- One row a session. `key` stands for (space, session) in every other table, so that a space leads every key there
-- without being written into each row; `appended` orders the sessions of a space; the counters save a scan.
CREATE TABLE sessions (
    key      INTEGER PRIMARY KEY,
    space    TEXT NOT NULL,
    session  TEXT NOT NULL,
    source   TEXT,
    appended INTEGER NOT NULL,
    messages INTEGER NOT NULL DEFAULT 0,
    tokens   INTEGER NOT NULL DEFAULT 0,
    first_at TEXT,
    last_at  TEXT,
    leased   INTEGER NOT NULL DEFAULT 0, -- the last token that a lease of the session was given
    documents INTEGER NOT NULL DEFAULT 0, -- how many documents its messages were ever given; it never falls back
    project  TEXT, -- the project that it worked on; empty: none that is known; NULL: nobody looked yet
    UNIQUE (space, session)
) STRICT;

CREATE INDEX sessions_by_append ON sessions (space, appended);
CREATE INDEX sessions_unplaced ON sessions (space) WHERE project IS NULL;

-- A session's tree: a segment continues its parent after position `first - 1`; without a parent it is a root.
CREATE TABLE segments (
    session INTEGER NOT NULL,
    segment INTEGER NOT NULL,
    parent  INTEGER,
    first   INTEGER NOT NULL,
    PRIMARY KEY (session, segment)
) STRICT, WITHOUT ROWID;

-- `position` counts from the root of the path and not from the start of the segment. The rows are too wide for
-- WITHOUT ROWID, which spills what is over a quarter of a page.
CREATE TABLE messages (
    session         INTEGER NOT NULL,
    segment         INTEGER NOT NULL,
    position        INTEGER NOT NULL,
    id              TEXT NOT NULL,
    parent          TEXT,
    role            TEXT NOT NULL,
    origin          TEXT NOT NULL,
    turn            INTEGER NOT NULL,
    tokens          INTEGER NOT NULL,
    thinking_tokens INTEGER NOT NULL,
    total_tokens    INTEGER NOT NULL,
    at              TEXT,
    source_id       TEXT,
    joined          INTEGER NOT NULL,
    parts           TEXT NOT NULL,
    erased          INTEGER NOT NULL DEFAULT 0, -- 1: what it said was forgotten, and only its place is left
    checksum        INTEGER, -- of what stands in the row; none of one that an earlier version wrote
    PRIMARY KEY (session, segment, position),
    UNIQUE (session, id)
) STRICT;

CREATE INDEX messages_by_source ON messages (session, source_id) WHERE source_id IS NOT NULL;
CREATE INDEX messages_erased ON messages (session) WHERE erased = 1;

-- The provider's payload and the log's record of a message, as JSON under zlib; apart, since no context reads them.
CREATE TABLE payloads (
    session  INTEGER NOT NULL,
    segment  INTEGER NOT NULL,
    position INTEGER NOT NULL,
    packed   BLOB NOT NULL,
    PRIMARY KEY (session, segment, position)
) STRICT;

-- Where a branch stands; without a segment it stands before the first message.
CREATE TABLE branches (
    session  INTEGER NOT NULL,
    branch   TEXT NOT NULL,
    segment  INTEGER,
    position INTEGER,
    checksum INTEGER,
    PRIMARY KEY (session, branch)
) STRICT, WITHOUT ROWID;

-- `segment` is that of the last message that is covered: a path through it holds all that the summary covers.
CREATE TABLE summaries (
    session        INTEGER NOT NULL,
    id             TEXT NOT NULL,
    family         TEXT NOT NULL,
    segment        INTEGER NOT NULL,
    first_position INTEGER NOT NULL,
    last_position  INTEGER NOT NULL,
    depth          INTEGER NOT NULL,
    record         TEXT NOT NULL,
    checksum       INTEGER,
    PRIMARY KEY (session, id)
) STRICT;

CREATE INDEX summaries_by_place
    ON summaries (session, family, segment, first_position, last_position DESC, depth DESC, id);

CREATE TABLE rebuilds (
    session       INTEGER NOT NULL,
    family        TEXT NOT NULL,
    budget_tokens INTEGER NOT NULL,
    segment       INTEGER NOT NULL,
    at_position INTEGER NOT NULL,
    at            TEXT NOT NULL,
    target_tokens INTEGER NOT NULL,
    taken_up      TEXT NOT NULL DEFAULT '[]', -- JSON: a list of ids
    PRIMARY KEY (session, family, budget_tokens, segment, at_position)
) STRICT, WITHOUT ROWID;

-- `segment` is that of the message that it is at: a path through that message has the annotation.
CREATE TABLE annotations (
    session     INTEGER NOT NULL,
    id          TEXT NOT NULL,
    segment     INTEGER NOT NULL,
    at_position INTEGER NOT NULL,
    record      TEXT NOT NULL,
    checksum    INTEGER,
    PRIMARY KEY (session, id)
) STRICT;

CREATE INDEX annotations_by_place ON annotations (session, segment, at_position, id);

-- How far a path was read into memories: on each of its segments up to this position, all before it included.
CREATE TABLE read_marks (
    session  INTEGER NOT NULL,
    segment  INTEGER NOT NULL,
    reader   TEXT NOT NULL,
    position INTEGER NOT NULL,
    PRIMARY KEY (session, segment, reader)
) STRICT, WITHOUT ROWID;

-- What each session spent on a day. It goes by name, since what is spent on a session that is never made counts too.
CREATE TABLE spending (
    space   TEXT NOT NULL,
    session TEXT NOT NULL,
    day     TEXT NOT NULL,
    calls   INTEGER NOT NULL,
    tokens  INTEGER NOT NULL,
    PRIMARY KEY (space, session, day)
) STRICT, WITHOUT ROWID;

-- The counters stand in it too: without them SQLite would rather read all that the space ever spent.
CREATE INDEX spending_by_day ON spending (space, day, calls, tokens);

-- Who is at which work of a session, and how work failed that nobody is at (then `holder` is empty). Times are
-- microseconds since 1970 in UTC, so that they compare exactly.
CREATE TABLE leases (
    session  INTEGER NOT NULL,
    work     TEXT NOT NULL,
    holder   TEXT NOT NULL,
    token    INTEGER NOT NULL,
    until    INTEGER NOT NULL,
    failures INTEGER NOT NULL,
    error    TEXT NOT NULL,
    retry_at INTEGER,
    PRIMARY KEY (session, work)
) STRICT, WITHOUT ROWID;

-- One row a space, for its number, which begins its terms in both indexes: the postings of a term are then those of one
-- space alone. The counters are of what is in the indexes: documents, and the terms of all together.
CREATE TABLE spaces (
    number        INTEGER PRIMARY KEY,
    space         TEXT NOT NULL,
    messages      INTEGER NOT NULL DEFAULT 0,
    message_terms INTEGER NOT NULL DEFAULT 0,
    memories      INTEGER NOT NULL DEFAULT 0,
    memory_terms  INTEGER NOT NULL DEFAULT 0,
    UNIQUE (space)
) STRICT;

-- The authors who speak in a space, as they are written, and in how many messages.
CREATE TABLE authors (
    space    TEXT NOT NULL,
    author   TEXT NOT NULL,
    messages INTEGER NOT NULL,
    PRIMARY KEY (space, author)
) STRICT, WITHOUT ROWID;

-- Which document a message is; none where there is nothing in it to search. Every message has its row, unless it was
-- stored by a version that knew of no index.
CREATE TABLE documents (
    session  INTEGER NOT NULL,
    segment  INTEGER NOT NULL,
    position INTEGER NOT NULL,
    document INTEGER,
    terms    INTEGER NOT NULL,
    PRIMARY KEY (session, segment, position)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX documents_by_number ON documents (session, document) WHERE document IS NOT NULL;

-- The documents of messages that lie on no branch, as runs of numbers: the first and the last of each. A number begins
-- with the key of its session.
CREATE TABLE undone (
    space TEXT NOT NULL,
    first INTEGER NOT NULL,
    last  INTEGER NOT NULL,
    PRIMARY KEY (space, first)
) STRICT, WITHOUT ROWID;

-- A key may be given again.
CREATE TRIGGER session_gone AFTER DELETE ON sessions BEGIN
    DELETE FROM undone
    WHERE space = OLD.space AND first BETWEEN OLD.key << 31 AND ((OLD.key + 1) << 31) - 1;
END;

-- The terms are our own, each one token: letters, digits, `_` and whatever is not ASCII. Nothing but the terms is kept.
CREATE VIRTUAL TABLE message_words USING fts5 (
    terms, content = '', contentless_delete = 1, detail = none, tokenize = "ascii tokenchars '_'"
);

CREATE VIRTUAL TABLE memory_words USING fts5 (
    terms, content = '', contentless_delete = 1, detail = none, tokenize = "ascii tokenchars '_'"
);

-- `number` is never given again. What a memory is found by stands in columns, the whole of it in `record`. Times are
-- microseconds since 1970 in UTC, so that they compare exactly.
CREATE TABLE memories (
    number      INTEGER PRIMARY KEY AUTOINCREMENT,
    space       TEXT NOT NULL,
    id          TEXT NOT NULL,
    kind        TEXT NOT NULL,
    key         TEXT NOT NULL,
    state       TEXT NOT NULL,
    archived    INTEGER NOT NULL,
    subject     TEXT NOT NULL, -- casefolded, as is the task type
    task_type   TEXT NOT NULL,
    at          INTEGER NOT NULL,
    recorded    INTEGER NOT NULL,
    unreflected INTEGER NOT NULL,
    stale       INTEGER NOT NULL,
    document    INTEGER, -- its number in the index; none where it has no terms
    terms       INTEGER NOT NULL DEFAULT 0,
    record      TEXT NOT NULL,
    cue         TEXT NOT NULL DEFAULT '', -- of a lesson: the name of the claim that it makes
    checksum    INTEGER,
    UNIQUE (space, id)
) STRICT;

CREATE INDEX memories_by_key ON memories (space, kind, key, recorded, id);
CREATE INDEX memories_by_time ON memories (space, at DESC, id);
CREATE INDEX memories_by_kind ON memories (space, kind, at DESC, id);
CREATE INDEX memories_by_subject ON memories (space, subject, at DESC, id) WHERE subject <> '';
CREATE INDEX memories_by_task ON memories (space, task_type, at DESC, id) WHERE task_type <> '';
CREATE INDEX memories_unreflected ON memories (space, kind, at DESC, id) WHERE unreflected = 1;
CREATE INDEX memories_stale ON memories (space, at DESC, id) WHERE stale = 1;
CREATE INDEX memories_by_cue ON memories (space, cue, at DESC, id) WHERE cue <> '';
CREATE INDEX memories_lessons ON memories (space, at DESC, id) WHERE cue <> '';

-- What a memory's evidence names: the ids of messages, of summaries and of other memories.
CREATE TABLE memory_sources (
    space  TEXT NOT NULL,
    source TEXT NOT NULL,
    number INTEGER NOT NULL,
    PRIMARY KEY (space, source, number)
) STRICT, WITHOUT ROWID;

-- The projects that a memory's evidence is of, as far as that was known when it was stored; empty: of none. A memory
-- without a row was stored by an earlier version.
CREATE TABLE memory_projects (
    space   TEXT NOT NULL,
    number  INTEGER NOT NULL,
    project TEXT NOT NULL,
    PRIMARY KEY (space, number, project)
) STRICT, WITHOUT ROWID;

-- Whether a space knows of any other project than one is asked with each recall from a project.
CREATE INDEX memory_projects_named ON memory_projects (space, project) WHERE project NOT IN ('', '*');

CREATE TRIGGER memory_unplaced AFTER DELETE ON memories BEGIN
    DELETE FROM memory_projects WHERE space = OLD.space AND number = OLD.number;
END;

CREATE TABLE pads (
    space   TEXT NOT NULL,
    task    TEXT NOT NULL,
    written INTEGER NOT NULL,
    record  TEXT NOT NULL,
    checksum INTEGER,
    PRIMARY KEY (space, task)
) STRICT, WITHOUT ROWID;

-- The vectors of one space, shelf and embedder go by the key of their set. `changes` numbers what becomes of them,
-- `kept` counts them, and of what went before `forgotten` nobody knows any more which documents lost theirs.
CREATE TABLE vector_sets (
    key        INTEGER PRIMARY KEY,
    space      TEXT NOT NULL,
    shelf      TEXT NOT NULL,
    embedder   TEXT NOT NULL,
    dimensions INTEGER NOT NULL,
    changes    INTEGER NOT NULL DEFAULT 0,
    kept       INTEGER NOT NULL DEFAULT 0,
    forgotten  INTEGER NOT NULL DEFAULT 0,
    UNIQUE (space, shelf, embedder)
) STRICT;

-- With a row's own key first: in a table without one, a vector of a thousand bytes or more would take a page of its own.
CREATE TABLE vectors (
    number     INTEGER PRIMARY KEY,
    vector_set INTEGER NOT NULL,
    document   INTEGER NOT NULL,
    change     INTEGER NOT NULL,
    vector     BLOB NOT NULL
    , checksum INTEGER) STRICT;

CREATE UNIQUE INDEX vectors_by_document ON vectors (document, vector_set);
CREATE UNIQUE INDEX vectors_by_change ON vectors (vector_set, change);

-- Which documents lost their vector, so that a process that has them in memory learns of it.
CREATE TABLE vectors_gone (
    vector_set INTEGER NOT NULL,
    document   INTEGER NOT NULL,
    change     INTEGER NOT NULL,
    PRIMARY KEY (vector_set, document)
) STRICT, WITHOUT ROWID;

CREATE INDEX vectors_gone_by_change ON vectors_gone (vector_set, change);

CREATE TRIGGER vector_kept AFTER INSERT ON vectors BEGIN
    UPDATE vector_sets SET changes = NEW.change, kept = kept + 1 WHERE key = NEW.vector_set;
    DELETE FROM vectors_gone WHERE vector_set = NEW.vector_set AND document = NEW.document;
END;

CREATE TRIGGER vector_replaced AFTER UPDATE OF vector ON vectors BEGIN
    UPDATE vector_sets SET changes = NEW.change WHERE key = NEW.vector_set;
END;

CREATE TRIGGER vector_gone AFTER DELETE ON vectors BEGIN
    UPDATE vector_sets SET changes = changes + 1, kept = kept - 1 WHERE key = OLD.vector_set;
    INSERT INTO vectors_gone (vector_set, document, change)
    SELECT key, OLD.document, changes FROM vector_sets WHERE key = OLD.vector_set;
END;

-- Whoever takes out a document, for whatever reason, takes out its vectors with it: nobody can forget to.
CREATE TRIGGER document_gone AFTER DELETE ON documents WHEN OLD.document IS NOT NULL BEGIN
    DELETE FROM vectors WHERE document = OLD.document
    AND EXISTS (SELECT 1 FROM vector_sets WHERE key = vector_set AND shelf = 'messages');
END;

CREATE TRIGGER document_changed AFTER UPDATE OF document ON documents
WHEN OLD.document IS NOT NULL AND OLD.document IS NOT NEW.document BEGIN
    DELETE FROM vectors WHERE document = OLD.document
    AND EXISTS (SELECT 1 FROM vector_sets WHERE key = vector_set AND shelf = 'messages');
END;

CREATE TRIGGER memory_gone AFTER DELETE ON memories WHEN OLD.document IS NOT NULL BEGIN
    DELETE FROM vectors WHERE document = OLD.document
    AND EXISTS (SELECT 1 FROM vector_sets WHERE key = vector_set AND shelf = 'memories');
END;

-- A vector is that of a text; a memory may come to say something else.
CREATE TRIGGER memory_changed AFTER UPDATE OF document, record ON memories
WHEN OLD.document IS NOT NULL AND (
    OLD.document IS NOT NEW.document
    OR json_extract(OLD.record, '$.text') IS NOT json_extract(NEW.record, '$.text')
) BEGIN
    DELETE FROM vectors WHERE document = OLD.document
    AND EXISTS (SELECT 1 FROM vector_sets WHERE key = vector_set AND shelf = 'memories');
END;
-- The erasures after which old pages may still lie in the file or its WAL: a row each, until the file is scrubbed.
CREATE TABLE scrubs (
    mark TEXT NOT NULL PRIMARY KEY
) STRICT, WITHOUT ROWID;

-- The whole of a run stands in `record`, its diary included. Times are microseconds since 1970 in UTC.
CREATE TABLE runs (
    space   TEXT NOT NULL,
    session TEXT NOT NULL,
    head    TEXT NOT NULL, -- the id of the message up to which it was learned from
    ended   INTEGER,
    record  TEXT NOT NULL,
    checksum INTEGER,
    PRIMARY KEY (space, session)
) STRICT, WITHOUT ROWID;

CREATE INDEX runs_by_time ON runs (space, ended DESC, session);

-- A row for each claim in each run. They lie by claim, the newest first, as they are asked for. What is summed up over
-- all runs stands in columns, the whole of it in `record`.
CREATE TABLE sightings (
    space    TEXT NOT NULL,
    cue      TEXT NOT NULL,
    at       INTEGER NOT NULL, -- the smallest number that there is where the log has no times
    session  TEXT NOT NULL,
    category TEXT NOT NULL,
    project  TEXT NOT NULL,
    held     INTEGER NOT NULL,
    broke    INTEGER NOT NULL,
    tokens   INTEGER NOT NULL,
    seconds  REAL NOT NULL,
    record   TEXT NOT NULL,
    checksum INTEGER,
    PRIMARY KEY (space, cue, at DESC, session)
) STRICT, WITHOUT ROWID;

CREATE INDEX sightings_by_run ON sightings (space, session);

-- The files that were learned from, told by their content.
CREATE TABLE ledger (
    space   TEXT NOT NULL,
    learner TEXT NOT NULL,
    digest  TEXT NOT NULL,
    record  TEXT NOT NULL,
    PRIMARY KEY (space, learner, digest)
) STRICT, WITHOUT ROWID;

-- The traps of a space, compiled for whoever asks before a call. They follow from lessons, from what runs show, and from
-- failures that were told, and are gone in the transaction that changes one: none outlives what it was made of.
CREATE TABLE traps (
    space   TEXT NOT NULL PRIMARY KEY,
    version INTEGER NOT NULL, -- how the record is laid out
    needles TEXT NOT NULL, -- words, a line each, of which one stands in every call that a trap may be about
    record  TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TRIGGER traps_without_new_lesson AFTER INSERT ON memories WHEN NEW.cue <> '' OR NEW.kind = 'failure' BEGIN
    DELETE FROM traps WHERE space = NEW.space;
END;

-- That a lesson was used changes nothing of what it says.
CREATE TRIGGER traps_without_old_lesson AFTER UPDATE ON memories
WHEN (OLD.cue <> '' OR NEW.cue <> '' OR OLD.kind = 'failure' OR NEW.kind = 'failure') AND (
    json_remove(OLD.record, '$.uses', '$.used', '$.helped', '$.harmed')
    IS NOT json_remove(NEW.record, '$.uses', '$.used', '$.helped', '$.harmed')
) BEGIN
    DELETE FROM traps WHERE space = NEW.space;
END;

CREATE TRIGGER traps_without_lost_lesson AFTER DELETE ON memories WHEN OLD.cue <> '' OR OLD.kind = 'failure' BEGIN
    DELETE FROM traps WHERE space = OLD.space;
END;

CREATE TRIGGER traps_without_new_sighting AFTER INSERT ON sightings BEGIN
    DELETE FROM traps WHERE space = NEW.space;
END;

CREATE TRIGGER traps_without_old_sighting AFTER UPDATE ON sightings BEGIN
    DELETE FROM traps WHERE space = NEW.space;
END;

CREATE TRIGGER traps_without_lost_sighting AFTER DELETE ON sightings BEGIN
    DELETE FROM traps WHERE space = OLD.space;
END;
