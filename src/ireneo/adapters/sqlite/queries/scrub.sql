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

-- name: vacuum
VACUUM;

-- name: empty_wal
PRAGMA wal_checkpoint(TRUNCATE);
