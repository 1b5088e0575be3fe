-- The traps of a space, compiled from its lessons and from failures that were told.

-- name: read_traps
SELECT record FROM traps WHERE space = :space AND version = :version;

-- name: due_traps
SELECT
    (
        EXISTS (SELECT 1 FROM memories WHERE space = :space AND cue <> '')
        OR EXISTS (SELECT 1 FROM memories WHERE space = :space AND kind = 'failure')
    )
    AND NOT EXISTS (SELECT 1 FROM traps WHERE space = :space AND version = :version);

-- name: keep_traps
INSERT INTO traps (space, version, needles, record) VALUES (:space, :version, :needles, :record)
ON CONFLICT (space) DO UPDATE
SET version = excluded.version, needles = excluded.needles, record = excluded.record;

-- name: delete_traps
DELETE FROM traps WHERE space = :space;
