-- Finding messages and memories by their words. A term begins with the number of its space; it is quoted, so that no
-- word of the index's own language is heard in it.

-- name: size_of_messages
SELECT messages, message_terms FROM spaces WHERE space = :space;

-- name: size_of_memories
SELECT memories, memory_terms FROM spaces WHERE space = :space;

-- name: memory_of_document
SELECT document, record FROM memories WHERE number = :number AND space = :space AND document IS NOT NULL;

-- name: list_authors
SELECT author, messages FROM authors WHERE space = :space ORDER BY author;

-- name: knows_other_project
SELECT EXISTS (
    SELECT 1 FROM sessions WHERE space = :space AND project NOT IN ('', '*', :project)
) OR EXISTS (
    SELECT 1 FROM memory_projects WHERE space = :space AND project NOT IN ('', '*') AND project < :project
) OR EXISTS (
    SELECT 1 FROM memory_projects WHERE space = :space AND project NOT IN ('', '*') AND project > :project
);
