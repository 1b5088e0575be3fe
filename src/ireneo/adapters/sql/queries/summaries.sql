-- The summaries over a session's tree.

-- name: insert_summary
INSERT INTO summaries ({space,} session, id, family, segment, first_position, last_position, depth, record, checksum)
VALUES ({:space,} :key, :id, :family, :segment, :first_position, :last_position, :depth, :record, :checksum)
ON CONFLICT ({space,} session, id) DO NOTHING;

-- name: next_summary
-- Of one stretch: the summary that begins nearest at or after `first`; of several, the one that reaches furthest.
SELECT first_position, last_position, depth, id
FROM summaries
WHERE {space = :space AND} session = :key AND family = :summarizer AND segment = :segment
    AND first_position BETWEEN :first AND :last AND last_position <= :last
ORDER BY first_position, last_position DESC, depth DESC, id
LIMIT 1;

-- name: read_summary
SELECT record FROM summaries WHERE {space = :space AND} session = :key AND id = :id;

-- name: find_summaries
SELECT record
FROM summaries
WHERE {space = :space AND} session = :key AND id >= :prefix AND id < :prefix || '~'
ORDER BY last_position DESC, first_position DESC, id
LIMIT 10;

-- name: list_spans
-- Of one stretch. In no order: those of several stretches are put in order together.
SELECT first_position, last_position, id
FROM summaries
WHERE {space = :space AND} session = :key AND family = :summarizer AND segment = :segment
    AND first_position BETWEEN :first AND :last AND last_position <= :last AND depth = :depth;

-- name: list_families
-- From each family straight to the next one: as many looks into the index as there are families.
WITH RECURSIVE family (name) AS (
    SELECT (SELECT min(family) FROM summaries WHERE {space = :space AND} session = :key)
    UNION ALL
    SELECT (SELECT min(s.family) FROM summaries AS s WHERE {s.space = :space AND} s.session = :key
        AND s.family > family.name)
    FROM family
    WHERE family.name IS NOT NULL
)
SELECT name FROM family WHERE name IS NOT NULL;

-- name: list_summaries
SELECT id FROM summaries WHERE {space = :space AND} session = :key ORDER BY first_position, last_position, id;

-- name: delete_summary
DELETE FROM summaries WHERE {space = :space AND} session = :key AND id = :id;
