-- The messages of a session's tree.

-- name: locate
-- Where a message stands, and whether its segment goes on after it.
SELECT
    m.segment, m.position,
    EXISTS (
        SELECT 1 FROM messages AS n
        WHERE {n.space = :space AND} n.session = {sqlite: m.session}{:key} AND n.segment = m.segment
            AND n.position = m.position + 1
        {OFFSET 0}
    )
FROM messages AS m
WHERE {m.space = :space AND} m.session = :key AND m.id = :id;

-- name: list_stretches
-- The stretches of the path that ends at (segment, position), the last one first, down to the one that holds `first`.
WITH RECURSIVE stretch (segment, parent, first, last) AS (
    SELECT segment, parent, first, :position
    FROM segments WHERE {space = :space AND} session = :key AND segment = :segment
    UNION ALL
    SELECT s.segment, s.parent, s.first, stretch.first - 1
    FROM stretch JOIN segments AS s ON {s.space = :space AND} s.session = :key AND s.segment = stretch.parent
    WHERE stretch.first > :first
)
SELECT segment, first, last FROM stretch ORDER BY last DESC;

-- name: add_segment
INSERT INTO segments ({space,} session, segment, parent, first)
VALUES (
    {:space,} :key,
    (SELECT coalesce(max(segment), -1) + 1 FROM segments WHERE {space = :space AND} session = :key),
    :parent, :first
)
RETURNING segment;

-- name: insert_message
INSERT INTO messages (
    {space,} session, segment, position, id, parent, role, origin, turn, tokens, thinking_tokens, total_tokens, at,
    source_id, joined, parts,
    erased, checksum
)
VALUES (
    {:space,} :key, :segment, :position, :id, :parent, :role, :origin, :turn, :tokens, :thinking_tokens, :total_tokens,
    :at, :source_id, :joined, :parts, :erased, :checksum
);

-- name: insert_payload
INSERT INTO payloads ({space,} session, segment, position, packed)
VALUES ({:space,} :key, :segment, :position, :packed);

-- name: move_branch
INSERT INTO branches ({space,} session, branch, segment, position, checksum)
VALUES ({:space,} :key, :branch, :segment, :position, :checksum)
ON CONFLICT ({space,} session, branch) DO UPDATE
SET segment = excluded.segment, position = excluded.position, checksum = excluded.checksum;

-- name: read_stretch
SELECT id, parent, role, origin, position, turn, tokens, thinking_tokens, total_tokens, at, source_id, joined, parts,
    erased
FROM messages
WHERE {space = :space AND} session = :key AND segment = :segment AND position BETWEEN :first AND :last
ORDER BY position;

-- name: find_by_id
SELECT id, parent, role, origin, position, turn, tokens, thinking_tokens, total_tokens, at, source_id, joined, parts,
    erased
FROM messages
WHERE {space = :space AND} session = :key AND id >= :prefix AND id < :prefix || '~'
ORDER BY id
LIMIT :limit;

-- name: find_by_source
SELECT id, parent, role, origin, position, turn, tokens, thinking_tokens, total_tokens, at, source_id, joined, parts,
    erased
FROM messages
WHERE {space = :space AND} session = :key AND source_id = :source_id
ORDER BY position, id
LIMIT :limit;
