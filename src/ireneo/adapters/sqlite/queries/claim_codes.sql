-- What names a claim, in all spaces: a migration gives them other names.

-- name: observations_to_rename
SELECT space, cue, at, session, category, project, held, broke, tokens, record, checksum FROM sightings;

-- name: rename_observation
UPDATE sightings SET cue = :cue, record = :record, checksum = :checksum
WHERE space = :space AND cue = :was AND at = :at AND session = :session;

-- name: lessons_to_rename
SELECT
    space, id, kind, key, state, archived, subject, task_type, at, recorded, unreflected, stale, cue, record, checksum
FROM memories
WHERE cue <> '';

-- name: rename_lesson
UPDATE memories SET cue = :cue, record = :record, checksum = :checksum WHERE space = :space AND id = :id;
