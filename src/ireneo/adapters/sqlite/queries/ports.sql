-- The queries of the ports that SQLite has to be asked in its own way; all others are in adapters/sql/queries.

-- name: known_files
SELECT value
FROM json_each(:digests)
WHERE EXISTS (SELECT 1 FROM ledger WHERE space = :space AND learner = :learner AND digest = value);

-- name: find_head
SELECT m.id, m.position, m.turn, m.total_tokens
FROM sessions AS s
JOIN branches AS b ON b.session = s.key AND b.branch = :branch
JOIN messages AS m ON m.session = b.session AND m.segment = b.segment AND m.position = b.position
WHERE s.space = :space AND s.session = :session;

-- name: read_payload
SELECT
    m.id, m.parent, m.role, m.origin, m.position, m.turn, m.tokens, m.thinking_tokens, m.total_tokens,
    m.at, m.source_id, m.joined, m.parts, m.erased, p.packed
FROM messages AS m
LEFT JOIN payloads AS p ON p.session = m.session AND p.segment = m.segment AND p.position = m.position
WHERE m.session = :key AND m.id = :id;

-- name: add_memory
INSERT INTO memories (
    space, id, kind, key, state, archived, subject, task_type, at, recorded, unreflected, stale, cue,
    record, checksum
)
VALUES (
    :space, :id, :kind, :key, :state, :archived, :subject, :task_type, :at, :recorded, :unreflected, :stale, :cue,
    :record, :checksum
)
RETURNING number;

-- name: memories_citing
SELECT m.record
FROM (
    SELECT DISTINCT s.number
    FROM json_each(:sources) AS asked
    CROSS JOIN memory_sources AS s ON s.space = :space AND s.source = asked.value
) AS cited
CROSS JOIN memories AS m ON m.number = cited.number
ORDER BY m.recorded, m.id;

-- name: forget_all_words
-- Of one session: its documents' numbers all begin with its key, and lie between these two.
DELETE FROM message_words WHERE rowid BETWEEN :first AND :last AND :key >= 0;

-- name: list_runs
-- SQLite takes what is NULL for less than anything, so it comes last here.
SELECT record FROM runs WHERE space = :space ORDER BY ended DESC, session LIMIT :limit;

-- name: delete_observations_of_run
-- Named, since SQLite, which knows nothing of how many there are, would read those of all runs.
DELETE FROM sightings INDEXED BY sightings_by_run WHERE space = :space AND session = :session;

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
    s.session, d.document, m.id, m.parent, m.role, m.origin, m.position, m.turn, m.tokens, m.thinking_tokens,
    m.total_tokens, m.at, m.source_id, m.joined, m.parts, m.erased
FROM sessions AS s
JOIN documents AS d ON d.session = s.key AND d.document BETWEEN :first AND :last
JOIN messages AS m ON m.session = d.session AND m.segment = d.segment AND m.position = d.position
WHERE s.key = :key AND s.space = :space;

-- name: documents_of_project
-- Of documents of memories those that may be of some projects (empty: of none); of which nothing was noted, of any.
SELECT json_group_array(asked.value)
FROM json_each(:documents) AS asked
WHERE NOT EXISTS (
    SELECT 1 FROM memory_projects AS p WHERE p.space = :space AND p.number = asked.value >> 7
) OR EXISTS (
    SELECT 1 FROM memory_projects AS p
    WHERE p.space = :space AND p.number = asked.value >> 7
      AND p.project IN (SELECT listed(:projects))
);

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

-- name: count_message_documents
SELECT count(*) FROM sessions JOIN documents ON documents.session = sessions.key
WHERE space = :space AND document IS NOT NULL;

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

-- name: documents_without_words
SELECT s.session, count(*)
FROM sessions AS s
JOIN documents AS d ON d.session = s.key AND d.document IS NOT NULL
WHERE s.space = :space AND NOT EXISTS (SELECT 1 FROM message_words_docsize AS w WHERE w.id = d.document)
GROUP BY s.key;

-- name: words_of_no_document
SELECT s.session, count(*)
FROM sessions AS s
JOIN message_words_docsize AS w ON w.id >= s.key << 31 AND w.id < (s.key + 1) << 31
WHERE s.space = :space AND NOT EXISTS (SELECT 1 FROM documents AS d WHERE d.session = s.key AND d.document = w.id)
GROUP BY s.key;

-- name: add_space
INSERT INTO spaces (space) VALUES (:space) RETURNING number;

-- name: index_message
-- The terms begin with the number of their space.
INSERT INTO message_words (rowid, terms) VALUES (:document, :space_terms);

-- name: forget_message_words
-- By the document's number, which begins with the session's :key.
DELETE FROM message_words WHERE rowid = :document;

-- name: index_memory
INSERT INTO memory_words (rowid, terms) VALUES (:document, :space_terms);

-- name: forget_memory_words
-- By the document's number, which was found by :space and id.
DELETE FROM memory_words WHERE rowid = :document;
