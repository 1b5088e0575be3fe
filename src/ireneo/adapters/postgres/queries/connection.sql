-- Opening a database, and the transactions in it.

-- name: begin_write
-- Each statement sees what was committed before it: what counts is guarded by the lock of its space.
BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;

-- name: begin_read
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;

-- name: heed_silence
-- A client that is gone without a word keeps the locks of its transaction until the server misses it.
SELECT set_config(name, value, false)
FROM (VALUES ('tcp_keepalives_idle', '10'), ('tcp_keepalives_interval', '5'), ('tcp_keepalives_count', '3'))
    AS heeded (name, value);

-- name: commit
COMMIT;

-- name: roll_back
ROLLBACK;

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

-- name: list_all_spaces
SELECT space FROM spaces
UNION SELECT space FROM sessions
UNION SELECT space FROM memories
UNION SELECT space FROM pads
UNION SELECT space FROM runs
UNION SELECT space FROM ledger
ORDER BY 1;
