-- Opening a database, and the transactions in it.

-- name: begin_write
-- Each statement sees what was committed before it: what counts is guarded by the lock of its space.
BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;

-- name: begin_read
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;

-- name: commit
COMMIT;

-- name: roll_back
ROLLBACK;

-- name: lock_space
-- Until the end of the transaction, if nobody else has it.
SELECT pg_try_advisory_xact_lock(1232236143, hashtext(:space))::integer;

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
