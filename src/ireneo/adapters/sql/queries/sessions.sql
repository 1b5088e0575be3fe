-- The sessions of a space.

-- name: find_session
SELECT key, first_at, last_at FROM sessions WHERE space = :space AND session = :session;

-- name: count_erased
SELECT count(*) FROM messages WHERE {space = :space AND} session = :key AND erased = 1;

-- name: create_session
INSERT INTO sessions (space, {key,} session, source, appended)
VALUES (
    :space,
    {(SELECT coalesce(max(key), 0) + 1 FROM sessions WHERE space = :space),}
    :session, :source,
    (SELECT coalesce(max(appended), 0) + 1 FROM sessions WHERE space = :space)
)
ON CONFLICT (space, session) DO NOTHING;

-- name: name_source
UPDATE sessions SET source = :source
WHERE space = :space AND session = :session AND source IS NULL;

-- name: list_sessions
SELECT session, source, messages, tokens, first_at, last_at, project
FROM sessions
WHERE space = :space
ORDER BY appended DESC;

-- name: get_session
SELECT session, source, messages, tokens, first_at, last_at, project
FROM sessions
WHERE space = :space AND session = :session;

-- name: count_messages
UPDATE sessions
SET messages = messages + :messages,
    tokens = tokens + :tokens,
    first_at = :first_at,
    last_at = :last_at,
    appended = (SELECT max(s.appended) + 1 FROM sessions AS s WHERE s.space = sessions.space)
WHERE {space = :space AND} key = :key;

-- name: list_branches
SELECT b.branch, m.id, m.position, m.turn, m.total_tokens
FROM branches AS b
LEFT JOIN messages AS m ON {m.space = b.space AND} m.session = b.session AND m.segment = b.segment
    AND m.position = b.position
WHERE {b.space = :space AND} b.session = :key
ORDER BY b.branch;

-- name: place_session
UPDATE sessions SET project = :project WHERE {space = :space AND} key = :key;

-- name: unplaced_sessions
SELECT session FROM sessions {sqlite: INDEXED BY sessions_unplaced} WHERE space = :space
    AND project IS NULL ORDER BY session;

-- name: project_of_session
SELECT project FROM sessions WHERE space = :space AND session = :session AND project <> '';
