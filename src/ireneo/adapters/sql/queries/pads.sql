-- The scratchpads of a space.

-- name: read_pad
SELECT record FROM pads WHERE space = :space AND task = :task;

-- name: write_pad
INSERT INTO pads (space, task, written, record, checksum) VALUES (:space, :task, :written, :record, :checksum)
ON CONFLICT (space, task) DO UPDATE
SET written = excluded.written, record = excluded.record, checksum = excluded.checksum;

-- name: remove_pad
DELETE FROM pads WHERE space = :space AND task = :task;

-- name: list_pads
SELECT record FROM pads WHERE space = :space ORDER BY written DESC, task;
