-- Finding messages and memories by their words. A term begins with the number of its space; it is quoted, so that no
-- word of the index's own language is heard in it.

-- name: size_of_messages
SELECT messages, message_terms FROM spaces WHERE space = :space;

-- name: size_of_memories
SELECT memories, memory_terms FROM spaces WHERE space = :space;

-- name: count_messages_with
SELECT count(*) FROM (
    SELECT 1 FROM message_words WHERE message_words MATCH '"' || :space_term || '"' LIMIT :limit
);

-- name: count_memories_with
SELECT count(*) FROM (
    SELECT 1 FROM memory_words WHERE memory_words MATCH '"' || :space_term || '"' LIMIT :limit
);

-- name: messages_with
-- As one value: ten thousand rows would each cost a step and an object.
SELECT json_group_array(number) FROM (
    SELECT rowid AS number FROM message_words WHERE message_words MATCH '"' || :space_term || '"' LIMIT :limit
);

-- name: memories_with
SELECT json_group_array(number) FROM (
    SELECT rowid AS number FROM memory_words WHERE memory_words MATCH '"' || :space_term || '"' LIMIT :limit
);

-- name: message_of_document
-- By its place: what a number says of length and role besides is not always known to who asks.
SELECT
    s.session, d.document, m.id, m.parent, m.role, m.origin, m.position, m.turn, m.tokens, m.thinking_tokens, m.total_tokens, m.at,
    m.source_id, m.joined, m.parts, m.erased
FROM sessions AS s
JOIN documents AS d ON d.session = s.key AND d.document BETWEEN :first AND :last
JOIN messages AS m ON m.session = d.session AND m.segment = d.segment AND m.position = d.position
WHERE s.key = :key AND s.space = :space;

-- name: memory_of_document
SELECT document, record FROM memories WHERE number = :number AND space = :space AND document IS NOT NULL;

-- name: list_authors
SELECT author, messages FROM authors WHERE space = :space ORDER BY author;

-- name: documents_of_project
-- Of documents of memories those that may be of some projects (empty: of none); of which nothing was noted, of any.
SELECT json_group_array(asked.value)
FROM json_each(:documents) AS asked
WHERE NOT EXISTS (
    SELECT 1 FROM memory_projects AS p WHERE p.space = :space AND p.number = asked.value >> 7
) OR EXISTS (
    SELECT 1 FROM memory_projects AS p
    WHERE p.space = :space AND p.number = asked.value >> 7
      AND p.project IN (SELECT value FROM json_each(:projects))
);

-- name: knows_other_project
SELECT EXISTS (
    SELECT 1 FROM sessions WHERE space = :space AND project NOT IN ('', '*', :project)
) OR EXISTS (
    SELECT 1 FROM memory_projects WHERE space = :space AND project NOT IN ('', '*') AND project < :project
) OR EXISTS (
    SELECT 1 FROM memory_projects WHERE space = :space AND project NOT IN ('', '*') AND project > :project
);
