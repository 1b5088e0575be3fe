-- Opening a file, and the transactions in it.

-- name: recognise
SELECT (SELECT application_id FROM pragma_application_id), (SELECT count(*) FROM sqlite_schema);

-- name: find_migrations
SELECT number FROM migrations ORDER BY number;

-- name: record_migration
INSERT INTO migrations (number, name, applied_at) VALUES (:number, :name, datetime('now'));

-- name: begin_write
BEGIN IMMEDIATE;

-- name: begin_read
BEGIN;

-- name: take_snapshot
-- SQLite takes its snapshot at the first row that is read, and not at BEGIN.
SELECT number FROM migrations LIMIT 1;

-- name: commit
COMMIT;

-- name: roll_back
ROLLBACK;

-- name: read_format
SELECT user_version FROM pragma_user_version;

-- name: list_all_sessions
SELECT key, space FROM sessions ORDER BY key;

-- name: list_all_spaces
SELECT space FROM spaces
UNION SELECT space FROM sessions
UNION SELECT space FROM memories
UNION SELECT space FROM pads
UNION SELECT space FROM runs
UNION SELECT space FROM ledger
ORDER BY 1;
