-- What is taken out for good.

-- name: message_to_erase
SELECT
    session AS key, segment, position, id, parent, role, origin, turn, tokens, thinking_tokens, total_tokens, at, joined
FROM messages
WHERE {space = :space AND} session = :key AND id = :id;

-- name: erase_message
UPDATE messages SET source_id = NULL, parts = :parts, erased = 1, checksum = :checksum
WHERE {space = :space AND} session = :key AND id = :id;

-- name: delete_payload
DELETE FROM payloads WHERE {space = :space AND} session = :key AND segment = :segment AND position = :position;

-- name: delete_annotation
DELETE FROM annotations WHERE {space = :space AND} session = :key AND id = :id;

-- name: delete_rebuild
DELETE FROM rebuilds
WHERE {space = :space AND} session = :key AND family = :summarizer AND budget_tokens = :budget_tokens
    AND segment = :segment AND at_position = :at_position;

-- name: delete_messages
DELETE FROM messages WHERE {space = :space AND} session = :key;

-- name: delete_payloads
DELETE FROM payloads WHERE {space = :space AND} session = :key;

-- name: delete_segments
DELETE FROM segments WHERE {space = :space AND} session = :key;

-- name: delete_branches
DELETE FROM branches WHERE {space = :space AND} session = :key;

-- name: delete_summaries
DELETE FROM summaries WHERE {space = :space AND} session = :key;

-- name: delete_rebuilds
DELETE FROM rebuilds WHERE {space = :space AND} session = :key;

-- name: delete_annotations
DELETE FROM annotations WHERE {space = :space AND} session = :key;

-- name: delete_leases
DELETE FROM leases WHERE {space = :space AND} session = :key;

-- name: delete_session
DELETE FROM sessions WHERE {space = :space AND} key = :key;

-- name: list_keys
SELECT key FROM sessions WHERE space = :space;

-- name: unname_spending
-- What the session spent counts on for the space, on account of none.
INSERT INTO spending (space, session, day, calls, tokens)
SELECT space, '', day, calls, tokens FROM spending WHERE space = :space AND session = :session
ON CONFLICT (space, session, day)
DO UPDATE SET calls = {spending.}calls + excluded.calls, tokens = {spending.}tokens + excluded.tokens;

-- name: delete_spending_of_session
DELETE FROM spending WHERE space = :space AND session = :session;

-- name: delete_spending
DELETE FROM spending WHERE space = :space;

-- name: list_memory_ids
SELECT id FROM memories WHERE space = :space;

-- name: delete_pads
DELETE FROM pads WHERE space = :space;

-- name: delete_authors
DELETE FROM authors WHERE space = :space;

-- name: delete_runs
DELETE FROM runs WHERE space = :space;

-- name: delete_observations
DELETE FROM sightings WHERE space = :space;

-- name: delete_ledger
DELETE FROM ledger WHERE space = :space;

-- name: delete_space
DELETE FROM spaces WHERE space = :space;

-- name: add_scrub
INSERT INTO scrubs (mark) VALUES (:mark);

-- name: list_scrubs
SELECT mark FROM scrubs;

-- name: delete_scrub
DELETE FROM scrubs WHERE mark = :mark;
