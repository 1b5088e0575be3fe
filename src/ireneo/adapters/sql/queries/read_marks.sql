-- How far paths were read into memories.

-- name: read_mark
SELECT position FROM read_marks WHERE {space = :space AND} session = :key AND segment = :segment AND reader = :reader;

-- name: put_read_mark
INSERT INTO read_marks ({space,} session, segment, reader, position)
VALUES ({:space,} :key, :segment, :reader, :position)
ON CONFLICT ({space,} session, segment, reader)
DO UPDATE SET position = {sqlite: max}{greatest}({read_marks.}position, excluded.position);

-- name: list_read_marks
SELECT r.reader, m.id
FROM read_marks AS r
JOIN messages AS m ON {m.space = r.space AND} m.session = r.session AND m.segment = r.segment
    AND m.position = r.position
WHERE {r.space = :space AND} r.session = :key
ORDER BY m.position, m.id, r.reader;

-- name: delete_read_marks
DELETE FROM read_marks WHERE {space = :space AND} session = :key;

-- name: delete_loose_read_marks
DELETE FROM read_marks
WHERE {space = :space AND} session = :key AND NOT EXISTS (
    SELECT 1 FROM messages AS m WHERE {m.space = :space AND} m.session = :key AND m.segment = read_marks.segment
);

-- name: cut_read_marks
UPDATE read_marks
SET position = (SELECT max(m.position) FROM messages AS m WHERE {m.space = :space AND} m.session = :key
    AND m.segment = read_marks.segment)
WHERE {space = :space AND} session = :key AND NOT EXISTS (
    SELECT 1 FROM messages AS m
    WHERE {m.space = :space AND} m.session = :key AND m.segment = read_marks.segment
        AND m.position = read_marks.position
);
