-- Who is at which work of a session.

-- name: read_lease
SELECT work, holder, token, until, failures, error, retry_at
FROM leases
WHERE space = :space AND session = :key AND work = :work;

-- name: next_token
UPDATE sessions SET leased = leased + 1 WHERE space = :space AND key = :key RETURNING leased;

-- name: put_lease
INSERT INTO leases (space, session, work, holder, token, until, failures, error, retry_at)
VALUES (:space, :key, :work, :holder, :token, :until, :failures, :error, :retry_at)
ON CONFLICT (space, session, work) DO UPDATE SET
    holder = excluded.holder,
    token = excluded.token,
    until = excluded.until,
    failures = excluded.failures,
    error = excluded.error,
    retry_at = excluded.retry_at;

-- name: take_first_lease
-- Who is just writing to one of the sessions, or about to take it, is not waited for: the next is taken instead.
WITH free AS (
    SELECT s.key
    FROM json_array_elements_text((:sessions)::json) WITH ORDINALITY AS wanted (session, place)
    JOIN sessions AS s ON s.space = :space AND s.session = wanted.session
    LEFT JOIN leases AS l ON l.space = :space AND l.session = s.key AND l.work = :work
    WHERE (l.holder IS NULL OR l.holder IN ('', :holder) OR l.until <= :now OR l.until > :far)
        AND (l.retry_at IS NULL OR l.retry_at <= :now OR l.retry_at >= :tomorrow)
    ORDER BY wanted.place
    LIMIT 1
    FOR UPDATE OF s SKIP LOCKED
), numbered AS (
    UPDATE sessions AS s SET leased = s.leased + 1
    FROM free
    WHERE s.space = :space AND s.key = free.key
    RETURNING s.key, s.session, s.leased
), taken AS (
    INSERT INTO leases AS l (space, session, work, holder, token, until, failures, error, retry_at)
    SELECT :space, n.key, :work, :holder, n.leased, :until, 0, '', NULL FROM numbered AS n
    -- It may have been taken since this statement began.
    ON CONFLICT (space, session, work) DO UPDATE SET
        holder = excluded.holder, token = excluded.token, until = excluded.until, retry_at = NULL
    WHERE l.holder IN ('', :holder) OR l.until <= :now OR l.until > :far
    RETURNING l.token, l.failures, l.error
)
SELECT n.session, t.token, t.failures, t.error FROM numbered AS n JOIN taken AS t ON t.token = n.leased;

-- name: delete_lease
DELETE FROM leases WHERE space = :space AND session = :key AND work = :work;

-- name: list_leases
SELECT work, holder, token, until, failures, error, retry_at
FROM leases
WHERE space = :space AND session = :key
ORDER BY work;
