-- Finding messages and memories by their words. A term begins with the number of its space.

-- name: size_of_messages
SELECT messages, message_terms FROM spaces WHERE space = :space;

-- name: size_of_memories
SELECT memories, memory_terms FROM spaces WHERE space = :space;

-- name: count_messages_with
SELECT count(*) FROM (
    SELECT 1 FROM message_words WHERE space = :space AND terms @> ARRAY[:space_term] LIMIT nullif(:limit, -1)
) AS found;

-- name: count_memories_with
SELECT count(*) FROM (
    SELECT 1 FROM memory_words WHERE space = :space AND terms @> ARRAY[:space_term] LIMIT nullif(:limit, -1)
) AS found;

-- name: messages_with
-- As one value: ten thousand rows would each cost a step and an object.
SELECT coalesce(json_agg(found.document ORDER BY found.document), '[]')::text FROM (
    SELECT document FROM message_words WHERE space = :space AND terms @> ARRAY[:space_term] LIMIT nullif(:limit, -1)
) AS found;

-- name: memories_with
SELECT coalesce(json_agg(found.document ORDER BY found.document), '[]')::text FROM (
    SELECT document FROM memory_words WHERE space = :space AND terms @> ARRAY[:space_term] LIMIT nullif(:limit, -1)
) AS found;

-- name: message_of_document
-- By its place: what a number says of length and role besides is not always known to who asks.
SELECT
    d.session, d.document, m.id, m.parent, m.role, m.origin, m.position, m.turn, m.tokens, m.thinking_tokens, m.total_tokens, m.at,
    m.source_id, m.joined, m.parts, m.erased
FROM (
    SELECT s.session, d.session AS key, d.segment, d.position, d.document
    FROM documents AS d
    JOIN sessions AS s ON s.space = :space AND s.key = d.session
    WHERE d.space = :space AND d.session = :key AND d.document BETWEEN :first AND :last
    OFFSET 0
) AS d
JOIN messages AS m ON m.space = :space AND m.session = d.key AND m.segment = d.segment AND m.position = d.position;

-- name: memory_of_document
SELECT document, record FROM memories WHERE number = :number AND space = :space AND document IS NOT NULL;

-- name: list_authors
SELECT author, messages FROM authors WHERE space = :space ORDER BY author;

-- name: documents_of_project
-- Of documents of memories those that may be of some projects (empty: of none); of which nothing was noted, of any.
SELECT coalesce(json_agg(asked.value), '[]')::text
FROM (SELECT listed(:documents)::bigint AS value) AS asked
WHERE NOT EXISTS (
    SELECT 1 FROM memory_projects AS p WHERE p.space = :space AND p.number = asked.value >> 7
) OR EXISTS (
    SELECT 1 FROM memory_projects AS p
    WHERE p.space = :space AND p.number = asked.value >> 7
      AND p.project IN (SELECT listed(:projects))
);

-- name: knows_other_project
SELECT EXISTS (
    SELECT 1 FROM sessions WHERE space = :space AND project NOT IN ('', '*', :project)
) OR EXISTS (
    SELECT 1 FROM memory_projects WHERE space = :space AND project NOT IN ('', '*') AND project < :project
) OR EXISTS (
    SELECT 1 FROM memory_projects WHERE space = :space AND project NOT IN ('', '*') AND project > :project
);
