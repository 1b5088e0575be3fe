-- Opening a file, and the transactions in it.

-- name: begin_read
BEGIN {ISOLATION LEVEL REPEATABLE READ READ ONLY};

-- name: commit
COMMIT;

-- name: roll_back
ROLLBACK;

-- name: list_all_spaces
SELECT space FROM spaces
UNION SELECT space FROM sessions
UNION SELECT space FROM memories
UNION SELECT space FROM pads
UNION SELECT space FROM runs
UNION SELECT space FROM ledger
ORDER BY 1;
