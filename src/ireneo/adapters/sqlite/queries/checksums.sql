-- What stands in the rows that have a checksum, over all spaces, as bytes: what can't be read as text must be told, too.
-- Each query gives the columns that its checksum covers in their order, then the checksum.

-- name: rows_of_messages
SELECT
    rowid, CAST(session AS BLOB), CAST(segment AS BLOB), CAST(position AS BLOB), CAST(id AS BLOB), CAST(parent AS BLOB),
    CAST(role AS BLOB), CAST(origin AS BLOB), CAST(turn AS BLOB), CAST(tokens AS BLOB), CAST(thinking_tokens AS BLOB),
    CAST(total_tokens AS BLOB), CAST(at AS BLOB), CAST(source_id AS BLOB), CAST(joined AS BLOB), CAST(parts AS BLOB),
    CAST(erased AS BLOB), checksum
FROM messages
WHERE rowid > :after
ORDER BY rowid
LIMIT :limit;

-- name: rows_of_payloads
SELECT CAST(session AS BLOB), CAST(position AS BLOB), packed FROM payloads;

-- name: rows_of_branches
SELECT
    CAST(session AS BLOB), CAST(branch AS BLOB), CAST(segment AS BLOB), CAST(position AS BLOB), checksum
FROM branches;

-- name: rows_of_summaries
SELECT
    CAST(session AS BLOB), CAST(id AS BLOB), CAST(family AS BLOB), CAST(segment AS BLOB), CAST(first_position AS BLOB),
    CAST(last_position AS BLOB), CAST(depth AS BLOB), CAST(record AS BLOB), checksum
FROM summaries;

-- name: rows_of_annotations
SELECT
    CAST(session AS BLOB), CAST(id AS BLOB), CAST(segment AS BLOB), CAST(at_position AS BLOB), CAST(record AS BLOB),
    checksum
FROM annotations;

-- name: rows_of_memories
SELECT
    CAST(space AS BLOB), CAST(id AS BLOB), CAST(kind AS BLOB), CAST(key AS BLOB), CAST(state AS BLOB),
    CAST(archived AS BLOB), CAST(subject AS BLOB), CAST(task_type AS BLOB), CAST(at AS BLOB), CAST(recorded AS BLOB),
    CAST(unreflected AS BLOB), CAST(stale AS BLOB), CAST(cue AS BLOB), CAST(record AS BLOB), checksum
FROM memories;

-- name: rows_of_pads
SELECT CAST(space AS BLOB), CAST(task AS BLOB), CAST(written AS BLOB), CAST(record AS BLOB), checksum FROM pads;

-- name: rows_of_runs
SELECT
    CAST(space AS BLOB), CAST(session AS BLOB), CAST(head AS BLOB), CAST(ended AS BLOB), CAST(record AS BLOB), checksum
FROM runs;

-- name: rows_of_sightings
SELECT
    CAST(space AS BLOB), CAST(session AS BLOB), CAST(cue AS BLOB), CAST(at AS BLOB), CAST(category AS BLOB),
    CAST(project AS BLOB), CAST(held AS BLOB), CAST(broke AS BLOB), CAST(tokens AS BLOB), CAST(record AS BLOB), checksum
FROM sightings;

-- name: rows_of_vectors
SELECT CAST(number AS BLOB), CAST(vector_set AS BLOB), CAST(document AS BLOB), vector, checksum FROM vectors;

-- name: name_of_session
SELECT CAST(space AS BLOB), CAST(session AS BLOB) FROM sessions WHERE key = :key;

-- name: drop_vector
DELETE FROM vectors WHERE number = :number;

-- name: reset_message_words
INSERT INTO message_words (message_words) VALUES ('delete-all');

-- name: reset_memory_words
INSERT INTO memory_words (memory_words) VALUES ('delete-all');

-- name: list_indexes
SELECT name, tbl_name FROM sqlite_schema WHERE type = 'index';
