-- The documents of messages that lie on no branch, as runs of numbers.

-- name: list_undone
SELECT first, last FROM undone WHERE space = :space ORDER BY first;

-- name: add_undone
INSERT INTO undone (space, first, last) VALUES (:space, :first, :last)
ON CONFLICT (space, first) DO UPDATE SET last = {sqlite: max}{greatest}({undone.}last, excluded.last);

-- name: forget_undone
-- Those that begin and end within a run of numbers.
DELETE FROM undone WHERE space = :space AND first BETWEEN :first AND :last AND last <= :last;

-- name: last_undone
-- The last one that begins within a run of numbers, or before it.
SELECT first, last FROM undone WHERE space = :space AND first <= :last ORDER BY first DESC LIMIT 1;

-- name: find_branch
SELECT segment, position FROM branches WHERE {space = :space AND} session = :key AND branch = :branch;

-- name: find_segment
SELECT parent, first FROM segments WHERE {space = :space AND} session = :key AND segment = :segment;

-- name: segments_of_session
SELECT segment FROM segments WHERE {space = :space AND} session = :key;

-- name: session_of_number
SELECT session, project FROM sessions WHERE {space = :space AND} key = :key AND space = :space;

-- name: ends_of_branches
SELECT branch, segment, position FROM branches WHERE {space = :space AND} session = :key AND segment IS NOT NULL;

-- name: parts_with
-- Of one session or of all of a space: the parts that have these letters in them.
SELECT m.parts
FROM sessions AS s
JOIN messages AS m ON {m.space = s.space AND} m.session = s.key
WHERE s.space = :space AND (:session{::text} IS NULL OR s.session = :session)
    AND {sqlite: instr}{strpos}(m.parts, :letters) > 0;

-- name: has_message
SELECT 1 FROM messages WHERE {space = :space AND} session = :key AND id = :id;

-- name: is_straight
SELECT
    (SELECT count(*) FROM segments WHERE {space = :space AND} session = :key) = 1
    AND EXISTS (
        SELECT 1 FROM branches AS b
        WHERE {b.space = :space AND} b.session = :key AND b.segment IS NOT NULL AND NOT EXISTS (
            SELECT 1 FROM messages AS m
            WHERE {m.space = b.space AND} m.session = b.session AND m.segment = b.segment AND m.position > b.position
        )
    );
