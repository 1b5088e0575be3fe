-- Integrity faults. Each query reads its tables once, in the order of their keys, and selects the space and the
-- session first. SQLite checks the whole file at once, PostgreSQL one space at a time.

-- name: rows_of_no_session
SELECT DISTINCT session, 'A segment' FROM segments
WHERE {space = :space AND} session NOT IN (SELECT key FROM sessions {WHERE space = :space})
UNION ALL
SELECT DISTINCT session, 'A branch' FROM branches
WHERE {space = :space AND} session NOT IN (SELECT key FROM sessions {WHERE space = :space})
UNION ALL
SELECT DISTINCT session, 'A lease' FROM leases
WHERE {space = :space AND} session NOT IN (SELECT key FROM sessions {WHERE space = :space})
LIMIT :most;

-- name: messages_of_no_segment
SELECT s.space, s.session, m.first, m.last, m.segment
FROM (
    SELECT session, segment, min(position) AS first, max(position) AS last FROM messages {WHERE space = :space}
        GROUP BY session, segment
) AS m
LEFT JOIN sessions AS s ON {s.space = :space AND} s.key = m.session
WHERE NOT EXISTS (SELECT 1 FROM segments AS t WHERE {t.space = :space AND} t.session = m.session
    AND t.segment = m.segment)
LIMIT :most;

-- name: segments_without_parent
SELECT s.space, s.session, t.segment, t.first - 1
FROM segments AS t
JOIN sessions AS s ON {s.space = t.space AND} s.key = t.session
WHERE {t.space = :space AND} (CASE
    WHEN t.parent IS NULL THEN t.first <> 0
    ELSE NOT EXISTS (
        SELECT 1 FROM messages AS m
        WHERE {m.space = t.space AND} m.session = t.session AND m.segment = t.parent AND m.position = t.first - 1
    )
END)
LIMIT :most;

-- name: segments_without_first
SELECT s.space, s.session, t.segment, t.first
FROM segments AS t
JOIN sessions AS s ON {s.space = t.space AND} s.key = t.session
WHERE {t.space = :space AND} NOT EXISTS (
    SELECT 1 FROM messages AS m
    WHERE {m.space = t.space AND} m.session = t.session AND m.segment = t.segment AND m.position = t.first
)
LIMIT :most;

-- name: segments_with_gaps
-- Counted, and looked at more closely only where the count is wrong.
SELECT
    s.space, s.session, t.segment,
    (
        SELECT min(a.position) + 1 FROM messages AS a
        WHERE {a.space = :space AND} a.session = t.session AND a.segment = t.segment AND NOT EXISTS (
            SELECT 1 FROM messages AS b
            WHERE {b.space = a.space AND} b.session = a.session AND b.segment = a.segment
                AND b.position = a.position + 1
        )
    )
FROM (
    SELECT session, segment, min(position) AS first, max(position) AS last, count(*) AS messages
    FROM messages
    {WHERE space = :space}
    GROUP BY session, segment
) AS t
JOIN sessions AS s ON {s.space = :space AND} s.key = t.session
WHERE {s.space = :space AND} (t.last - t.first + 1 <> t.messages)
LIMIT :most;

-- name: messages_behind_another
-- The parent by id against the message that stands before it; where none does, another check says so.
SELECT s.space, s.session, m.position, m.id
FROM messages AS m
JOIN segments AS t ON {t.space = m.space AND} t.session = m.session AND t.segment = m.segment
LEFT JOIN messages AS p
    ON {p.space = m.space AND} p.session = m.session
    AND p.segment = CASE WHEN m.position > t.first THEN m.segment ELSE t.parent END
    AND p.position = m.position - 1
JOIN sessions AS s ON {s.space = m.space AND} s.key = m.session
WHERE {m.space = :space AND} (m.parent IS {sqlite: NOT}{DISTINCT FROM} p.id AND (p.id IS NOT NULL OR m.position = 0))
LIMIT :most;

-- name: messages_with_wrong_total
SELECT s.space, s.session, m.position, m.id
FROM messages AS m
JOIN segments AS t ON {t.space = m.space AND} t.session = m.session AND t.segment = m.segment
LEFT JOIN messages AS p
    ON {p.space = m.space AND} p.session = m.session
    AND p.segment = CASE WHEN m.position > t.first THEN m.segment ELSE t.parent END
    AND p.position = m.position - 1
