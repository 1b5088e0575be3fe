-- Who is at which work of a session.

-- name: read_lease
SELECT work, holder, token, until, failures, error, retry_at
FROM leases
WHERE {space = :space AND} session = :key AND work = :work;

-- name: next_token
UPDATE sessions SET leased = leased + 1 WHERE {space = :space AND} key = :key RETURNING leased;

-- name: put_lease
INSERT INTO leases ({space,} session, work, holder, token, until, failures, error, retry_at)
VALUES ({:space,} :key, :work, :holder, :token, :until, :failures, :error, :retry_at)
ON CONFLICT ({space,} session, work) DO UPDATE SET
    holder = excluded.holder,
    token = excluded.token,
    until = excluded.until,
    failures = excluded.failures,
    error = excluded.error,
    retry_at = excluded.retry_at;

-- name: delete_lease
DELETE FROM leases WHERE {space = :space AND} session = :key AND work = :work;

-- name: list_leases
SELECT work, holder, token, until, failures, error, retry_at
FROM leases
WHERE {space = :space AND} session = :key
ORDER BY work;
