-- The vectors of documents. `:key` is that of a set, which is those of one space, shelf and embedder.

-- name: find_vector_set
SELECT key, dimensions, changes, kept, forgotten FROM vector_sets
WHERE space = :space AND shelf = :shelf AND embedder = :embedder;

-- name: make_vector_set
INSERT INTO vector_sets (space, {key,} shelf, embedder, dimensions)
VALUES (
    :space, {(SELECT coalesce(max(key), 0) + 1 FROM vector_sets WHERE space = :space),} :shelf, :embedder, :dimensions
)
RETURNING key;

-- name: measure_vector_set
UPDATE vector_sets SET dimensions = :dimensions WHERE {space = :space AND} key = :key;

-- name: vectors_since
SELECT document, vector FROM vectors WHERE {space = :space AND} vector_set = :key AND change > :change;

-- name: vectors_gone_since
SELECT document FROM vectors_gone WHERE {space = :space AND} vector_set = :key AND change > :change;

-- name: count_vectors_gone
SELECT count(*) FROM vectors_gone WHERE {space = :space AND} vector_set = :key;

-- name: forget_vectors_gone
DELETE FROM vectors_gone WHERE {space = :space AND} vector_set = :key;

-- name: forget_before
UPDATE vector_sets SET forgotten = changes WHERE {space = :space AND} key = :key;

-- name: count_memory_documents
SELECT count(*) FROM memories WHERE space = :space AND document IS NOT NULL;

-- name: list_embedders
SELECT DISTINCT embedder FROM vector_sets WHERE space = :space AND kept > 0 ORDER BY embedder;

-- name: list_sets_of_embedder
SELECT key, kept FROM vector_sets WHERE space = :space AND embedder = :embedder;

-- name: drop_vectors
DELETE FROM vectors WHERE {space = :space AND} vector_set = :key;
