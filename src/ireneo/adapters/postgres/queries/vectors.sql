-- The vectors of documents. `:key` is that of a set, which is those of one space, shelf and embedder.

-- name: find_vector_set
SELECT key, dimensions, changes, kept, forgotten FROM vector_sets
WHERE space = :space AND shelf = :shelf AND embedder = :embedder;

-- name: make_vector_set
INSERT INTO vector_sets (space, key, shelf, embedder, dimensions)
VALUES (
    :space, (SELECT coalesce(max(key), 0) + 1 FROM vector_sets WHERE space = :space), :shelf, :embedder, :dimensions
)
RETURNING key;

-- name: measure_vector_set
UPDATE vector_sets SET dimensions = :dimensions WHERE space = :space AND key = :key;

-- name: put_message_vector
-- The session's key stands in the number of the document.
INSERT INTO vectors (space, vector_set, document, change, vector, checksum)
SELECT :space, :key, document, :change, :vector, :checksum
FROM documents
WHERE space = :space AND session = :document >> 31 AND document = :document
ON CONFLICT (space, vector_set, document) DO UPDATE
SET change = excluded.change, vector = excluded.vector, checksum = excluded.checksum
WHERE vectors.vector <> excluded.vector
RETURNING change;

-- name: put_memory_vector
INSERT INTO vectors (space, vector_set, document, change, vector, checksum)
SELECT :space, :key, document, :change, :vector, :checksum
FROM memories WHERE space = :space AND number = :document >> 7 AND document = :document
ON CONFLICT (space, vector_set, document) DO UPDATE
SET change = excluded.change, vector = excluded.vector, checksum = excluded.checksum
WHERE vectors.vector <> excluded.vector
RETURNING change;

-- name: vectors_since
SELECT document, vector FROM vectors WHERE space = :space AND vector_set = :key AND change > :change;

-- name: vectors_gone_since
SELECT document FROM vectors_gone WHERE space = :space AND vector_set = :key AND change > :change;

-- name: count_vectors_gone
SELECT count(*) FROM vectors_gone WHERE space = :space AND vector_set = :key;

-- name: forget_vectors_gone
DELETE FROM vectors_gone WHERE space = :space AND vector_set = :key;

-- name: forget_before
UPDATE vector_sets SET forgotten = changes WHERE space = :space AND key = :key;

-- name: count_message_documents
SELECT count(*) FROM documents WHERE space = :space AND document IS NOT NULL;

-- name: count_memory_documents
SELECT count(*) FROM memories WHERE space = :space AND document IS NOT NULL;

-- name: due_messages
-- A set that was not made yet has no number, and so no vectors.
SELECT document FROM documents
WHERE space = :space AND document IS NOT NULL
AND NOT EXISTS (
    SELECT 1 FROM vectors AS v WHERE v.space = :space AND v.vector_set = :key AND v.document = documents.document
)
ORDER BY document DESC LIMIT :limit;

-- name: due_memories
SELECT document FROM memories
WHERE space = :space AND document IS NOT NULL
AND NOT EXISTS (
    SELECT 1 FROM vectors AS v WHERE v.space = :space AND v.vector_set = :key AND v.document = memories.document
)
ORDER BY document DESC LIMIT :limit;

-- name: list_embedders
SELECT DISTINCT embedder FROM vector_sets WHERE space = :space AND kept > 0 ORDER BY embedder;

-- name: list_sets_of_embedder
SELECT key, kept FROM vector_sets WHERE space = :space AND embedder = :embedder;

-- name: drop_vectors
DELETE FROM vectors WHERE space = :space AND vector_set = :key;

-- name: vectors_beside
-- How many vectors lie in the partition of a set, as far as the server knows.
SELECT greatest(reltuples, 0)::bigint FROM pg_class
WHERE oid = (SELECT tableoid FROM vectors WHERE space = :space AND vector_set = :key LIMIT 1);

-- name: likely_vectors
SELECT document, vector FROM likely_vectors(:space, :key, :query, :wanted::integer, :looked_at::integer);

-- name: index_vectors
SELECT index_vectors();

-- name: what_hinders_vectors
SELECT what_hinders_vectors();

-- name: large_vector_sets
-- Those that are large, of a length that there could be an index for, and have none.
SELECT space, shelf, embedder, kept FROM vector_sets
WHERE space = :space AND kept >= :least
AND indexed_length(dimensions::integer) IS NOT NULL
AND to_regclass(format('vectors_near_%s', indexed_length(dimensions::integer))) IS NULL
ORDER BY shelf, embedder;
