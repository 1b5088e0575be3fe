-- What may be wrong with the index of words of a space: whether it fits what is stored.

-- name: messages_without_document
SELECT s.session, count(*)
FROM sessions AS s
JOIN messages AS m ON {m.space = s.space AND} m.session = s.key
LEFT JOIN documents AS d ON {d.space = m.space AND} d.session = m.session AND d.segment = m.segment
    AND d.position = m.position
WHERE s.space = :space AND (d.session IS NULL OR d.terms < 0)
GROUP BY {s.space,} s.key{, s.session};

-- name: documents_of_nothing
SELECT s.session, count(*)
FROM sessions AS s
JOIN documents AS d ON {d.space = s.space AND} d.session = s.key
LEFT JOIN messages AS m ON {m.space = d.space AND} m.session = d.session AND m.segment = d.segment
    AND m.position = d.position
WHERE s.space = :space AND m.session IS NULL
GROUP BY {s.space,} s.key{, s.session};

-- name: memories_without_words
SELECT id, 1
FROM memories
WHERE space = :space AND document IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM {sqlite: memory_words_docsize}{memory_words} AS w
  WHERE w.{sqlite: id}{space = memories.space AND w.document} = memories.document);

-- name: wrong_counts_of_messages
SELECT w.counted, w.there
FROM (
    SELECT p.messages || ' messages with ' || p.message_terms AS counted, (
        SELECT count(d.document) || ' messages with ' || coalesce(sum(d.terms), 0){::bigint}
        FROM sessions AS s JOIN documents AS d ON {d.space = s.space AND} d.session = s.key
        WHERE s.space = :space
    ) AS there
    FROM spaces AS p
    WHERE p.space = :space
) AS w
WHERE w.counted <> w.there;

-- name: wrong_counts_of_memories
SELECT w.counted, w.there
FROM (
    SELECT p.memories || ' memories with ' || p.memory_terms AS counted, (
        SELECT count(document) || ' memories with ' || coalesce(sum(terms), 0){::bigint} FROM memories
            WHERE space = :space
    ) AS there
    FROM spaces AS p
    WHERE p.space = :space
) AS w
WHERE w.counted <> w.there;
