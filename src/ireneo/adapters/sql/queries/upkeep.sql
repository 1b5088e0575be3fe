-- What nobody needs any more.

-- name: list_ends
-- The last message of each segment, unless another segment continues it there or a branch stands on it. Joined and not
-- looked for with NOT IN, which reads the whole list for each row where a column of it may be null.
WITH
    tip (segment, last) AS MATERIALIZED (
        SELECT s.segment, (SELECT max(m.position) FROM messages AS m WHERE {m.space = :space AND} m.session = :key
            AND m.segment = s.segment)
        FROM segments AS s
        WHERE {s.space = :space AND} s.session = :key
    ),
    taken (segment, last) AS MATERIALIZED (
        SELECT parent, first - 1 FROM segments WHERE {space = :space AND} session = :key AND parent IS NOT NULL
        UNION
        SELECT segment, position FROM branches WHERE {space = :space AND} session = :key AND segment IS NOT NULL
    )
SELECT m.id, m.position, m.turn, m.total_tokens
FROM tip
LEFT JOIN taken ON taken.segment = tip.segment AND taken.last = tip.last
JOIN messages AS m ON {m.space = :space AND} m.session = :key AND m.segment = tip.segment AND m.position = tip.last
WHERE taken.segment IS NULL
ORDER BY m.position, m.id;

-- name: drop_branch
DELETE FROM branches WHERE {space = :space AND} session = :key AND branch = :branch;

-- name: count_branches
SELECT
    (SELECT count(*) FROM branches WHERE {space = :space AND} session = :key),
    (SELECT count(*) FROM segments WHERE {space = :space AND} session = :key);

-- name: list_segments
-- Each segment with the last position of it that some branch needs; none where no branch needs any of it.
WITH RECURSIVE needed (segment, last) AS (
    SELECT segment, position FROM branches WHERE {space = :space AND} session = :key AND segment IS NOT NULL
    UNION
    SELECT s.parent, s.first - 1
    FROM needed JOIN segments AS s ON {s.space = :space AND} s.session = :key AND s.segment = needed.segment
    WHERE s.parent IS NOT NULL
)
SELECT s.segment, kept.last
FROM segments AS s
LEFT JOIN (SELECT segment, max(last) AS last FROM needed GROUP BY segment) AS kept ON kept.segment = s.segment
WHERE {s.space = :space AND} s.session = :key;

-- name: count_after
SELECT count(*), coalesce(sum(tokens), 0){::bigint}
FROM messages
WHERE {space = :space AND} session = :key AND segment = :segment AND position > :last;

-- name: delete_messages_after
DELETE FROM messages WHERE {space = :space AND} session = :key AND segment = :segment AND position > :last;

-- name: delete_payloads_after
DELETE FROM payloads WHERE {space = :space AND} session = :key AND segment = :segment AND position > :last;

-- name: delete_segment
DELETE FROM segments WHERE {space = :space AND} session = :key AND segment = :segment;

-- name: delete_loose_summaries
-- Those whose last message is gone: where that one stays, all that it covers does.
DELETE FROM summaries
WHERE {space = :space AND} session = :key AND NOT EXISTS (
    SELECT 1 FROM messages AS m
    WHERE {m.space = :space AND} m.session = :key AND m.segment = summaries.segment
        AND m.position = summaries.last_position
);

-- name: delete_loose_rebuilds
DELETE FROM rebuilds
WHERE {space = :space AND} session = :key AND NOT EXISTS (
    SELECT 1 FROM messages AS m
    WHERE {m.space = :space AND} m.session = :key AND m.segment = rebuilds.segment AND m.position = rebuilds.at_position
);

-- name: delete_loose_annotations
DELETE FROM annotations
WHERE {space = :space AND} session = :key AND segment >= 0 AND NOT EXISTS (
    SELECT 1 FROM messages AS m
    WHERE {m.space = :space AND} m.session = :key AND m.segment = annotations.segment
        AND m.position = annotations.at_position
);

-- name: list_times
-- A bound for the segment, so that the rows are read in the order in which they lie, and not in that of their ids.
SELECT at FROM messages WHERE {space = :space AND} session = :key AND segment >= 0 AND at IS NOT NULL;

-- name: recount_messages
UPDATE sessions
SET (messages, tokens) = (
        SELECT count(*), coalesce(sum(tokens), 0){::bigint} FROM messages WHERE {space = :space AND} session = :key
            AND segment >= 0
    ),
    first_at = :first_at,
    last_at = :last_at
WHERE {space = :space AND} key = :key;
