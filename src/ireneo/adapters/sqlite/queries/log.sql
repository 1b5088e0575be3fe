-- The messages of a session's tree.

-- name: find_head
SELECT m.id, m.position, m.turn, m.total_tokens
FROM sessions AS s
JOIN branches AS b ON b.session = s.key AND b.branch = :branch
JOIN messages AS m ON m.session = b.session AND m.segment = b.segment AND m.position = b.position
WHERE s.space = :space AND s.session = :session;

-- name: locate
-- Where a message stands, and whether its segment goes on after it.
SELECT
    m.segment, m.position,
    EXISTS (
        SELECT 1 FROM messages AS n
        WHERE n.session = m.session AND n.segment = m.segment AND n.position = m.position + 1
    )
FROM messages AS m
WHERE m.session = :key AND m.id = :id;

-- name: list_stretches
-- The stretches of the path that ends at (segment, position), the last one first, down to the one that holds `first`.
WITH RECURSIVE stretch (segment, parent, first, last) AS (
    SELECT segment, parent, first, :position
    FROM segments WHERE session = :key AND segment = :segment
    UNION ALL
    SELECT s.segment, s.parent, s.first, stretch.first - 1
    FROM stretch JOIN segments AS s ON s.session = :key AND s.segment = stretch.parent
    WHERE stretch.first > :first
)
SELECT segment, first, last FROM stretch ORDER BY last DESC;

-- name: add_segment
INSERT INTO segments (session, segment, parent, first)
VALUES (
    :key,
    (SELECT coalesce(max(segment), -1) + 1 FROM segments WHERE session = :key),
    :parent, :first
)
RETURNING segment;

-- name: insert_message
INSERT INTO messages (
    session, segment, position, id, parent, role, origin, turn, tokens, thinking_tokens, total_tokens, at, source_id, joined, parts,
    erased, checksum
)
VALUES (
    :key, :segment, :position, :id, :parent, :role, :origin, :turn, :tokens, :thinking_tokens, :total_tokens,
    :at, :source_id, :joined, :parts, :erased, :checksum
);

-- name: insert_payload
INSERT INTO payloads (session, segment, position, packed) VALUES (:key, :segment, :position, :packed);

-- name: move_branch
INSERT INTO branches (session, branch, segment, position, checksum)
VALUES (:key, :branch, :segment, :position, :checksum)
ON CONFLICT (session, branch) DO UPDATE
SET segment = excluded.segment, position = excluded.position, checksum = excluded.checksum;

-- name: read_stretch
SELECT id, parent, role, origin, position, turn, tokens, thinking_tokens, total_tokens, at, source_id, joined, parts, erased
FROM messages
WHERE session = :key AND segment = :segment AND position BETWEEN :first AND :last
ORDER BY position;

-- name: find_by_id
SELECT id, parent, role, origin, position, turn, tokens, thinking_tokens, total_tokens, at, source_id, joined, parts, erased
FROM messages
WHERE session = :key AND id >= :prefix AND id < :prefix || '~'
ORDER BY id
LIMIT :limit;

-- name: find_by_source
SELECT id, parent, role, origin, position, turn, tokens, thinking_tokens, total_tokens, at, source_id, joined, parts, erased
FROM messages
WHERE session = :key AND source_id = :source_id
ORDER BY position, id
LIMIT :limit;

-- name: read_payload
SELECT
    m.id, m.parent, m.role, m.origin, m.position, m.turn, m.tokens, m.thinking_tokens, m.total_tokens,
    m.at, m.source_id, m.joined, m.parts, m.erased, p.packed
FROM messages AS m
LEFT JOIN payloads AS p ON p.session = m.session AND p.segment = m.segment AND p.position = m.position
WHERE m.session = :key AND m.id = :id;
