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
