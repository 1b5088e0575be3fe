-- The bytes that an erasure leaves behind in the file.

-- name: overwrite_deleted
-- From now on what this connection deletes is overwritten with zeros at once.
PRAGMA secure_delete = ON;

-- name: add_scrub
INSERT INTO scrubs (mark) VALUES (:mark);

-- name: list_scrubs
SELECT mark FROM scrubs;

-- name: delete_scrub
DELETE FROM scrubs WHERE mark = :mark;

-- name: settle_message_words
-- An index of words only notes that a document is gone; its terms leave the file when all is merged into one segment.
INSERT INTO message_words (message_words) VALUES ('optimize');

-- name: settle_memory_words
INSERT INTO memory_words (memory_words) VALUES ('optimize');

-- name: vacuum
VACUUM;

-- name: empty_wal
PRAGMA wal_checkpoint(TRUNCATE);
