-- Erasure: what was said goes, and the place where it was said stays.

-- 1: what the message said was forgotten, and only its place is left.
ALTER TABLE messages ADD COLUMN erased INTEGER NOT NULL DEFAULT 0;

CREATE INDEX messages_erased ON messages (session) WHERE erased = 1;

-- The erasures after which old pages may still lie in the file or its WAL: a row each, until the file is scrubbed.
CREATE TABLE scrubs (
    mark TEXT NOT NULL PRIMARY KEY
) STRICT, WITHOUT ROWID;
