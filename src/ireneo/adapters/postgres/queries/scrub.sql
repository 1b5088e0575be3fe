-- What an erasure leaves behind until the tables are cleaned: dead rows. A row each of `scrubs` says that it is due.

-- name: add_scrub
INSERT INTO scrubs (mark) VALUES (:mark);

-- name: list_scrubs
SELECT mark FROM scrubs;

-- name: delete_scrub
DELETE FROM scrubs WHERE mark = :mark;

-- name: overwrite_deleted
-- Nothing to set: what is deleted here is cleaned away behind the transaction.
SELECT 1;

-- name: vacuum
-- The tables in which something of a user's may stand: the server's own are not ours to clean.
VACUUM messages, payloads, summaries, annotations, documents, message_words, memory_words, memories, memory_sources,
    memory_projects, pads, vectors, runs, sightings, ledger, traps, branches, sessions, authors, spending;
