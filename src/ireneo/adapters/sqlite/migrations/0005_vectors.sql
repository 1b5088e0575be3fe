-- The vectors by which messages and memories are found for what they mean.

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
) STRICT;

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
