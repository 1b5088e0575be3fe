-- The two indexes of words, and what is counted of them.

-- name: space_number
SELECT number FROM spaces WHERE space = :space;

-- name: add_space
INSERT INTO spaces (space) VALUES (:space) RETURNING number;

-- name: count_message_words
UPDATE spaces SET messages = messages + :documents, message_terms = message_terms + :terms WHERE space = :space;

-- name: count_memory_words
UPDATE spaces SET memories = memories + :documents, memory_terms = memory_terms + :terms WHERE space = :space;

-- name: index_message
-- The terms begin with the number of their space.
INSERT INTO message_words (rowid, terms) VALUES (:document, :space_terms);

-- name: index_memory
INSERT INTO memory_words (rowid, terms) VALUES (:document, :space_terms);

-- name: forget_memory_words
-- By the document's number, which was found by :space and id.
DELETE FROM memory_words WHERE rowid = :document;
