-- The scratchpads of a space.

-- name: read_pad
SELECT record FROM pads WHERE space = :space AND task = :task;

-- name: write_pad
INSERT INTO pads (space, task, written, record) VALUES (:space, :task, :written, :record)
ON CONFLICT (space, task) DO UPDATE SET written = excluded.written, record = excluded.record;

-- name: remove_pad
DELETE FROM pads WHERE space = :space AND task = :task;

-- name: list_pads
SELECT record FROM pads WHERE space = :space ORDER BY written DESC, task;
