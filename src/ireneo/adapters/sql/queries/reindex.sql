-- Making the indexes of words anew, where they are of an earlier version or don't fit what is stored. A document whose
-- terms are counted as -1 is to be indexed anew under the number that it has.

-- name: sessions_of_space
SELECT key, space FROM sessions WHERE space = :space ORDER BY key;

-- name: list_unindexed
SELECT
    m.segment, d.document, m.id, m.parent, m.role, m.origin, m.position, m.turn, m.tokens, m.thinking_tokens,
    m.total_tokens, m.at, m.source_id, m.joined, m.parts, m.erased
FROM messages AS m
LEFT JOIN documents AS d ON {d.space = m.space AND} d.session = m.session AND d.segment = m.segment
    AND d.position = m.position
WHERE {m.space = :space AND} m.session = :key AND (d.session IS NULL OR d.terms < 0)
ORDER BY m.segment, m.position
LIMIT :limit;

-- name: forget_documents_of_nothing
DELETE FROM documents
WHERE {space = :space AND} session = :key AND NOT EXISTS (
    SELECT 1 FROM messages AS m
    WHERE {m.space = :space AND} m.session = :key AND m.segment = documents.segment AND m.position = documents.position
);

-- name: mark_documents
UPDATE documents SET terms = -1 WHERE {space = :space AND} session = :key;

-- name: repair_ordinals
UPDATE sessions
SET documents = {sqlite: max}{greatest}(documents, coalesce((
    SELECT max(d.document >> 7 & {sqlite: 0xFFFFFF}{16777215}) + 1 FROM documents AS d
        WHERE {d.space = :space AND} d.session = :key AND d.document IS NOT NULL
), 0))
WHERE {space = :space AND} key = :key;

-- name: reset_space
UPDATE spaces SET messages = 0, message_terms = 0, memories = 0, memory_terms = 0 WHERE space = :space;

-- name: list_memories_to_index
SELECT number, document, record FROM memories WHERE space = :space ORDER BY number;
