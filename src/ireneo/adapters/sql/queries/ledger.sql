-- The files that a space learned from.

-- name: mark_file
INSERT INTO ledger (space, learner, digest, record) VALUES (:space, :learner, :digest, :record)
ON CONFLICT (space, learner, digest) DO UPDATE SET record = excluded.record;

-- name: list_files
SELECT record FROM ledger WHERE space = :space ORDER BY learner, digest;

-- name: remove_file
DELETE FROM ledger WHERE space = :space AND learner = :learner AND digest = :digest;
