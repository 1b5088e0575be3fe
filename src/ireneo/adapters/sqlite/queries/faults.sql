-- What may be wrong with a file, over all its spaces: each query reads its tables once, in the order of their keys, and
-- names the space and the session first.

-- name: refresh_words
-- Before the check: it would else compare what the connection remembers of an index with what others wrote since.
SELECT 1 FROM (SELECT rowid FROM message_words LIMIT 1) UNION ALL SELECT 1 FROM (SELECT rowid FROM memory_words LIMIT 1);

-- name: check_file
PRAGMA integrity_check(20);

-- name: rows_of_no_session
SELECT DISTINCT session, 'A segment' FROM segments WHERE session NOT IN (SELECT key FROM sessions)
UNION ALL
SELECT DISTINCT session, 'A branch' FROM branches WHERE session NOT IN (SELECT key FROM sessions)
UNION ALL
SELECT DISTINCT session, 'A lease' FROM leases WHERE session NOT IN (SELECT key FROM sessions)
LIMIT :most;

-- name: messages_of_no_segment
SELECT s.space, s.session, m.first, m.last, m.segment
FROM (
    SELECT session, segment, min(position) AS first, max(position) AS last FROM messages GROUP BY session, segment
) AS m
LEFT JOIN sessions AS s ON s.key = m.session
WHERE NOT EXISTS (SELECT 1 FROM segments AS t WHERE t.session = m.session AND t.segment = m.segment)
LIMIT :most;

-- name: segments_without_parent
SELECT s.space, s.session, t.segment, t.first - 1
FROM segments AS t
JOIN sessions AS s ON s.key = t.session
WHERE CASE
    WHEN t.parent IS NULL THEN t.first <> 0
    ELSE NOT EXISTS (
        SELECT 1 FROM messages AS m
        WHERE m.session = t.session AND m.segment = t.parent AND m.position = t.first - 1
    )
END
LIMIT :most;

-- name: segments_without_first
SELECT s.space, s.session, t.segment, t.first
FROM segments AS t
JOIN sessions AS s ON s.key = t.session
WHERE NOT EXISTS (
    SELECT 1 FROM messages AS m
    WHERE m.session = t.session AND m.segment = t.segment AND m.position = t.first
)
LIMIT :most;

-- name: segments_with_gaps
-- Counted, and looked at more closely only where the count is wrong.
SELECT
    s.space, s.session, t.segment,
    (
        SELECT min(a.position) + 1 FROM messages AS a
        WHERE a.session = t.session AND a.segment = t.segment AND NOT EXISTS (
            SELECT 1 FROM messages AS b
            WHERE b.session = a.session AND b.segment = a.segment AND b.position = a.position + 1
        )
    )
FROM (
    SELECT session, segment, min(position) AS first, max(position) AS last, count(*) AS messages
    FROM messages
    GROUP BY session, segment
) AS t
JOIN sessions AS s ON s.key = t.session
WHERE t.last - t.first + 1 <> t.messages
LIMIT :most;

-- name: messages_behind_another
-- The parent by id against the message that stands before it; where none does, another check says so.
SELECT s.space, s.session, m.position, m.id
FROM messages AS m
JOIN segments AS t ON t.session = m.session AND t.segment = m.segment
LEFT JOIN messages AS p
    ON p.session = m.session
    AND p.segment = CASE WHEN m.position > t.first THEN m.segment ELSE t.parent END
    AND p.position = m.position - 1
JOIN sessions AS s ON s.key = m.session
WHERE m.parent IS NOT p.id AND (p.id IS NOT NULL OR m.position = 0)
LIMIT :most;

-- name: messages_with_wrong_total
SELECT s.space, s.session, m.position, m.id
FROM messages AS m
JOIN segments AS t ON t.session = m.session AND t.segment = m.segment
LEFT JOIN messages AS p
    ON p.session = m.session
    AND p.segment = CASE WHEN m.position > t.first THEN m.segment ELSE t.parent END
    AND p.position = m.position - 1
JOIN sessions AS s ON s.key = m.session
WHERE m.total_tokens <> coalesce(p.total_tokens, 0) + m.tokens AND (p.id IS NOT NULL OR m.position = 0)
LIMIT :most;

-- name: sessions_with_wrong_counts
SELECT s.space, s.session, s.messages, s.tokens, coalesce(m.messages, 0), coalesce(m.tokens, 0)
FROM sessions AS s
LEFT JOIN (
    SELECT session, count(*) AS messages, sum(tokens) AS tokens FROM messages GROUP BY session
) AS m ON m.session = s.key
WHERE s.messages <> coalesce(m.messages, 0) OR s.tokens <> coalesce(m.tokens, 0)
LIMIT :most;

-- name: branches_to_nothing
SELECT s.space, s.session, b.branch, b.position
FROM branches AS b
JOIN sessions AS s ON s.key = b.session
WHERE b.segment IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM messages AS m
    WHERE m.session = b.session AND m.segment = b.segment AND m.position = b.position
)
LIMIT :most;

-- name: payloads_of_nothing
SELECT s.space, s.session, p.position, p.segment
FROM payloads AS p
LEFT JOIN sessions AS s ON s.key = p.session
WHERE NOT EXISTS (
    SELECT 1 FROM messages AS m
    WHERE m.session = p.session AND m.segment = p.segment AND m.position = p.position
)
LIMIT :most;

-- name: summaries_of_nothing
SELECT s.space, s.session, r.first_position, r.last_position, r.id
FROM summaries AS r
LEFT JOIN sessions AS s ON s.key = r.session
WHERE NOT EXISTS (
    SELECT 1 FROM messages AS m
    WHERE m.session = r.session AND m.segment = r.segment AND m.position = r.last_position
        AND m.id = json_extract(r.record, '$.last')
)
OR NOT EXISTS (
    SELECT 1 FROM messages AS m
    WHERE m.session = r.session AND m.id = json_extract(r.record, '$.first') AND m.position = r.first_position
)
LIMIT :most;

-- name: rebuilds_of_nothing
SELECT s.space, s.session, r.at_position, r.budget_tokens
FROM rebuilds AS r
LEFT JOIN sessions AS s ON s.key = r.session
WHERE NOT EXISTS (
    SELECT 1 FROM messages AS m
    WHERE m.session = r.session AND m.segment = r.segment AND m.position = r.at_position AND m.id = r.at
)
LIMIT :most;

-- name: read_marks_of_nothing
SELECT s.space, s.session, r.position, r.segment
FROM read_marks AS r
LEFT JOIN sessions AS s ON s.key = r.session
WHERE NOT EXISTS (
    SELECT 1 FROM messages AS m
    WHERE m.session = r.session AND m.segment = r.segment AND m.position = r.position
)
LIMIT :most;

-- name: annotations_of_nothing
SELECT s.space, s.session, a.at_position, a.id
FROM annotations AS a
LEFT JOIN sessions AS s ON s.key = a.session
-- What was noted before the first message hangs on the session alone, and has no segment.
WHERE (s.key IS NULL OR a.segment >= 0) AND NOT EXISTS (
    SELECT 1 FROM messages AS m
    WHERE m.session = a.session AND m.segment = a.segment AND m.position = a.at_position
        AND m.id = json_extract(a.record, '$.at')
)
LIMIT :most;

-- name: leases_with_unknown_token
SELECT s.space, s.session, l.work, l.token, s.leased
FROM leases AS l
JOIN sessions AS s ON s.key = l.session
WHERE l.token > s.leased
LIMIT :most;
