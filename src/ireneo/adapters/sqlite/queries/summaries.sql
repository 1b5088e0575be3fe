-- The summaries over a session's tree.

-- name: insert_summary
INSERT INTO summaries (session, id, family, segment, first_position, last_position, depth, record)
VALUES (:key, :id, :family, :segment, :first_position, :last_position, :depth, :record)
ON CONFLICT (session, id) DO NOTHING;

-- name: next_summary
-- Of one stretch: the summary that begins nearest at or after `first`; of several, the one that reaches furthest.
SELECT first_position, last_position, depth, id
FROM summaries
WHERE session = :key AND family = :family AND segment = :segment
    AND first_position BETWEEN :first AND :last AND last_position <= :last
ORDER BY first_position, last_position DESC, depth DESC, id
LIMIT 1;

-- name: read_summary
SELECT record FROM summaries WHERE session = :key AND id = :id;

-- name: find_summaries
SELECT record
FROM summaries
WHERE session = :key AND id >= :prefix AND id < :prefix || '~'
ORDER BY last_position DESC, first_position DESC, id
LIMIT 10;
