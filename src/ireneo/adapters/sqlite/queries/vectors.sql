-- The vectors of documents. `:key` is that of a set, which is those of one space, shelf and embedder.

-- name: find_vector_set
SELECT key, dimensions, changes, kept, forgotten FROM vector_sets
WHERE space = :space AND shelf = :shelf AND embedder = :embedder;

-- name: make_vector_set
INSERT INTO vector_sets (space, shelf, embedder, dimensions) VALUES (:space, :shelf, :embedder, :dimensions)
RETURNING key;

-- name: measure_vector_set
UPDATE vector_sets SET dimensions = :dimensions WHERE key = :key;

-- name: put_message_vector
-- The session's key stands in the number of the document.
INSERT INTO vectors (vector_set, document, change, vector, checksum)
SELECT :key, document, :change, :vector, :checksum
FROM documents JOIN sessions ON sessions.key = documents.session
WHERE documents.session = :document >> 31 AND document = :document AND space = :space
ON CONFLICT (document, vector_set) DO UPDATE
SET change = excluded.change, vector = excluded.vector, checksum = excluded.checksum
WHERE vector <> excluded.vector
RETURNING change;

-- name: put_memory_vector
INSERT INTO vectors (vector_set, document, change, vector, checksum)
SELECT :key, document, :change, :vector, :checksum
FROM memories WHERE number = :document >> 7 AND document = :document AND space = :space
ON CONFLICT (document, vector_set) DO UPDATE
SET change = excluded.change, vector = excluded.vector, checksum = excluded.checksum
WHERE vector <> excluded.vector
RETURNING change;

-- name: vectors_since
SELECT document, vector FROM vectors WHERE vector_set = :key AND change > :change;

-- name: vectors_gone_since
SELECT document FROM vectors_gone WHERE vector_set = :key AND change > :change;

-- name: count_vectors_gone
SELECT count(*) FROM vectors_gone WHERE vector_set = :key;

-- name: forget_vectors_gone
DELETE FROM vectors_gone WHERE vector_set = :key;

-- name: forget_before
UPDATE vector_sets SET forgotten = changes WHERE key = :key;

-- name: count_message_documents
SELECT count(*) FROM sessions JOIN documents ON documents.session = sessions.key
WHERE space = :space AND document IS NOT NULL;

-- name: count_memory_documents
SELECT count(*) FROM memories WHERE space = :space AND document IS NOT NULL;

-- name: due_messages
-- A set that was not made yet has no number, and so no vectors.
SELECT document FROM sessions JOIN documents ON documents.session = sessions.key
WHERE space = :space AND document IS NOT NULL
AND NOT EXISTS (SELECT 1 FROM vectors WHERE vectors.document = documents.document AND vector_set = :key)
ORDER BY document DESC LIMIT :limit;

-- name: due_memories
SELECT document FROM memories
WHERE space = :space AND document IS NOT NULL
AND NOT EXISTS (SELECT 1 FROM vectors WHERE vectors.document = memories.document AND vector_set = :key)
ORDER BY document DESC LIMIT :limit;

-- name: list_embedders
SELECT DISTINCT embedder FROM vector_sets WHERE space = :space AND kept > 0 ORDER BY embedder;

-- name: list_sets_of_embedder
SELECT key, kept FROM vector_sets WHERE space = :space AND embedder = :embedder;

-- name: drop_vectors
DELETE FROM vectors WHERE vector_set = :key;
