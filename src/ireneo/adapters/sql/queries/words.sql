-- The two indexes of words, what is counted of them, and which message is which document.

-- name: space_number
SELECT number FROM spaces WHERE space = :space;

-- name: count_message_words
UPDATE spaces SET messages = messages + :documents, message_terms = message_terms + :terms WHERE space = :space;

-- name: count_memory_words
UPDATE spaces SET memories = memories + :documents, memory_terms = memory_terms + :terms WHERE space = :space;

-- name: give_ordinals
-- Takes so many ordinals, and gives the first of them.
UPDATE sessions SET documents = documents + :documents
WHERE {space = :space AND} key = :key RETURNING documents - :documents;

-- name: add_document
INSERT INTO documents ({space,} session, segment, position, document, terms)
VALUES ({:space,} :key, :segment, :position, :document, :terms);

-- name: put_document
INSERT INTO documents ({space,} session, segment, position, document, terms)
VALUES ({:space,} :key, :segment, :position, :document, :terms)
ON CONFLICT ({space,} session, segment, position) DO UPDATE SET document = excluded.document, terms = excluded.terms;

-- name: list_documents
SELECT document, terms
FROM documents
WHERE {space = :space AND} session = :key AND segment = :segment AND position BETWEEN :first AND :last
    AND document IS NOT NULL;

-- name: list_authored
-- The parts of the documents, any of which may have an author.
SELECT m.origin, m.parts
FROM documents AS d
JOIN messages AS m ON {m.space = d.space AND} m.session = d.session AND m.segment = d.segment
    AND m.position = d.position
WHERE {d.space = :space AND} d.session = :key AND d.segment = :segment AND d.position BETWEEN :first AND :last
    AND d.document IS NOT NULL;

-- name: delete_documents
DELETE FROM documents WHERE {space = :space AND} session = :key AND segment = :segment
    AND position BETWEEN :first AND :last;

-- name: count_author
INSERT INTO authors (space, author, messages) VALUES (:space, :author, :messages)
ON CONFLICT (space, author) DO UPDATE SET messages = {authors.}messages + excluded.messages;

-- name: delete_silent_authors
DELETE FROM authors WHERE space = :space AND messages <= 0;
