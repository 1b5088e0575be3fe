-- The queries on the file itself: opening it, the transactions in it, and its upkeep, over all spaces.

-- name: rows_of_messages
SELECT
    rowid, bytes_of(session), bytes_of(segment), bytes_of(position), bytes_of(id), bytes_of(parent), bytes_of(role),
    bytes_of(origin), bytes_of(turn), bytes_of(tokens), bytes_of(thinking_tokens), bytes_of(total_tokens),
    bytes_of(at), bytes_of(source_id), bytes_of(joined), bytes_of(parts), bytes_of(erased), checksum
FROM messages
WHERE rowid > :after
ORDER BY rowid
LIMIT :limit;

-- name: reset_message_words
INSERT INTO message_words (message_words) VALUES ('delete-all');

-- name: reset_memory_words
INSERT INTO memory_words (memory_words) VALUES ('delete-all');

-- name: list_indexes
SELECT name, tbl_name FROM sqlite_schema WHERE type = 'index';

-- name: observations_to_rename
SELECT space, cue, at, session, category, project, held, broke, tokens, record, checksum FROM sightings;

-- name: rename_observation
UPDATE sightings SET cue = :cue, record = :record, checksum = :checksum
WHERE space = :space AND cue = :was AND at = :at AND session = :session;

-- name: lessons_to_rename
SELECT
    space, id, kind, key, state, archived, subject, task_type, at, recorded, unreflected, stale, cue, record, checksum
FROM memories
WHERE cue <> '';

-- name: rename_lesson
UPDATE memories SET cue = :cue, record = :record, checksum = :checksum WHERE space = :space AND id = :id;

-- name: recognise
SELECT (SELECT application_id FROM pragma_application_id), (SELECT count(*) FROM sqlite_schema);

-- name: find_migrations
SELECT number FROM migrations ORDER BY number;

-- name: record_migration
INSERT INTO migrations (number, name, applied_at) VALUES (:number, :name, datetime('now'));

-- name: begin_write
BEGIN IMMEDIATE;

-- name: take_snapshot
-- SQLite takes its snapshot at the first row that is read, and not at BEGIN.
SELECT number FROM migrations LIMIT 1;

-- name: read_format
SELECT user_version FROM pragma_user_version;

-- name: list_all_sessions
SELECT key, space FROM sessions ORDER BY key;

-- name: refresh_words
-- Before the check: it would else compare what the connection remembers of an index with what others wrote since.
SELECT 1 FROM (SELECT rowid FROM message_words LIMIT 1)
UNION ALL
SELECT 1 FROM (SELECT rowid FROM memory_words LIMIT 1);

-- name: check_file
PRAGMA integrity_check(20);

-- name: overwrite_deleted
-- From now on what this connection deletes is overwritten with zeros at once.
PRAGMA secure_delete = ON;

-- name: settle_message_words
-- An index of words only notes that a document is gone; its terms leave the file when all is merged into one segment.
INSERT INTO message_words (message_words) VALUES ('optimize');

-- name: settle_memory_words
INSERT INTO memory_words (memory_words) VALUES ('optimize');

-- name: vacuum
VACUUM;

-- name: empty_wal
PRAGMA wal_checkpoint(TRUNCATE);
