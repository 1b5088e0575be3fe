-- The queries on the database itself: opening it, the transactions in it, and its upkeep.

-- name: rows_of_messages
SELECT
    row_number() OVER (ORDER BY session, segment, position),
    bytes_of(session), bytes_of(segment), bytes_of(position), bytes_of(id), bytes_of(parent), bytes_of(role),
    bytes_of(origin), bytes_of(turn), bytes_of(tokens), bytes_of(thinking_tokens),
    bytes_of(total_tokens), bytes_of(at), bytes_of(source_id), bytes_of(joined), bytes_of(parts),
    bytes_of(erased), checksum
FROM messages
WHERE space = :space
ORDER BY session, segment, position
LIMIT :limit OFFSET :after;

-- name: begin_write
-- Each statement sees what was committed before it: what counts is guarded by the lock of its space.
BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;

-- name: heed_silence
-- A client that is gone without a word keeps the locks of its transaction until the server misses it.
SELECT set_config(name, value, false)
FROM (VALUES ('tcp_keepalives_idle', '10'), ('tcp_keepalives_interval', '5'), ('tcp_keepalives_count', '3'))
    AS heeded (name, value);

-- name: lock_space
-- Until the end of the transaction, if nobody else has it: then the transaction's name, to ask for what became of it.
-- The server's timeline belongs to that, since another that takes its place gives the numbers behind it anew.
SELECT CASE WHEN pg_try_advisory_xact_lock(1232236143, hashtext(:space))
    THEN left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) || ' ' || pg_current_xact_id() END;

-- name: find_outcome
SELECT CASE WHEN left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) = :timeline
    THEN pg_xact_status((:name)::text::xid8) END;

-- name: end_transaction
-- The connection that it was begun on is lost, and the server may not have heard of that.
SELECT pg_terminate_backend(pid)
FROM pg_stat_activity
WHERE backend_xid::text::bigint = (:name)::text::bigint % 4294967296;

-- name: tell_of_work
SELECT pg_notify('ireneo_' || to_hex(hashtext(:space)), '');

-- name: channel_of_work
SELECT 'ireneo_' || to_hex(hashtext(:space));

-- name: name_space
-- For the policies of the tables, where they bind this role.
SELECT set_config('ireneo.space', :space, true);

-- name: overwrite_deleted
-- Nothing to set: what is deleted here is cleaned away behind the transaction.
SELECT 1;

-- name: vacuum
-- The tables in which something of a user's may stand: the server's own are not ours to clean.
VACUUM messages, payloads, summaries, annotations, documents, message_words, memory_words, memories, memory_sources,
    memory_projects, pads, vectors, runs, sightings, ledger, traps, branches, sessions, authors, spending;