JOIN sessions AS s ON {s.space = m.space AND} s.key = m.session
WHERE {m.space = :space AND} (m.total_tokens <> coalesce(p.total_tokens, 0) + m.tokens
    AND (p.id IS NOT NULL OR m.position = 0))
LIMIT :most;

-- name: sessions_with_wrong_counts
SELECT s.space, s.session, s.messages, s.tokens, coalesce(m.messages, 0), coalesce(m.tokens, 0)
FROM sessions AS s
LEFT JOIN (
    SELECT session, count(*) AS messages, sum(tokens){::bigint} AS tokens FROM messages {WHERE space = :space}
        GROUP BY session
) AS m ON m.session = s.key
WHERE {s.space = :space AND} (s.messages <> coalesce(m.messages, 0) OR s.tokens <> coalesce(m.tokens, 0))
LIMIT :most;

-- name: branches_to_nothing
SELECT s.space, s.session, b.branch, b.position
FROM branches AS b
JOIN sessions AS s ON {s.space = b.space AND} s.key = b.session
WHERE {b.space = :space AND} (b.segment IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM messages AS m
    WHERE {m.space = b.space AND} m.session = b.session AND m.segment = b.segment AND m.position = b.position
))
LIMIT :most;

-- name: payloads_of_nothing
SELECT s.space, s.session, p.position, p.segment
FROM payloads AS p
LEFT JOIN sessions AS s ON {s.space = p.space AND} s.key = p.session
WHERE {p.space = :space AND} NOT EXISTS (
    SELECT 1 FROM messages AS m
    WHERE {m.space = p.space AND} m.session = p.session AND m.segment = p.segment AND m.position = p.position
)
LIMIT :most;

-- name: summaries_of_nothing
SELECT s.space, s.session, r.first_position, r.last_position, r.id
FROM summaries AS r
LEFT JOIN sessions AS s ON {s.space = r.space AND} s.key = r.session
WHERE {r.space = :space AND} (NOT EXISTS (
    SELECT 1 FROM messages AS m
    WHERE {m.space = r.space AND} m.session = r.session AND m.segment = r.segment AND m.position = r.last_position
        AND m.id = {sqlite: json_extract(}r.record{sqlite: , '$.last')}{::json ->> 'last'}
)
OR NOT EXISTS (
    SELECT 1 FROM messages AS m
    WHERE {m.space = r.space AND} m.session = r.session
        AND m.id = {sqlite: json_extract(}r.record{sqlite: , '$.first')}{::json ->> 'first'}
        AND m.position = r.first_position
))
LIMIT :most;

-- name: rebuilds_of_nothing
SELECT s.space, s.session, r.at_position, r.budget_tokens
FROM rebuilds AS r
LEFT JOIN sessions AS s ON {s.space = r.space AND} s.key = r.session
WHERE {r.space = :space AND} NOT EXISTS (
    SELECT 1 FROM messages AS m
    WHERE {m.space = r.space AND} m.session = r.session AND m.segment = r.segment AND m.position = r.at_position
        AND m.id = r.at
)
LIMIT :most;

-- name: read_marks_of_nothing
SELECT s.space, s.session, r.position, r.segment
FROM read_marks AS r
LEFT JOIN sessions AS s ON {s.space = r.space AND} s.key = r.session
WHERE {r.space = :space AND} NOT EXISTS (
    SELECT 1 FROM messages AS m
    WHERE {m.space = r.space AND} m.session = r.session AND m.segment = r.segment AND m.position = r.position
)
LIMIT :most;

-- name: annotations_of_nothing
SELECT s.space, s.session, a.at_position, a.id
FROM annotations AS a
LEFT JOIN sessions AS s ON {s.space = a.space AND} s.key = a.session
-- What was noted before the first message hangs on the session alone, and has no segment.
WHERE {a.space = :space AND} ((s.key IS NULL OR a.segment >= 0) AND NOT EXISTS (
    SELECT 1 FROM messages AS m
    WHERE {m.space = a.space AND} m.session = a.session AND m.segment = a.segment AND m.position = a.at_position
        AND m.id = {sqlite: json_extract(}a.record{sqlite: , '$.at')}{::json ->> 'at'}
))
LIMIT :most;

-- name: leases_with_unknown_token
SELECT s.space, s.session, l.work, l.token, s.leased
FROM leases AS l
JOIN sessions AS s ON {s.space = l.space AND} s.key = l.session
WHERE {l.space = :space AND} l.token > s.leased
LIMIT :most;
