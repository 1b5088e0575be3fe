-- The queries of the ports that PostgreSQL has to be asked in its own way; all others are in adapters/sql/queries.
-- What one row leads to is looked up from it (`OFFSET 0` keeps the order of the joins): statistics may be out of date
-- where much was just written.

-- name: take_first_lease
-- Who is just writing to one of the sessions, or about to take it, is not waited for: the next is taken instead.
WITH free AS (
    SELECT s.key
    FROM json_array_elements_text((:sessions)::json) WITH ORDINALITY AS wanted (session, place)
    JOIN sessions AS s ON s.space = :space AND s.session = wanted.session
    LEFT JOIN leases AS l ON l.space = :space AND l.session = s.key AND l.work = :work
    WHERE (l.holder IS NULL OR l.holder IN ('', :holder) OR l.until <= :now OR l.until > :far)
        AND (l.retry_at IS NULL OR l.retry_at <= :now OR l.retry_at >= :tomorrow)
    ORDER BY wanted.place
    LIMIT 1
    FOR UPDATE OF s SKIP LOCKED
), numbered AS (
    UPDATE sessions AS s SET leased = s.leased + 1
    FROM free
    WHERE s.space = :space AND s.key = free.key
    RETURNING s.key, s.session, s.leased
), taken AS (
    INSERT INTO leases AS l (space, session, work, holder, token, until, failures, error, retry_at)
    SELECT :space, n.key, :work, :holder, n.leased, :until, 0, '', NULL FROM numbered AS n
    -- It may have been taken since this statement began.
    ON CONFLICT (space, session, work) DO UPDATE SET
        holder = excluded.holder, token = excluded.token, until = excluded.until, retry_at = NULL
    WHERE l.holder IN ('', :holder) OR l.until <= :now OR l.until > :far
    RETURNING l.token, l.failures, l.error
)
SELECT n.session, t.token, t.failures, t.error FROM numbered AS n JOIN taken AS t ON t.token = n.leased;

-- name: known_files
SELECT digest
FROM ledger
WHERE space = :space AND learner = :learner AND digest IN (SELECT listed(:digests));

-- name: find_head
SELECT m.id, m.position, m.turn, m.total_tokens
FROM (
    SELECT b.session, b.segment, b.position
    FROM branches AS b
    WHERE b.space = :space AND b.branch = :branch AND b.session = (
        SELECT s.key FROM sessions AS s WHERE s.space = :space AND s.session = :session
    )
    OFFSET 0
) AS b
JOIN messages AS m ON m.space = :space AND m.session = b.session AND m.segment = b.segment AND m.position = b.position;

-- name: read_payload
SELECT
    m.id, m.parent, m.role, m.origin, m.position, m.turn, m.tokens, m.thinking_tokens, m.total_tokens,
    m.at, m.source_id, m.joined, m.parts, m.erased, p.packed
FROM (SELECT * FROM messages WHERE space = :space AND session = :key AND id = :id OFFSET 0) AS m
LEFT JOIN payloads AS p
    ON p.space = :space AND p.session = :key AND p.segment = m.segment AND p.position = m.position;

-- name: add_memory
WITH numbered AS (
    INSERT INTO memory_numbers (space, given) VALUES (:space, 1)
    ON CONFLICT (space) DO UPDATE SET given = memory_numbers.given + 1
    RETURNING given
)
INSERT INTO memories (
    space, number, id, kind, key, state, archived, subject, task_type, at, recorded, unreflected, stale, cue,
    record, checksum
)
VALUES (
    :space,
    -- Never given again, so it is counted apart from what is there.
    (SELECT given FROM numbered), :id, :kind, :key, :state, :archived, :subject, :task_type, :at, :recorded,
    :unreflected, :stale, :cue, :record, :checksum
)
RETURNING number;

-- name: memories_citing
SELECT m.record
FROM (
    SELECT DISTINCT number
    FROM memory_sources
    WHERE space = :space AND source IN (SELECT listed(:sources))
) AS cited
JOIN memories AS m ON m.space = :space AND m.number = cited.number
ORDER BY m.recorded, m.id;

-- name: forget_all_words
-- Of one session: its documents' numbers all begin with its key, and lie between these two.
DELETE FROM message_words WHERE space = :space AND document BETWEEN :first AND :last;

-- name: list_runs
-- What has no time comes last.
SELECT record FROM runs WHERE space = :space ORDER BY ended DESC NULLS LAST, session LIMIT :limit;

-- name: delete_observations_of_run
DELETE FROM sightings WHERE space = :space AND session = :session;

-- count_in_... and find_in_... are made by the migrations ("CREATE FUNCTION find_in_%1$s").

-- name: count_messages_with
SELECT * FROM count_in_message_words(:space, :space_term, nullif(:limit, -1));

-- name: count_memories_with
SELECT * FROM count_in_memory_words(:space, :space_term, nullif(:limit, -1));

-- name: messages_with
SELECT * FROM find_in_message_words(:space, :space_term, nullif(:limit, -1));

-- name: memories_with
SELECT * FROM find_in_memory_words(:space, :space_term, nullif(:limit, -1));

-- name: message_of_document
-- By its place: what a number says of length and role besides is not always known to who asks.
SELECT
    d.session, d.document, m.id, m.parent, m.role, m.origin, m.position, m.turn, m.tokens, m.thinking_tokens,
    m.total_tokens, m.at, m.source_id, m.joined, m.parts, m.erased
FROM (
    SELECT s.session, d.session AS key, d.segment, d.position, d.document
    FROM documents AS d
    JOIN sessions AS s ON s.space = :space AND s.key = d.session
    WHERE d.space = :space AND d.session = :key AND d.document BETWEEN :first AND :last
    OFFSET 0
) AS d
JOIN messages AS m ON m.space = :space AND m.session = d.key AND m.segment = d.segment AND m.position = d.position;

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

-- name: count_message_documents
SELECT count(*) FROM documents WHERE space = :space AND document IS NOT NULL;

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

-- name: documents_without_words
SELECT s.session, count(*)
FROM sessions AS s
JOIN documents AS d ON d.space = s.space AND d.session = s.key AND d.document IS NOT NULL
WHERE s.space = :space
    AND NOT EXISTS (SELECT 1 FROM message_words AS w WHERE w.space = d.space AND w.document = d.document)
GROUP BY s.space, s.key, s.session;

-- name: words_of_no_document
SELECT s.session, count(*)
FROM sessions AS s
JOIN message_words AS w ON w.space = s.space AND w.document >= s.key << 31 AND w.document < (s.key + 1) << 31
WHERE s.space = :space AND NOT EXISTS (
    SELECT 1 FROM documents AS d WHERE d.space = s.space AND d.session = s.key AND d.document = w.document
)
GROUP BY s.space, s.key, s.session;

-- name: add_space
-- Of its name: a number that two share costs a look at what is of the other, which the space itself keeps out.
INSERT INTO spaces (space, number) VALUES (:space, ('x' || left(md5(:space), 6))::bit(24)::bigint) RETURNING number;

-- name: index_message
-- The terms begin with the number of their space.
INSERT INTO message_words (space, document, terms) VALUES (:space, :document, string_to_array(:space_terms, ' '));

-- name: forget_message_words
DELETE FROM message_words WHERE space = :space AND document = :document;

-- name: index_memory
INSERT INTO memory_words (space, document, terms) VALUES (:space, :document, string_to_array(:space_terms, ' '));

-- name: forget_memory_words
DELETE FROM memory_words WHERE space = :space AND document = :document;
