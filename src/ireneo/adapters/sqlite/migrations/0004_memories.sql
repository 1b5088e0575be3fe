-- Memories, scratchpads, and what finds messages and memories by their words.

-- How many documents the session's messages were ever given: the ordinal of the next one. It never falls back, so that
-- a number that was pruned doesn't come again for another message.
ALTER TABLE sessions ADD COLUMN documents INTEGER NOT NULL DEFAULT 0;

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
    UNIQUE (space, id)
) STRICT;

CREATE INDEX memories_by_key ON memories (space, kind, key, recorded, id);
CREATE INDEX memories_by_time ON memories (space, at DESC, id);
CREATE INDEX memories_by_kind ON memories (space, kind, at DESC, id);
CREATE INDEX memories_by_subject ON memories (space, subject, at DESC, id) WHERE subject <> '';
CREATE INDEX memories_by_task ON memories (space, task_type, at DESC, id) WHERE task_type <> '';
CREATE INDEX memories_unreflected ON memories (space, kind, at DESC, id) WHERE unreflected = 1;
CREATE INDEX memories_stale ON memories (space, at DESC, id) WHERE stale = 1;

-- What a memory's evidence names: the ids of messages, of summaries and of other memories.
CREATE TABLE memory_sources (
    space  TEXT NOT NULL,
    source TEXT NOT NULL,
    number INTEGER NOT NULL,
    PRIMARY KEY (space, source, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE pads (
    space   TEXT NOT NULL,
    task    TEXT NOT NULL,
    written INTEGER NOT NULL,
    record  TEXT NOT NULL,
    PRIMARY KEY (space, task)
) STRICT, WITHOUT ROWID;
