-- The columns of each row that has a checksum, as bytes, so that text that can't be decoded is reported as well.
-- Each query selects the columns that the checksum covers, in their order, then the checksum.

-- name: rows_of_payloads
SELECT bytes_of(session), bytes_of(position), packed FROM payloads {WHERE space = :space};

-- name: rows_of_branches
SELECT
    bytes_of(session), bytes_of(branch), bytes_of(segment), bytes_of(position), checksum
FROM branches
{WHERE space = :space};

-- name: rows_of_summaries
SELECT
    bytes_of(session), bytes_of(id), bytes_of(family), bytes_of(segment), bytes_of(first_position),
    bytes_of(last_position), bytes_of(depth), bytes_of(record), checksum
FROM summaries
{WHERE space = :space};

-- name: rows_of_annotations
SELECT
    bytes_of(session), bytes_of(id), bytes_of(segment), bytes_of(at_position), bytes_of(record),
    checksum
FROM annotations
{WHERE space = :space};

-- name: rows_of_memories
SELECT
    bytes_of(space), bytes_of(id), bytes_of(kind), bytes_of(key), bytes_of(state),
    bytes_of(archived), bytes_of(subject), bytes_of(task_type), bytes_of(at), bytes_of(recorded),
    bytes_of(unreflected), bytes_of(stale), bytes_of(cue), bytes_of(record), checksum
FROM memories
{WHERE space = :space};

-- name: rows_of_pads
SELECT bytes_of(space), bytes_of(task), bytes_of(written), bytes_of(record), checksum FROM pads {WHERE space = :space};

-- name: rows_of_runs
SELECT
    bytes_of(space), bytes_of(session), bytes_of(head), bytes_of(ended), bytes_of(record), checksum
FROM runs
{WHERE space = :space};

-- name: rows_of_sightings
SELECT
    bytes_of(space), bytes_of(session), bytes_of(cue), bytes_of(at), bytes_of(category),
    bytes_of(project), bytes_of(held), bytes_of(broke), bytes_of(tokens), bytes_of(record), checksum
FROM sightings
{WHERE space = :space};

-- name: rows_of_vectors
SELECT bytes_of({sqlite: number}{document}), bytes_of(vector_set), bytes_of(document), vector, checksum
FROM vectors {WHERE space = :space};

-- name: name_of_session
SELECT bytes_of(space), bytes_of(session) FROM sessions WHERE {space = :space AND} key = :key;

-- name: drop_vector
DELETE FROM vectors WHERE {space = :space AND} vector_set = :key AND document = :document;
